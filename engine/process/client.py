"""Drives an engine in a separate process.

If that process ends unexpectedly, `EngineEnded` is sent, and all open requests fail with `EngineFailed`; the next
request starts another process, without a loaded model.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.process.channel import Cancel, Close, Logged, Setup
from engine.records import EngineEnded, Event, Problem
from engine.requests import OnEvent, Request, SetStateLimit, StateOrder, failure_event, is_last_event
from engine.sentences import Sentence, i18n
from engine.session.worker import UNEXPECTED

if TYPE_CHECKING:
    from engine.process.process import EngineProcess
    from engine.session.session import Session

log = logging.getLogger(__name__)

BEGIN_S = 10.0  # longest wait for ``begins``
KILL_S = 1.0  # wait for a killed process to exit
ENDED = "The engine ended unexpectedly"
_Message = Request | Cancel | Close


class EngineClient:
    """Implements `engine.requests.Engine` with an engine in another process."""

    def __init__(
        self,
        on_event: OnEvent,
        make_session: Callable[[], Session],
        begins: threading.Event | None = None,
        formatter: logging.Formatter | None = None,
    ) -> None:
        """``make_session`` must be picklable, since the other process calls it.

        The process starts once ``begins`` is set. ``formatter`` formats the process's exceptions for the log.
        """
        self._on_event = on_event
        self._make_session = make_session
        self._formatter = formatter or logging.Formatter()
        self._begins = begins
        self._lock = threading.RLock()
        self._process: EngineProcess | None = None
        self._generation = 0  # counts processes; messages to an ended process are dropped
        self._outbox: queue.SimpleQueue[tuple[int, _Message | None]] = queue.SimpleQueue()
        self._unanswered: dict[int, tuple[Request, OnEvent]] = {}  # by number, in order of arrival
        # Orders that every new process must receive.
        self._state_orders: dict[StateOrder, None] = {}
        self._num_limits = 0
        self._is_closing = False
        self._sender = threading.Thread(target=self._run, name="engine", daemon=True)

    @property
    def pid(self) -> int | None:
        with self._lock:
            return self._process.pid if self._process else None

    def start(self) -> None:
        self._sender.start()
        self._send(None)

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        """See `engine.requests.Engine`; jobs must be picklable.

        Every later process receives each `StateOrder` again.
        """
        with self._lock:
            if isinstance(request, StateOrder):
                self._remember_order(request)
            else:
                self._unanswered[request.request_id] = request, on_event or self._on_event
            self._send(request)

    def _remember_order(self, order: StateOrder) -> None:
        if isinstance(order, SetStateLimit):
            self._num_limits += 1
            self._state_orders = {kept: None for kept in self._state_orders if not isinstance(kept, SetStateLimit)}
        self._state_orders[order] = None

    def cancel(self, number: int) -> None:
        self._send(Cancel(number))

    def skip_summary(self, number: int) -> None:
        self._send(Cancel(number, only_summary=True))

    def close(self, timeout_s: float) -> bool:
        """Cancel all requests, free the models, end the process; False if it was killed after ``timeout_s`` seconds."""
        with self._lock:
            self._is_closing = True
            self._send(Close(timeout_s))
        if self._begins is not None:
            self._begins.set()
        end_s = time.monotonic() + timeout_s
        if self._sender.is_alive():
            self._sender.join(timeout_s)
        with self._lock:
            process, self._process = self._process, None
        if process is None or process.wait(max(0.0, end_s - time.monotonic())):
            return True
        log.error("the engine did not end in %s s and is killed", timeout_s)
        process.kill()
        process.wait(KILL_S)
        return False

    # ---- to the process ---------------------------------------------------------------------------------------------

    def _send(self, message: _Message | None) -> None:
        with self._lock:
            self._outbox.put((self._generation, message))

    def _run(self) -> None:
        """Send messages on a separate thread, since the other process may be slow to read."""
        if self._begins is not None:
            self._begins.wait(BEGIN_S)
        while True:
            generation, message = self._outbox.get()
            is_last = isinstance(message, Close)
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
            except Exception:  # the thread must survive every error and report it
                log.exception("%s could not be sent to the engine", type(message).__name__)
                if not isinstance(message, Cancel | Close | None):
                    self._fail(message.request_id, UNEXPECTED)
            if is_last:
                return

    def _fail(self, number: int, problem: Problem, *, engine_ended: bool = False) -> None:
        with self._lock:
            request, on_event = self._unanswered.pop(number, (None, self._on_event))
        event = failure_event(request, problem, engine_ended=engine_ended) if request is not None else None
        if event is not None:
            on_event(event)

    def _needs_process(self) -> bool:
        """Whether `Close` must reach a process, even if one must be started to execute orders.

        Otherwise states that the user deleted would stay on the disk. Every start sends one limit; a second one is a
        change.
        """
        orders = [order for order in self._state_orders if not isinstance(order, SetStateLimit)]
        return self._process is not None or self._num_limits > 1 or bool(orders)

    def _start_process(self) -> EngineProcess | None:
        """Start a process and send it the lasting orders; None, and all open requests fail, if it does not start."""
        from engine.process.process import EngineProcess  # noqa: PLC0415  (the window appears before it needs this)

        setup = Setup(self._make_session, self._formatter, logging.getLogger().getEffectiveLevel())
        try:
            process = EngineProcess(setup, self._on_message, self._on_end)
        except OSError as error:
            log.exception("the engine's process could not be started")
            self._end(None, i18n("it could not be started: {reason}", reason=error.strerror or error))
            return None
        with self._lock:
            self._process = process
            again = list(self._state_orders) if self._generation or self._is_closing else []
            again.sort(key=lambda order: not isinstance(order, SetStateLimit))  # limits first: they open the files
        process.start_reading()
        for order in again:
            process.send(order)
        return process

    # ---- from the process, on the thread that reads from it --------------------------------------------------------

    def _on_message(self, message: Event | Logged) -> None:
        if isinstance(message, Logged):
            logger = logging.getLogger(message.name)
            if logger.isEnabledFor(message.level):
                record = logger.makeRecord(message.name, message.level, "", 0, message.message, (), None)
                record.threadName = f"engine process, {message.thread}"
                logger.handle(record)
            return
        number = 0 if isinstance(message, EngineEnded) else message.request_id
        with self._lock:
            request, on_event = self._unanswered.get(number, (None, self._on_event))
            if request is not None and is_last_event(request, message):
                del self._unanswered[number]
        on_event(message)

    def _on_end(self, process: EngineProcess, status: int) -> None:
        from engine.process.process import reason_of  # noqa: PLC0415  (as above)

        self._end(process, reason_of(status))

    def _end(self, process: EngineProcess | None, reason: Sentence) -> None:
        """Report that the process is gone, and fail its requests; the next process handles later ones."""
        with self._lock:
            if process is not self._process:
                return
            self._process = None
            self._generation += 1
            failing = list(self._unanswered)
            if self._is_closing:
                return
        problem = Problem(ENDED, i18n("The engine ended unexpectedly ({reason}).", reason=reason), "Try again.")
        self._on_event(EngineEnded(reason))
        for number in failing:
            self._fail(number, problem, engine_ended=True)
