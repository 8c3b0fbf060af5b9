"""The session of the other process, as a function of this one has it lent: a turn of the local server.

Turns run on a thread of their own, one after the other; each call waits for its reply.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from engine.errors import EngineError
from engine.process.messages import (
    EndTurn,
    GenerateCall,
    Interrupted,
    Lend,
    SessionCall,
    SessionReply,
    TurnBegan,
    TurnEvent,
    TurnFailed,
    TurnReport,
    TurnTraced,
)
from engine.records import ChatRequest, EngineReady, Event, LoadRequest, Problem
from engine.session.worker import UNEXPECTED

if TYPE_CHECKING:  # NumPy is for the engine's process
    from engine.pacing.pass_trace import OnTrace

log = logging.getLogger(__name__)

Send = Callable[[object], None]
OnTurn = Callable[["LentSession", Callable[[], None]], None]
OnFailure = Callable[[], None]


class LentSession:
    """What of `engine.session.session.Session` can be used from another process, for one turn."""

    def __init__(self, turn: int, send: Send) -> None:
        self._turn, self._send = turn, send
        self._replies: queue.SimpleQueue[SessionReply | TurnEvent | TurnTraced] = queue.SimpleQueue()
        self._failure: EngineError | None = None  # the engine is gone
        self.on_trace: OnTrace | None = None
        self.is_load_cancelled: Callable[[], bool] = lambda: False  # a load ends with the interrupt
        self.interrupt = LentInterrupt(turn, send)
        self.states = LentStates(self._call)
        self.prompts = LentPrompts(self._call)

    def take(self, report: SessionReply | TurnEvent | TurnTraced) -> None:
        """Take what the session says, on any thread."""
        self._replies.put(report)

    def fail(self, problem: Problem) -> None:
        """The engine is gone: whoever waits for it hears so, now and later."""
        self._failure = EngineError(problem.message, problem.advice)
        self._replies.put(SessionReply(self._turn, error=self._failure))

    def ready(self) -> EngineReady:
        """See `Session.ready`."""
        return cast("EngineReady", self._call("ready"))

    @property
    def is_loaded(self) -> bool:
        """See `Session.is_loaded`."""
        try:
            self.ready()
        except EngineError:
            self._check()
            return False
        return True

    def unload(self) -> None:
        """See `Session.unload`."""
        self._call("unload")

    def load(self, request: LoadRequest, _progress: object = None) -> EngineReady:
        """See `Session.load`; progress is not told, and `interrupt` ends it."""
        return cast("EngineReady", self._call("load", request))

    def prompt_ids(self, request: ChatRequest) -> list[int]:
        """See `Session.prompt_ids`."""
        return cast("list[int]", self._call("prompt_ids", request))

    def generate(self, request: ChatRequest, should_stop: Callable[[], bool]) -> Iterator[Event]:
        """See `Session.generate`."""
        self._check()
        self._send(GenerateCall(self._turn, request, self.on_trace is not None))
        is_over = has_stopped = False
        try:
            while not isinstance(report := self._replies.get(), SessionReply):
                if should_stop() and not has_stopped:
                    has_stopped = True
                    self.interrupt.set()
                if isinstance(report, TurnEvent):
                    yield report.event
                elif self.on_trace is not None:
                    self.on_trace(report.traced)
            is_over = True
            _value_of(report)
        finally:
            if not is_over:  # nobody wants the rest
                self.interrupt.set()
                self._reply()

    def _call(self, name: str, *arguments: object) -> object:
        self._check()
        self._send(SessionCall(self._turn, name, arguments))
        return _value_of(self._reply())

    def _reply(self) -> SessionReply:
        """Wait for it; what comes before it is of no account any more."""
        while not isinstance(report := self._replies.get(), SessionReply):
            pass
        return report

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure


def _value_of(reply: SessionReply) -> object:
    if reply.error is not None:
        raise reply.error
    return reply.value


class LentInterrupt:
    """Ends the answer of the turn, as `engine.llama.interrupt.Interrupt` does for one that is stopped."""

    def __init__(self, turn: int, send: Send) -> None:
        self._turn, self._send = turn, send

    def set(self) -> None:
        """End it, in the middle of a pass."""
        self._send(Interrupted(self._turn))

    def clear(self) -> None:
        """Let the next one go on."""
        self._send(Interrupted(self._turn, is_over=True))


class LentStates:
    """The kept caches, as far as a guest has a say."""

    def __init__(self, call: Callable[[str], object]) -> None:
        self._call = call

    def forget_guests(self) -> None:
        """See `engine.cache.states.StateCache.forget_guests`."""
        self._call("states.forget_guests")


class LentPrompts:
    """What makes prompts, as far as a guest may ask; see `engine.prompt.chat_prompt.PromptBuilder`."""

    def __init__(self, call: Callable[..., object]) -> None:
        self._call = call

    def text_of(self, request: ChatRequest) -> str:
        """The prompt of a chat as text."""
        return cast("str", self._call("prompts.text_of", request))

    def tokens_of(self, text: str, special: bool, add_bos: bool) -> list[int]:
        """Ids of a text."""
        return cast("list[int]", self._call("prompts.tokens_of", text, special, add_bos))

    def bytes_of(self, ids: Sequence[int]) -> list[bytes]:
        """The bytes of each token."""
        return cast("list[bytes]", self._call("prompts.bytes_of", ids))


@dataclass(frozen=True, slots=True)
class _Begun:
    """A turn that has its session."""

    number: int
    session: LentSession
    on_turn: OnTurn
    on_failure: OnFailure


class LentTurns:
    """Turns that were asked for, each until it has ended or the engine is gone. May be used from any thread."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._num_turns = 0
        self._asked: dict[int, tuple[OnTurn, OnFailure]] = {}
        self._sessions: dict[int, LentSession] = {}  # of those that have begun
        self._begun: queue.SimpleQueue[_Begun | None] = queue.SimpleQueue()  # None: no more come
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def ask(self, on_turn: OnTurn, on_failure: OnFailure, *, in_background: bool) -> None:
        """Ask for the session; ``on_failure`` where it cannot be had, or ``on_turn`` raises. Nothing once it closed."""
        with self._lock:
            if self._is_closed:
                return
            self._num_turns += 1
            number = self._num_turns
            self._asked[number] = on_turn, on_failure
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="engine-turns", daemon=True)
                self._thread.start()
        self._send(Lend(number, in_background))

    def take(self, report: TurnReport) -> None:
        """Take what the other process says of a turn."""
        if isinstance(report, TurnBegan | TurnFailed):
            with self._lock:
                asked = self._asked.pop(report.turn, None)
                if asked is not None and isinstance(report, TurnBegan):
                    session = self._sessions[report.turn] = LentSession(report.turn, self._send)
                    self._begun.put(_Begun(report.turn, session, *asked))
                begun = self._sessions.get(report.turn)
            if isinstance(report, TurnFailed) and begun is not None:
                begun.fail(UNEXPECTED)
            elif asked is None:  # it has failed with another process
                self._send(EndTurn(report.turn))
            elif isinstance(report, TurnFailed):
                asked[1]()
            return
        with self._lock:
            lent = self._sessions.get(report.turn)
        if lent is not None:
            lent.take(report)

    def fail_all(self, problem: Problem) -> None:
        """The engine is gone: whatever waits for it hears so."""
        with self._lock:
            asked, self._asked = self._asked, {}
            sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            session.fail(problem)
        for _on_turn, on_failure in asked.values():
            on_failure()

    def close(self, timeout_s: float) -> bool:
        """Take no more; False if those that have begun do not end within ``timeout_s`` seconds."""
        with self._lock:
            self._is_closed = True
            thread = self._thread
        if thread is None:
            return True
        self._begun.put(None)
        thread.join(timeout_s)
        return not thread.is_alive()

    def _run(self) -> None:
        while (begun := self._begun.get()) is not None:
            try:
                begun.on_turn(
                    begun.session, lambda: None
                )  # the other process does between two steps what is to be done
            except EngineError as error:
                log.warning("a turn with the engine failed: %s", error.message)
                begun.on_failure()
            except Exception:  # the thread must outlive every surprise
                log.exception("unexpected error in a turn with the engine")
                begun.on_failure()
            with self._lock:
                self._sessions.pop(begun.number, None)
            self._send(EndTurn(begun.number))
