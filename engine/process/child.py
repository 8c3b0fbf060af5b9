"""The engine's own process: an `EngineWorker`, whose commands come by one pipe and whose events leave by another.

It begins with a `Setup`, and ends when it is told to, or at once when the other side is gone.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, cast

from engine.errors import EngineError
from engine.process.channel import SWITCH_S, BatchingSender, read_packed
from engine.process.messages import (
    SHUTDOWN,
    Command,
    EndTurn,
    GenerateCall,
    Interrupted,
    JobEnded,
    Lend,
    Logged,
    SessionCall,
    SessionReply,
    TurnBegan,
    TurnEvent,
    TurnFailed,
    TurnMessage,
    TurnTraced,
)
from engine.records import Problem
from engine.sandbox.limits import quiet_crashes
from engine.session.worker import UNEXPECTED, EngineWorker, FunctionJob, Job, OnEvent

if TYPE_CHECKING:
    from engine.records import LoadRequest
    from engine.session.session import Session

log = logging.getLogger(__name__)

REST_S = 0.05  # between two looks for texts to count, in a turn that asks nothing


def main() -> int:
    """Be the engine until the end."""
    commands, events = _own_pipes()
    quiet_crashes()
    faulthandler.enable(2)
    # Ctrl+C in a terminal reaches both processes; the other one decides, and this one ends with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.setswitchinterval(SWITCH_S)
    try:
        setup = pickle.loads(read_packed(commands))  # noqa: S301  (of this very program)
    except EOFError:
        return 1

    def write(data: bytes) -> None:
        events.write(data)
        events.flush()

    sender = BatchingSender(write)
    logging.basicConfig(level=setup.log_level, handlers=[_SendingHandler(sender, setup.formatter)])
    worker = EngineWorker(sender.post, setup.make_session)
    worker.start()
    ended = _Child(worker, sender).serve(commands)
    sender.flush()
    return 0 if ended else 1


def _own_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Take standard input and output for ourselves; what libraries print goes to standard error."""
    commands, events = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return open(commands, "rb"), open(events, "wb")  # noqa: PTH123  (until the end)


