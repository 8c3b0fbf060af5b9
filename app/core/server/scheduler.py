"""The queue of requests: limited, fair among programs, and runs as many requests at once as the model allows."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from app.core.domain.local_server import Activity
from app.core.server.engine_job import CallJob, EngineJob, RequestBegan, SessionReply, drop_caches
from app.core.server.errors import MODEL_CHANGED, UNEXPECTED, ApiError, api_error, closing_error, stopped_error
from engine.errors import EngineError
from engine.records import (
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    PrefillProgress,
    TextChunk,
)
from engine.requests import Engine, JobEnded, RunJob, next_request_id

if TYPE_CHECKING:
    from app.core.server.library import ModelSwitch

MAX_WAITING = 32
MAX_RETRY_S = 60
MAX_PROGRAMS = 256  # maximum number of programs whose last request is remembered
MIN_RATE_S = 0.1  # shortest time over which tokens per second are computed
REPORT_INTERVAL_S = 0.5  # interval of reports about new tokens

AnswerEvent = PrefillProgress | TextChunk | Finished
JobEvent = AnswerEvent | EngineReady | SessionReply | ApiError


@dataclass(eq=False)
class ServerJob:
    """A waiting or running request. Its events arrive on a thread of the engine; the last is not a chunk or progress.

    The last event of a load is `EngineReady`, that of a call `SessionReply`. ``program`` identifies the client.
    """

    asked: EngineJob
    on_event: Callable[[JobEvent], None]
    program: str = ""
    # The scheduler's notes:
    is_cancelled: bool = False
    is_over: bool = False
    loads: bool = False  # True if its model has to be loaded first
    number: int = 0  # number of the engine's request
    began_s: float | None = None  # when the engine started it
    first_token_s: float = 0.0
    num_tokens: int = 0

    @property
    def shares(self) -> bool:
        """True if it can run beside other answers, since it loads nothing."""
        asked = self.asked
        return not self.loads and (asked.request is not None or (asked.call is not None and bool(asked.target)))

    def send(self, event: JobEvent) -> None:
        """Send an event unless the last one was sent."""
        if not self.is_over:
            self.is_over = not isinstance(event, TextChunk | PrefillProgress)
            self.on_event(event)


class Scheduler:
    """A limited queue that gives the engine as many requests as the loaded model can answer at once.

    All methods are thread-safe and return at once. ``on_change`` is called on any thread when `activity` changes.

    Programs alternate: the next request is chosen by the fewest running answers of its program, then by the longest
    time since its program's last request, then by arrival. The engine runs them in this order; a request that needs it
    alone, such as a load, waits there for the running answers, and no other request overtakes it. With each started
    request the engine reports how many may run at once.
    """

    def __init__(
        self,
        engine: Engine,
        models: ModelSwitch,
        on_change: Callable[[], None] = lambda: None,
        max_waiting: int = MAX_WAITING,
    ) -> None:
        self._engine, self.models = engine, models
        self.on_change = on_change
        self._max_waiting = max_waiting
        self._lock = threading.Lock()
        self._waiting: list[ServerJob] = []  # in order of arrival
        self._in_engine: dict[int, ServerJob] = {}  # by number
        self._parallel = 1
        self._last_number: dict[str, int] = {}  # the number of each program's last request
        self._is_closing = False
        self._num_answered = 0
        self._last_duration_s = 1.0  # the duration of the latest answer
        self._reported_s = 0.0  # when new tokens were reported

    @property
    def activity(self) -> Activity:
        now = time.perf_counter()
        with self._lock:
            running = self._running
            rate = sum(job.num_tokens / max(now - job.first_token_s, MIN_RATE_S) for job in running)
            return Activity(self._num_answered, self._num_waiting, len(running), rate)

    @property
    def _running(self) -> list[ServerJob]:
        return [job for job in self._in_engine.values() if job.began_s is not None]

    @property
    def _num_waiting(self) -> int:
        jobs = (*self._waiting, *self._in_engine.values())
        return sum(job.began_s is None and not job.is_cancelled for job in jobs)

    def submit(self, job: ServerJob) -> None:
        """Queue a request.

        Raises:
            ApiError: 429 if the queue is full, 503 if the server is closing.
        """
        with self._lock:
            if self._is_closing:
                raise closing_error()
            if (number := self._num_waiting) >= self._max_waiting:
                retry_s = min(MAX_RETRY_S, math.ceil(self._last_duration_s / self._parallel))
                message = f"{number} requests wait already, which is the limit of this server. Try again later."
                raise ApiError(429, message, code="queue_full", headers={"Retry-After": str(retry_s)})
            self._waiting.append(job)
        self._begin_next()

    def cancel(self, *jobs: ServerJob) -> None:
        """Remove waiting jobs, which then get no event, and stop answers within one pass."""
        with self._lock:
            for job in jobs:
                job.is_cancelled = True
            self._waiting = [job for job in self._waiting if not job.is_cancelled]
            numbers = [number for number, job in self._in_engine.items() if job.is_cancelled]
        for number in numbers:
            self._engine.cancel(number)
        self._begin_next()

    def stop_running(self) -> None:
        """Stop the running answers within one pass; their clients receive a stop reason."""
        with self._lock:
            running = self._running
        self.cancel(*running)

    def close(self) -> None:
        """Stop the running answers and refuse waiting and new requests."""
        with self._lock:
            self._is_closing = True
            jobs = [*self._waiting, *self._in_engine.values()]
            not_begun = [job for job in jobs if job.began_s is None and not job.is_cancelled]
        self.cancel(*jobs)
        for job in not_begun:
            job.send(closing_error())
        self._engine.submit(RunJob(CallJob(drop_caches), background=True), lambda _event: None)
        self.on_change()

    def _end_error(self) -> ApiError:
        """The error of a request that ends before its answer does."""
        return closing_error() if self._is_closing else stopped_error()

    def _begin_next(self) -> None:
        """Submit the next requests that may run now."""
        while (job := self._take_next()) is not None:
            self._submit(job)
        self.on_change()

    def _submit(self, job: ServerJob) -> None:
        target = job.asked.target
        asked = replace(job.asked, load=self.models.load_for(target) if target and not job.shares else None)
        run = RunJob(asked, background=True, request_id=job.number, shares=job.shares)
        self._engine.submit(run, partial(self._on_event, job))
        if job.is_cancelled:  # meanwhile
            self._engine.cancel(job.number)

    def _take_next(self) -> ServerJob | None:
        with self._lock:
            if not self._waiting or len(self._in_engine) >= self._parallel:
                return None
            running = Counter(job.program for job in self._in_engine.values())
            job = min(  # the first of equal ones
                self._waiting, key=lambda job: (running[job.program], self._last_number.get(job.program, -1))
            )
            self._waiting.remove(job)
            self._number(job)
            self._last_number.pop(job.program, None)
            self._last_number[job.program] = job.number
            if len(self._last_number) > MAX_PROGRAMS:
                del self._last_number[next(iter(self._last_number))]
            return job

    def _number(self, job: ServerJob) -> None:
        """Give a job a number of the engine; the lock is held."""
        job.number = next_request_id()
        self._in_engine[job.number] = job

    # ---- on a thread of the engine's --------------------------------------------------------------------------------

    def _on_event(self, job: ServerJob, event: Event) -> None:
        if isinstance(event, RequestBegan):
            parallel = event.parallel
            with self._lock:
                job.began_s = time.perf_counter()
                self._parallel = parallel
            self._begin_next()
        elif isinstance(event, EngineReady):
            with self._lock:
                self._parallel = event.target.parallel
            self.models.set_loaded(event)
        elif isinstance(event, PrefillProgress):
            job.send(event)
        elif isinstance(event, TextChunk):
            job.first_token_s = job.first_token_s or time.perf_counter()
            job.num_tokens += len(event.spans)
            job.send(event)
            if (now := time.perf_counter()) - self._reported_s >= REPORT_INTERVAL_S:
                self._reported_s = now
                self.on_change()
        elif isinstance(event, Finished):
            job.send(event if event.reason is not FinishReason.CANCELLED else self._end_error())
        elif isinstance(event, JobEnded | EngineFailed):
            self._end(job, event)

    def _end(self, job: ServerJob, event: JobEnded | EngineFailed) -> None:
        last = _last_event(job, event)
        is_unloaded = isinstance(last, ApiError) and last.code == MODEL_CHANGED
        may_load = is_unloaded and not job.loads and self.models.load_for(job.asked.target) is not None
        with self._lock:
            del self._in_engine[job.number]
            if job.began_s is not None:
                self._num_answered += 1
                self._last_duration_s = time.perf_counter() - job.began_s
            if loads := may_load and not job.is_cancelled:
                job.loads = True
                self._number(job)
        if loads:
            self._submit(job)  # at once: it does not wait for its program's turn again
        else:
            job.send(last or self._end_error())
        self._begin_next()


def _last_event(job: ServerJob, event: JobEnded | EngineFailed) -> JobEvent | None:
    """The last event of a job; None if it was sent already, or the job was cancelled before it began."""
    if isinstance(event, EngineFailed):
        problem = event.problem
        return ApiError(500, f"{problem.message} {problem.advice}" if event.engine_ended else UNEXPECTED)
    if isinstance(event.value, EngineError):
        is_text = job.asked.request is not None and job.asked.request.raw_prompt is not None
        return api_error(event.value, "prompt" if is_text else "messages")
    return event.value if isinstance(event.value, SessionReply | EngineReady | ApiError) else None
