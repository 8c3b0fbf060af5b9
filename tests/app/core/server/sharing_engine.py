"""An engine that runs shareable jobs at the same time, one thread each."""

import threading
from dataclasses import dataclass, replace
from typing import cast

from engine.records import EngineFailed, Event, Problem
from engine.requests import JobEnded, OnEvent, Request, RunJob
from engine.session.session import Session


@dataclass(eq=False)
class Given:
    """A submitted job."""

    request: RunJob
    on_event: OnEvent
    is_cancelled: bool = False

    @property
    def shares(self) -> bool:
        return self.request.shares


class SharingEngine:
    """Implements `engine.requests.Engine` for jobs. Only one event is sent at a time, as from a single thread.

    ``most_at_once``: maximum number of jobs that ran in parallel. ``begun``: jobs in the order of their start.
    ``alone``: jobs that ran alone.
    """

    def __init__(self, session: object, parallel: int) -> None:
        self._session, self._parallel = cast("Session", session), parallel
        self._changed = threading.Condition()
        self._telling = threading.RLock()
        self._waiting: list[Given] = []
        self._running: list[Given] = []
        self.most_at_once = 0
        self.begun: list[object] = []
        self.alone: list[object] = []

    def start(self) -> None:
        """Do nothing."""

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        assert isinstance(request, RunJob)
        assert on_event is not None
        with self._changed:
            self._waiting.append(Given(request, on_event))
        self._begin()

    def cancel(self, number: int) -> None:
        with self._changed:
            for given in (*self._waiting, *self._running):
                given.is_cancelled |= given.request.request_id == number

    def skip_summary(self, number: int) -> None:
        raise NotImplementedError

    def close(self, timeout_s: float) -> bool:
        with self._changed:
            for given in (*self._waiting, *self._running):
                given.is_cancelled = True
            return self._changed.wait_for(lambda: not self._waiting and not self._running, timeout_s)

    def _begin(self) -> None:
        with self._changed:
            while self._waiting:
                given = self._waiting[0]
                is_alone = not given.shares or any(not other.shares for other in self._running)
                if self._running and (is_alone or len(self._running) >= self._parallel):
                    return
                self._waiting.remove(given)
                self._running.append(given)
                self.most_at_once = max(self.most_at_once, len(self._running))
                self.begun.append(given.request.job)
                if not given.shares:
                    self.alone.append(given.request.job)
                threading.Thread(target=self._run, args=(given,), daemon=True).start()

    def _run(self, given: Given) -> None:
        number = given.request.request_id

        def tell(event: Event) -> None:
            with self._telling:
                given.on_event(replace(event, request_id=number))  # type: ignore[arg-type]  # no job tells `EngineEnded`

        try:
            value = given.request.job.run(self._session, lambda: given.is_cancelled, tell, lambda: None)
        except Exception:  # noqa: BLE001  (as the engine's thread, which outlives every surprise)
            last: Event = EngineFailed(Problem("", "", ""), number)
        else:
            last = JobEnded(value, request_id=number)
        with self._changed:
            self._running.remove(given)
            self._changed.notify_all()
        self._begin()
        tell(last)
