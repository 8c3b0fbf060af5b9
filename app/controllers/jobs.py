"""Runs slow work on its own threads, one job per name.

A newer job replaces an older one of the same name: the older one is asked to stop and its result is dropped.
"""

import logging
import threading
import time
from collections.abc import Callable
from functools import partial
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
Deliver = Callable[[Callable[[], object]], None]
READING_S = 2.0  # a job that only reads may end with the process
UNEXPECTED = Problem(
    "This could not be done", "Something went wrong inside Paceline; it was written to the log.", "Try again."
)


def log_problem(problem: Problem) -> None:
    """For jobs whose failure no user has to know."""
    log.warning("%s: %s", problem.title, problem.message)


class JobRunner(QObject):
    """Create it on the GUI thread; results are delivered there.

    ``report`` gets the problems of jobs without their own handler. ``deliver`` (for tests) schedules a function on the
    GUI thread, in place of the event loop.
    """

    _posted = Signal(object)

    def __init__(self, report: ReportProblem, deliver: Deliver | None = None) -> None:
        super().__init__()
        self._report, self._deliver = report, deliver or self._posted.emit
        self._posted.connect(self._call, Qt.ConnectionType.QueuedConnection)
        self._lock = threading.Lock()
        self._stops: dict[str, threading.Event] = {}
        self._threads: dict[threading.Thread, bool] = {}  # True: the job writes
        self._closed = False

    def run(
        self,
        name: str,
        work: Callable[[ShouldStop], Result],
        done: Callable[[Result], object] = lambda _result: None,
        failed: ReportProblem | None = None,
        *,
        writes: bool = False,
    ) -> None:
        """Run ``work``, then ``done`` with its result or ``failed`` with its problem, unless the job was replaced.

        ``writes``: it writes a file of the user, for which closing waits longer.
        """
        stop = threading.Event()
        thread = threading.Thread(
            target=self._work, args=(stop, work, done, failed or self._report), name=name, daemon=True
        )
        with self._lock:
            older = self._stops.get(name)
            if older is not None:
                older.set()
            self._stops[name] = stop
            self._threads[thread] = writes
        thread.start()

    def post(self, function: Callable[[], object]) -> None:
        """Call a function on the GUI thread; for progress reports."""
        if not self._closed:  # after closing, the receiver may be deleted
            self._deliver(function)

    def _call(self, function: Callable[[], object]) -> None:
        if not self._closed:
            function()

    def cancel(self, name: str) -> None:
        with self._lock:
            stop = self._stops.pop(name, None)
        if stop is not None:
            stop.set()

    def close(self, timeout_s: float) -> bool:
        """Ask all jobs to stop; False if one that writes still runs after the time limit."""
        self._closed = True
        with self._lock:
            for stop in self._stops.values():
                stop.set()
            threads = dict(self._threads)
        begun_s = time.monotonic()
        for thread, writes in threads.items():
            limit_s = timeout_s if writes else min(timeout_s, READING_S)
            thread.join(max(begun_s + limit_s - time.monotonic(), 0.0))
        return not any(thread.is_alive() for thread, writes in threads.items() if writes)

    def _work(
        self,
        stop: threading.Event,
        work: Callable[[ShouldStop], Result],
        done: Callable[[Result], object],
        failed: ReportProblem,
    ) -> None:
        ending: Callable[[], object] = partial(failed, UNEXPECTED)
        try:
            ending = partial(done, work(stop.is_set))
        except (AppError, EngineError) as error:
            ending = partial(failed, error.problem)
        except OSError as error:
            log.warning("a job failed: %s", error)
            advice = "Check the disk and the network, then try again."
            ending = partial(failed, Problem("This could not be done", i18n("{error}.", error=error), advice))
        finally:
            # Report every exception, so that callers do not wait for ever; unexpected ones are also logged.
            self.post(lambda: None if stop.is_set() else ending())
            with self._lock:
                del self._threads[threading.current_thread()]
