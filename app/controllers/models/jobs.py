"""Runs slow work on its own threads, one job per name.

A newer job replaces an older one of the same name: the older one is asked to stop and its result is dropped.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from app.core.domain.errors import AppError
from engine.errors import EngineError
from engine.records import Problem
from engine.sentences import i18n

log = logging.getLogger(__name__)

Result = TypeVar("Result")
ShouldStop = Callable[[], bool]
ReportProblem = Callable[[Problem], None]
Deliver = Callable[[Callable[[], None]], None]
UNEXPECTED = Problem(
    "This could not be done", "Something went wrong inside Paceline; it was written to the log.", "Try again."
)


class JobRunner(QObject):
    """Create it on the GUI thread; results are delivered there.

    ``deliver`` (for tests) schedules a function on the GUI thread, in place of the event loop.
    """

    _posted = Signal(object)

    def __init__(self, deliver: Deliver | None = None) -> None:
        super().__init__()
        self._deliver = deliver or self._posted.emit
        self._posted.connect(self._call, Qt.ConnectionType.QueuedConnection)
        self._lock = threading.Lock()
        self._stops: dict[str, threading.Event] = {}
        self._threads: set[threading.Thread] = set()
        self._closed = False

    def run(
        self,
        name: str,
        work: Callable[[ShouldStop], Result],
        done: Callable[[Result], None],
        failed: Callable[[Problem], None],
    ) -> None:
        """Run ``work``, then ``done`` with its result or ``failed`` with its problem, unless the job was replaced."""
        stop = threading.Event()
        with self._lock:
            older = self._stops.get(name)
            if older is not None:
                older.set()
            self._stops[name] = stop
        thread = threading.Thread(
            target=self._work,
            args=(stop, work, done, failed),
            name=name,
            daemon=True,
        )
        with self._lock:
            self._threads.add(thread)
        thread.start()

    def post(self, function: Callable[[], None]) -> None:
        """Call a function on the GUI thread; for progress reports."""
        if not self._closed:  # after closing, the receiver may be deleted
            self._deliver(function)

    def _call(self, function: Callable[[], None]) -> None:
        if not self._closed:
            function()

    def cancel(self, name: str) -> None:
        with self._lock:
            stop = self._stops.pop(name, None)
        if stop is not None:
            stop.set()

    def close(self, timeout_s: float) -> bool:
        """Ask all jobs to stop; False if one still runs after the time limit (it ends with the process)."""
        self._closed = True
        with self._lock:
            for stop in self._stops.values():
                stop.set()
            threads = list(self._threads)
        ends = time.monotonic() + timeout_s
        for thread in threads:
            thread.join(max(ends - time.monotonic(), 0.0))
        return not any(thread.is_alive() for thread in threads)

    def _work(
        self,
        stop: threading.Event,
        work: Callable[[ShouldStop], Result],
        done: Callable[[Result], None],
        failed: Callable[[Problem], None],
    ) -> None:
        problem = UNEXPECTED
        results: list[Result] = []
        try:
            results.append(work(stop.is_set))
        except (AppError, EngineError) as error:
            problem = error.problem
        except OSError as error:
            log.warning("a job failed: %s", error)
            problem = Problem(
                "This could not be done",
                i18n("{error}.", error=error),
                "Check the disk and the network, then try again.",
            )
        finally:
            # Report every exception, so that callers do not wait for ever; unexpected ones are also logged.
            self.post(lambda: self._finish(stop, results, done, lambda: failed(problem)))
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _finish(
        self,
        stop: threading.Event,
        results: list[Result],
        done: Callable[[Result], None],
        failed: Callable[[], None],
    ) -> None:
        if stop.is_set():
            return
        if results:
            done(results[0])
        else:
            failed()