class _SendingHandler(logging.Handler):
    """Has what is logged here written by the other process."""

    def __init__(self, sender: BatchingSender, formatter: logging.Formatter) -> None:
        super().__init__()
        self._sender, self._formatter = sender, formatter

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record, with its exception as text."""
        try:
            message = record.getMessage()
            if record.exc_info:
                message += "\n" + self._formatter.formatException(record.exc_info)
            self._sender.post(Logged(record.name, record.levelno, message, record.threadName or ""))
        except Exception:  # noqa: BLE001 (as in every handler: a line must not end what it tells of)
            self.handleError(record)


class _Child:
    """Gives the worker what comes."""

    def __init__(self, worker: EngineWorker, sender: BatchingSender) -> None:
        self._worker, self._sender = worker, sender
        self._turn: _LentTurn | None = None  # the one that has begun
        self._is_ending = False
        self._lock = threading.Lock()

    def serve(self, commands: IO[bytes]) -> bool:
        """Do what comes until the end; whether the worker ended well."""
        while True:
            try:
                data = read_packed(commands)
            except (EOFError, OSError):
                os._exit(1)  # nobody is there to hear of anything; a model may be in the middle of a pass
            try:
                message = pickle.loads(data)  # noqa: S301  (of this very program)
                if isinstance(message, Command) and message.name == SHUTDOWN:
                    self._end_turn()
                    return self._worker.shutdown(*message.arguments)  # type: ignore[arg-type]
                self._take(message)
            except Exception:  # this process must outlive every surprise
                log.exception("a command to the engine failed")

    def _take(self, message: Command | Lend | TurnMessage) -> None:
        if isinstance(message, Lend):
            lent, failed = _LentTurn(message.turn, self._sender.post), TurnFailed(message.turn)
            job = FunctionJob(
                lambda session, between_steps: self._serve_turn(lent, session, between_steps),
                lambda: self._sender.post(failed),
            )
            self._worker.run_job(job, in_background=message.in_background)
        elif isinstance(message, Command) and message.name == "run_job":
            number, given, in_background = cast("tuple[int, Job, bool]", message.arguments)
            self._worker.run_job(_NumberedJob(number, given, self._sender.post), in_background=in_background)
        elif isinstance(message, Command):
            getattr(self._worker, message.name)(*message.arguments)
        else:
            with self._lock:
                turn = self._turn
            if turn is not None and turn.number == message.turn:
                turn.take(message)

    def _serve_turn(self, turn: _LentTurn, session: Session, between_steps: Callable[[], None]) -> None:
        with self._lock:
            self._turn = turn
            if self._is_ending:
                turn.take(EndTurn(turn.number))
        try:
            turn.serve(session, between_steps)
        finally:
            with self._lock:
                self._turn = None

    def _end_turn(self) -> None:
        with self._lock:
            self._is_ending = True
            turn = self._turn
        if turn is not None:
            turn.take(Interrupted(turn.number))
            turn.take(EndTurn(turn.number))


class _NumberedJob:
    """A job whose end is told."""

    def __init__(self, number: int, job: Job, post: Callable[[object], None]) -> None:
        self._number, self._job, self._post = number, job, post

    def run(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> None:
        """See `Job.run`."""
        self._job.run(session, should_stop, on_event, between_steps)
        self._post(JobEnded(self._number))

    def failed(self, problem: Problem) -> None:
        """See `Job.failed`; what it gives is told here, in front of the end of the job."""
        if (event := self._job.failed(problem)) is not None:
            self._post(event)
        self._post(JobEnded(self._number))


class _LentTurn:
    """The session in the hands of the other process, for as long as a turn takes."""

    def __init__(self, number: int, post: Callable[[object], None]) -> None:
        self.number = number
        self._post = post
        self._calls: queue.SimpleQueue[SessionCall | GenerateCall | EndTurn] = queue.SimpleQueue()
        self._is_stopped = threading.Event()
        self._session: Session | None = None

    def take(self, message: TurnMessage) -> None:
        """Take what the other side says, on any thread."""
        if not isinstance(message, Interrupted):
            self._calls.put(message)
        elif self._session is not None:
            if message.is_over:
                self._is_stopped.clear()
                self._session.interrupt.clear()
            else:
                self._is_stopped.set()
                self._session.interrupt.set()

    def serve(self, session: Session, between_steps: Callable[[], None]) -> None:
        """Do what is asked of the session until the turn ends; ``between_steps`` is called while nothing is."""
        self._session = session
        self._post(TurnBegan(self.number))
        while not isinstance(call := self._next_call(between_steps), EndTurn):
            error, value = None, None
            try:
                value = self._answer(session, call, between_steps)
            except EngineError as failure:
                error = failure
            except Exception:  # who waits for a reply must get one
                log.exception("unexpected error in the engine")
                error = EngineError(UNEXPECTED.message, UNEXPECTED.advice)
            self._post(SessionReply(self.number, value, error))

    def _next_call(self, between_steps: Callable[[], None]) -> SessionCall | GenerateCall | EndTurn:
        """Wait for it; texts are counted meanwhile, as a turn may compute for minutes without the session."""
        while True:
            try:
                return self._calls.get(timeout=REST_S)
            except queue.Empty:
                between_steps()

    def _answer(self, session: Session, call: SessionCall | GenerateCall, between_steps: Callable[[], None]) -> Any:  # noqa: ANN401
        if isinstance(call, SessionCall):
            session.is_load_cancelled = self._is_stopped.is_set
            if call.name == "load":
                request = cast("LoadRequest", call.arguments[0])
                return session.load(request, lambda _path, _fraction: not self._is_stopped.is_set())
            names = call.name.split(".")
            method: Any = session
            for name in names:
                method = getattr(method, name)
            return method(*call.arguments)
        try:
            if call.is_traced:
                session.on_trace = lambda traced: self._post(TurnTraced(self.number, traced))
            for event in session.generate(call.request, self._is_stopped.is_set):
                self._post(TurnEvent(self.number, event))
                between_steps()
        finally:
            session.on_trace = None
        return None


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
