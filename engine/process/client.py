"""Drives an engine in a process of its own, with the methods of `engine.session.worker.EngineWorker`.

Where that process ends by itself, all that it was asked for fails with `EngineFailed`, behind one `EngineEnded`; the
next command starts another one, in which no model is loaded.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from engine.process.lent_session import LentTurns, OnTurn
from engine.process.messages import (
    SHUTDOWN,
    Command,
    JobEnded,
    Logged,
    SessionReply,
    Setup,
    TurnBegan,
    TurnEvent,
    TurnFailed,
    TurnTraced,
)
from engine.records import (
    ChatRequest,
    CountRequest,
    EngineEnded,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    LoadRequest,
    Problem,
    TokensCounted,
)
from engine.sentences import Sentence, said
from engine.session.worker import BEGIN_S, UNEXPECTED, FunctionJob, Job, OnEvent

if TYPE_CHECKING:
    from engine.process.process import EngineProcess
    from engine.session.session import Session

log = logging.getLogger(__name__)

KILL_S = 1.0  # for a killed process to be gone
LIMIT = "set_state_limit"
ENDED = "The engine ended unexpectedly"
CLOSING = Problem("Paceline is closing", "The engine has ended.", "Start it again.")
_Key = tuple[str, int]
_Fail = Callable[[Problem], None]


class EngineClient:
    """An engine in another process. All methods may be called from any thread and return at once."""

    def __init__(
        self,
        on_event: OnEvent,
        make_session: Callable[[], Session],
        begins: threading.Event | None = None,
        formatter: logging.Formatter | None = None,
    ) -> None:
        """``make_session`` is called in the other process, so it has to be pickled.

        The process is started once ``begins`` is set. ``formatter`` writes exceptions of it for the log.
        """
        self._on_event = on_event
        self._make_session = make_session
        self._formatter = formatter or logging.Formatter()
        self._begins = begins
        self._lock = threading.RLock()
        self._process: EngineProcess | None = None
        self._generation = 0  # of the process: what was asked of one that is gone is not asked of the next
        self._outbox: queue.SimpleQueue[tuple[int, object, _Key | None]] = queue.SimpleQueue()
        self._unanswered: dict[_Key, _Fail] = {}  # in their order
        self._num_loads = self._num_jobs = self._num_limits = 0
        # What every process has to be told: how much may be kept, and what may not.
        self._lasting: dict[Command, None] = {}
        self._turns = LentTurns(self._send)
        self._is_closing = False
        self._sender = threading.Thread(target=self._run, name="engine", daemon=True)

    @property
    def pid(self) -> int | None:
        """The number of the engine's process; None while there is none."""
        with self._lock:
            return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the process."""
        self._sender.start()
        self._send(None)

    # ---- what is asked for; see `EngineWorker` ----------------------------------------------------------------------

    def load(self, request: LoadRequest) -> None:
        """See `EngineWorker.load`."""
        self._ask_to_load(Command("load", (request,)))

    def set_draft(self, path: str | None) -> None:
        """See `EngineWorker.set_draft`."""
        self._ask_to_load(Command("set_draft", (path,)))

    def _ask_to_load(self, command: Command) -> None:
        with self._lock:
            self._num_loads += 1
            self._ask(command, ("load", self._num_loads), self._failing(0))

    def stop_loading(self) -> None:
        """See `EngineWorker.stop_loading`."""
        self._send(Command("stop_loading"))

    def generate(self, request: ChatRequest) -> None:
        """See `EngineWorker.generate`."""
        number = request.request_id
        self._ask(Command("generate", (request,)), ("answer", number), self._failing(number))

    def _failing(self, request_id: int) -> _Fail:
        return lambda problem: self._on_event(EngineFailed(problem, request_id, engine_ended=True))

    def run_job(self, job: Job, *, in_background: bool = False) -> None:
        """See `EngineWorker.run_job`; the job is pickled, and runs in the other process.

        A `FunctionJob` cannot be pickled: it runs here, on a thread of its own, with what stands for the session.
        """
        if isinstance(job, FunctionJob):
            self._turns.ask(cast("OnTurn", job.function), job.on_failure, in_background=in_background)
            return

        def fail(problem: Problem) -> None:
            if (event := job.failed(problem)) is not None:
                self._on_event(event)

        with self._lock:
            self._num_jobs += 1
            self._ask(Command("run_job", (self._num_jobs, job, in_background)), ("job", self._num_jobs), fail)

    def stop_jobs(self) -> None:
        """See `EngineWorker.stop_jobs`."""
        self._send(Command("stop_jobs"))

    def forget_past(self) -> None:
        """See `EngineWorker.forget_past`."""
        self._send_lasting(Command("forget_past"))

    def set_state_limit(self, disk_bytes: int) -> None:
        """See `EngineWorker.set_state_limit`."""
        self._send_lasting(Command(LIMIT, (disk_bytes,)))

    def forget_state(self, conversation_id: int) -> None:
        """See `EngineWorker.forget_state`."""
        self._send_lasting(Command("forget_state", (conversation_id,)))

    def count(self, request: CountRequest) -> None:
        """See `EngineWorker.count`."""
        number = request.request_id
        answer = TokensCounted(number, None)
        self._ask(Command("count", (request,)), ("count", number), lambda _problem: self._on_event(answer))

    def stop(self) -> None:
        """See `EngineWorker.stop`."""
        self._send(Command("stop"))

    def skip_summary(self) -> None:
        """See `EngineWorker.skip_summary`."""
        self._send(Command("skip_summary"))

    def shutdown(self, timeout_s: float) -> bool:
        """Stop, free the models, end the process and turns.

        False if the process had to be killed after ``timeout_s`` seconds, or a turn did not end within them.
        """
        with self._lock:
            self._is_closing = True
            self._send(Command(SHUTDOWN, (timeout_s,)))
        if self._begins is not None:
            self._begins.set()
        end_s = time.monotonic() + timeout_s
        if self._sender.is_alive():
            self._sender.join(timeout_s)
        with self._lock:
            process, self._process = self._process, None
        has_ended = process is None or process.wait(max(0.0, end_s - time.monotonic()))
        self._turns.fail_all(CLOSING)
        have_turns_ended = self._turns.close(max(0.0, end_s - time.monotonic()))
        if process is None or has_ended:
            return have_turns_ended
        log.error("the engine did not end in %s s and is killed", timeout_s)
        process.kill()
        process.wait(KILL_S)
        return False

    # ---- to the process ---------------------------------------------------------------------------------------------

    def _ask(self, message: object, key: _Key, fail: _Fail) -> None:
        with self._lock:
            self._unanswered[key] = fail
            self._send(message, key)

    def _send_lasting(self, command: Command) -> None:
        with self._lock:
            if command.name == LIMIT:
                self._num_limits += 1
                self._lasting = {kept: None for kept in self._lasting if kept.name != command.name}
            self._lasting[command] = None
            self._send(command)

    def _send(self, message: object, key: _Key | None = None) -> None:
        with self._lock:
            self._outbox.put((self._generation, message, key))

    def _run(self) -> None:
        """Send what is to be sent, on a thread of its own: the other side may be slow to read."""
        if self._begins is not None:
            self._begins.wait(BEGIN_S)
        while True:
            generation, message, key = self._outbox.get()
            is_last = isinstance(message, Command) and message.name == SHUTDOWN
            with self._lock:
                if is_last and not self._needs_process():
                    return
                process = self._process
                if not is_last and (generation != self._generation or (self._is_closing and process is None)):
                    continue
            try:
                process = process or self._start_process()
                if process is not None and message is not None:
                    process.send(message)
            except Exception:  # the thread must outlive every surprise, and the user must hear of it
                log.exception("%s could not be sent to the engine", type(message).__name__)
                self._fail(key)
            if is_last:
                return

    def _fail(self, key: _Key | None) -> None:
        with self._lock:
            fail = self._unanswered.pop(key, None) if key is not None else None
        if fail is not None:
            fail(UNEXPECTED)

    def _needs_process(self) -> bool:
        """Whether a process has to be told that the app ends, though one may have to be started for it.

        What is to be forgotten would stay on the disk for good. How much may be kept is said at every start; said once
        more, it was changed.
        """
        return self._process is not None or self._num_limits > 1 or any(one.name != LIMIT for one in self._lasting)

    def _start_process(self) -> EngineProcess | None:
        """Start a process and tell it what every one has to know; None, and all that waits fails, if it does not."""
        from engine.process.process import EngineProcess  # noqa: PLC0415  (a window appears before it needs this)

        setup = Setup(self._make_session, self._formatter, logging.getLogger().getEffectiveLevel())
        try:
            process = EngineProcess(setup, self._on_message, self._on_end)
        except OSError as error:
            log.exception("the engine's process could not be started")
            self._fail_all(said("it could not be started: {reason}", reason=error.strerror or error))
            return None
        with self._lock:
            self._process = process
            again = list(self._lasting) if self._generation or self._is_closing else []
            again.sort(key=lambda command: command.name != LIMIT)  # it opens the files of what is to be forgotten
        process.start_reading()
        for command in again:
            process.send(command)
        return process

    # ---- from the process, on the thread that reads from it --------------------------------------------------------

    def _on_message(self, message: object) -> None:
        if isinstance(message, Logged):
            _log(message)
        elif isinstance(message, TurnBegan | TurnFailed | TurnEvent | TurnTraced | SessionReply):
            self._turns.take(message)
        elif isinstance(message, JobEnded):
            self._answered(("job", message.number))
        else:
            self._note_answer(cast("Event", message))
            self._on_event(cast("Event", message))

    def _note_answer(self, event: Event) -> None:
        if isinstance(event, EngineReady) or (isinstance(event, EngineFailed) and event.request_id == 0):
            with self._lock:  # they are answered in their order
                key = next((key for key in self._unanswered if key[0] == "load"), None)
            if key is not None:
                self._answered(key)
        elif isinstance(event, Finished | EngineFailed):
            self._answered(("answer", event.request_id))
        elif isinstance(event, TokensCounted):
            self._answered(("count", event.request_id))

    def _answered(self, key: _Key) -> None:
        with self._lock:
            self._unanswered.pop(key, None)

    def _on_end(self, process: EngineProcess, status: int) -> None:
        with self._lock:
            if process is not self._process:
                return
            self._process = None
        from engine.process.process import reason_of  # noqa: PLC0415  (as above)

        self._fail_all(reason_of(status))

    def _fail_all(self, reason: Sentence) -> None:
        """Tell that the engine is gone, and fail what was asked of it."""
        with self._lock:
            self._generation += 1
            failing, self._unanswered = list(self._unanswered.values()), {}
            if self._is_closing:
                return
        problem = Problem(ENDED, said("The engine ended unexpectedly ({reason}).", reason=reason), "Try again.")
        self._on_event(EngineEnded(reason))
        for fail in failing:
            fail(problem)
        self._turns.fail_all(problem)


def _log(line: Logged) -> None:
    logger = logging.getLogger(line.name)
    if logger.isEnabledFor(line.level):
        record = logger.makeRecord(line.name, line.level, "", 0, line.message, (), None)
        record.threadName = f"engine process, {line.thread}"
        logger.handle(record)
