"""One turn of a request of the server on the engine's thread, which may be another process's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.core.server.errors import ApiError, model_changed_error
from engine.errors import EngineError, PromptTooLongError
from engine.process.embedder import close_embedders
from engine.records import (
    LEAST_ROOM,
    ChatRequest,
    EngineReady,
    Finished,
    JobEvent,
    LoadRequest,
    PrefillProgress,
    TextChunk,
)
from engine.requests import OnEvent, PassTraced

if TYPE_CHECKING:  # NumPy is for the engine's thread
    from engine.session.session import Session

BEGINNING_CHARS = 200  # that tell the conversations of text completions apart

# Is given what says whether to give up. Can be pickled, unless it is known that the engine is of the same process.
Ask = Callable[["Session", Callable[[], bool]], object]


@dataclass(frozen=True, slots=True)
class Told:
    """What the session said, where it was only asked something."""

    value: object


@dataclass(frozen=True, slots=True)
class TurnBegan(JobEvent):
    """The engine has started the request; the loaded model answers up to this number at once."""

    parallel: int = 1


@dataclass(frozen=True, slots=True)
class NotLoaded:
    """The turn did not begin: the model of its request is not the one that is loaded, and it was not to load it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Implements `engine.requests.Job`: an answer, a question to the session, or a load.

    ``target`` is the file of the model that the request was checked for; empty where that is of no account. Without a
    request and without ``ask`` the model is loaded only. ``load`` is what has to be loaded for it, where it is not;
    None: a request for another model than the one that is loaded does not begin. `EngineReady` is told of what was
    loaded.
    """

    request: ChatRequest | None
    target: str = ""
    ask: Ask | None = None
    load: LoadRequest | None = None
    is_traced: bool = False

    def run(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> Told | EngineReady | EngineError | ApiError | NotLoaded | None:
        """Run the request; return the result, what is loaded, or the error. None: the events contain everything."""
        if should_stop():
            return None
        before = session.ready().target if session.is_loaded else None
        if self.load is None and self.target and (before is None or before.path != self.target):
            return NotLoaded()
        on_event(TurnBegan(1 if before is None else before.parallel))
        try:
            return self._made(session, should_stop, on_event, between_steps)
        except (EngineError, ApiError) as error:
            return error

    def _made(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> Told | EngineReady | ApiError | None:
        if self.load is not None:
            self._load(session, self.load, should_stop, on_event)
        needs_model = self.ask is None or bool(self.target)
        ready = session.ready() if needs_model else None
        if ready is not None and self.target not in ("", ready.target.path):
            return model_changed_error()
        if self.ask is not None:
            return Told(self.ask(session, should_stop))
        if self.request is None:
            return ready
        checked, num_tokens = self._checked(session, self.request)
        on_event(PrefillProgress(0, 0, num_tokens))  # a stream begins with it: to read them may take minutes
        self._answer(session, checked, should_stop, on_event, between_steps)
        return None

    def _load(self, session: Session, request: LoadRequest, should_stop: Callable[[], bool], on_event: OnEvent) -> None:
        """Have models loaded, if they are not.

        Raises:
            EngineError: they cannot be; then none are.
        """
        if session.is_loaded and session.ready().target.path == request.target:
            return
        session.unload()  # both might not fit
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
        """Give the request with the number of its prompt's tokens.

        What is too long is refused: the engine would leave questions without an answer out, which the window shows.

        Raises:
            EngineError: it is too long, or the messages give no prompt.
        """
        n_ctx = session.ready().target.n_ctx
        room = n_ctx - LEAST_ROOM
        while (num_tokens := len(session.prompt_ids(request))) > room and request.files:
            request = replace(request, files=request.files[1:])  # the nearest to the gap stay
        if num_tokens > room:
            message = f"The prompt has {num_tokens:,} tokens, but the context holds {n_ctx:,}."
            raise PromptTooLongError(message, "Shorten it, or have the model loaded with a larger context.")
        return replace(request, conversation_id=_guest(request)), num_tokens


def unload(session: Session, _should_stop: object) -> None:
    """Free what is loaded: an `Ask` that has the engine to itself."""
    session.unload()


class ForgetGuests:
    """Implements `engine.requests.Job`: lose the kept caches of requests."""

    def run(self, session: Session, *_: object) -> None:
        """Lose them."""
        session.states.forget_guests()


class Unload:
    """Implements `engine.requests.Job`: free the models; True where there were any."""

    def run(self, session: Session, *_: object) -> bool:
        """Free them."""
        close_embedders()
        is_loaded = session.is_loaded
        if is_loaded:
            session.unload()
        return is_loaded


def _guest(request: ChatRequest) -> int:
    """A number for the conversation of a request, by its beginning: its cache is kept while others are answered."""
    first = [message.content for message in request.messages[:2]]
    begun = (request.raw_prompt or "")[:BEGINNING_CHARS], request.raw_ids[:BEGINNING_CHARS], *first
    return -1 - (hash(begun) & 0x7FFFFFFF)
