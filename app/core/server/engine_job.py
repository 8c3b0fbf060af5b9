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
from engine.requests import OnEvent

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

    def run(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> SessionReply | EngineReady | EngineError | ApiError | None:
        """Run the request. Returns the value, the loaded models or the error; None after an answer, sent as events."""
        if should_stop():
            return None
        before = session.ready().target if session.is_loaded else None
        if self.load is None and self.target and (before is None or before.path != self.target):
            return model_changed_error()
        on_event(RequestBegan(1 if before is None else before.parallel))
        try:
            if self.load is not None and (before is None or before.path != self.load.target):
                session.unload()  # first: both may not fit in memory
                session.is_load_cancelled = should_stop
                on_event(session.load(self.load, lambda _path, _fraction: not should_stop()))
            return self._run_loaded(session, should_stop, on_event, between_steps)
        except (EngineError, ApiError) as error:
            return error

    def _run_loaded(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> SessionReply | EngineReady | ApiError | None:
        ready = session.ready() if self.call is None or self.target else None
        if ready is not None and self.target not in ("", ready.target.path):
            return model_changed_error()
        if self.call is not None:
            return SessionReply(self.call(session, should_stop))
        if self.request is None:
            return ready
        checked, num_tokens = _checked(session, self.request)
        on_event(PrefillProgress(0, 0, num_tokens))  # starts the stream: processing the prompt may take minutes
        for event in session.generate(checked, should_stop):
            if isinstance(event, TextChunk | Finished):
                on_event(event)
            between_steps()
        return None


def _checked(session: Session, request: ChatRequest) -> tuple[ChatRequest, int]:
    """Check a request; returns it with its number of prompt tokens.

    A prompt that is too long is refused. The engine would omit early messages, and only the window can show that.

    Raises:
        EngineError: the prompt is too long, or the chat template fails.
    """
    n_ctx = session.ready().target.n_ctx
    capacity = n_ctx - MIN_ANSWER_TOKENS
    while (num_tokens := len(session.prompt_ids(request))) > capacity and request.files:
        request = replace(request, files=request.files[1:])  # the files nearest to the infill position stay
    if num_tokens > capacity:
        message = f"The prompt has {num_tokens:,} tokens, but the context holds {n_ctx:,}."
        raise PromptTooLongError(message, "Shorten it, or have the model loaded with a larger context.")
    # Identify the conversation by its beginning; the engine caches by this number.
    first = [message.content for message in request.messages[:2]]
    begun = (request.raw_prompt or "")[:BEGINNING_CHARS], request.raw_ids[:BEGINNING_CHARS], *first
    return replace(request, conversation_id=-1 - (hash(begun) & 0x7FFFFFFF)), num_tokens


@dataclass(frozen=True, slots=True)
class CallJob:
    """Implements `engine.requests.Job`: calls a function of the session."""

    call: Callable[[Session], object]

    def run(self, session: Session, *_: object) -> object:
        return self.call(session)


def drop_caches(session: Session) -> None:
    """Delete the caches of the server's requests."""
    session.states.forget_external()


def unload(session: Session, _should_stop: object = None) -> bool:
    """Unload the models; True if any were loaded."""
    close_embedders()
    is_loaded = session.is_loaded
    if is_loaded:
        session.unload()
    return is_loaded
