"""Jobs for requests of the server; they run on the engine's thread, which may be in another process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.core.server.errors import ApiError, model_changed_error
from engine.errors import EngineError, PromptTooLongError
from engine.process.embedder import close_embedders
from engine.records import (
    MIN_ANSWER_TOKENS,
    ChatRequest,
    EngineReady,
    Finished,
    JobEvent,
    LoadRequest,
    PrefillProgress,
    TextChunk,
)
from engine.requests import OnEvent, PassTraced

if TYPE_CHECKING:  # would import NumPy in the server's process
    from engine.session.session import Session

BEGINNING_CHARS = 200  # prefix of a text completion that identifies its conversation

# A function of the session and a check for cancellation. Must be picklable unless the engine is in this process.
SessionCall = Callable[["Session", Callable[[], bool]], object]


@dataclass(frozen=True, slots=True)
class SessionReply:
    """The value that a `SessionCall` returned."""

    value: object


@dataclass(frozen=True, slots=True)
class RequestBegan(JobEvent):
    """The engine has started the request. ``parallel``: how many requests the loaded model can run at once."""

    parallel: int = 1


@dataclass(frozen=True, slots=True)
class NotLoaded:
    """The request was not started: its model is not loaded, and it has no load request."""


@dataclass(frozen=True, slots=True)
class EngineJob:
    """Implements `engine.requests.Job`: an answer, a `SessionCall`, or a load.

    ``target``: the file of the model that the request was validated for; empty: any model. Without ``request`` and
    ``call`` the model is only loaded. ``load``: the load request for the model; None: the job does not start if the
    model is not loaded. `EngineReady` reports loaded models.
    """

    request: ChatRequest | None
    target: str = ""
    call: SessionCall | None = None
    load: LoadRequest | None = None
    is_traced: bool = False

    def run(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> SessionReply | EngineReady | EngineError | ApiError | NotLoaded | None:
        """Run the request. Returns the value, the loaded models or the error; None after an answer, sent as events."""
        if should_stop():
            return None
        before = session.ready().target if session.is_loaded else None
        if self.load is None and self.target and (before is None or before.path != self.target):
            return NotLoaded()
        on_event(RequestBegan(1 if before is None else before.parallel))
        try:
            return self._run_request(session, should_stop, on_event, between_steps)
        except (EngineError, ApiError) as error:
            return error

    def _run_request(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> SessionReply | EngineReady | ApiError | None:
        if self.load is not None:
            self._load(session, self.load, should_stop, on_event)
        needs_model = self.call is None or bool(self.target)
        ready = session.ready() if needs_model else None
        if ready is not None and self.target not in ("", ready.target.path):
            return model_changed_error()
        if self.call is not None:
            return SessionReply(self.call(session, should_stop))
        if self.request is None:
            return ready
        checked, num_tokens = self._checked(session, self.request)
        on_event(PrefillProgress(0, 0, num_tokens))  # starts the stream: processing the prompt may take minutes
        self._answer(session, checked, should_stop, on_event, between_steps)
        return None

    def _load(self, session: Session, request: LoadRequest, should_stop: Callable[[], bool], on_event: OnEvent) -> None:
        """Load the models unless they are loaded.

        Raises:
            EngineError: loading failed; then no model is loaded.
        """
        if session.is_loaded and session.ready().target.path == request.target:
            return
        session.unload()  # first: both may not fit in memory
        session.is_load_cancelled = should_stop
        on_event(session.load(request, lambda _path, _fraction: not should_stop()))

    def _answer(
        self,
        session: Session,
        request: ChatRequest,
        should_stop: Callable[[], bool],
        on_event: OnEvent,
        between_steps: Callable[[], None],
    ) -> None:
        if self.is_traced:
            session.on_trace = lambda traced: on_event(PassTraced(traced))
        try:
            for event in session.generate(request, should_stop):
                if isinstance(event, TextChunk | Finished):
                    on_event(event)
                between_steps()
        finally:
            session.on_trace = None

    def _checked(self, session: Session, request: ChatRequest) -> tuple[ChatRequest, int]:
        """Check a request; returns it with its number of prompt tokens.

        A prompt that is too long is refused. The engine would omit early messages, and only the window can show that.

        Raises:
            EngineError: the prompt is too long, or the chat template fails.
        """
        n_ctx = session.ready().target.n_ctx
        room = n_ctx - MIN_ANSWER_TOKENS
        while (num_tokens := len(session.prompt_ids(request))) > room and request.files:
            request = replace(request, files=request.files[1:])  # the files nearest to the infill position stay
        if num_tokens > room:
            message = f"The prompt has {num_tokens:,} tokens, but the context holds {n_ctx:,}."
            raise PromptTooLongError(message, "Shorten it, or have the model loaded with a larger context.")
        return replace(request, conversation_id=_conversation_number(request)), num_tokens


def unload(session: Session, _should_stop: object) -> None:
    """A `SessionCall` that unloads the models; the scheduler runs it alone."""
    session.unload()


class DropCaches:
    """Implements `engine.requests.Job`: deletes the caches of the server's requests."""

    def run(self, session: Session, *_: object) -> None:
        session.states.forget_guests()


class Unload:
    """Implements `engine.requests.Job`: unloads the models; the result is True if any were loaded."""

    def run(self, session: Session, *_: object) -> bool:
        close_embedders()
        is_loaded = session.is_loaded
        if is_loaded:
            session.unload()
        return is_loaded


def _conversation_number(request: ChatRequest) -> int:
    """A number that identifies a request's conversation by its beginning; the engine caches by this number."""
    first = [message.content for message in request.messages[:2]]
    begun = (request.raw_prompt or "")[:BEGINNING_CHARS], request.raw_ids[:BEGINNING_CHARS], *first
    return -1 - (hash(begun) & 0x7FFFFFFF)
