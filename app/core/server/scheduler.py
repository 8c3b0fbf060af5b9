"""The queue of requests: limited, fair among programs, and runs as many requests at once as the model allows."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from app.core.domain.local_server import Activity
from app.core.server.engine_job import CallJob, EngineJob, RequestBegan, SessionCall, SessionReply, drop_caches
from app.core.server.errors import MODEL_CHANGED, UNEXPECTED, ApiError, api_error, closing_error, stopped_error
from engine.errors import EngineError
from engine.records import (
    ChatRequest,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    PrefillProgress,
    TextChunk,
)
from engine.requests import Engine, JobEnded, PassTraced, RunJob, next_request_id

if TYPE_CHECKING:
    from app.core.server.library import ModelSwitch
    from app.core.server.metrics import Metrics

MAX_WAITING = 32
MAX_RETRY_S = 60
MAX_PROGRAMS = 256  # maximum number of programs whose last request is remembered
RATE_WINDOW_S = 10.0  # time window of the tokens per second
REPORT_INTERVAL_S = 0.5  # interval of reports about new tokens

AnswerEvent = PrefillProgress | TextChunk | Finished
JobEvent = AnswerEvent | EngineReady | SessionReply | ApiError


class ServerJob:
    """A waiting or running request. Its events arrive on a thread of the engine; the last is not a chunk or progress.

    ``target``: the file of the model that the request was validated for; empty: any model. Without a request the model
    is only loaded, and the event is `EngineReady`. With ``call`` the session computes a value, and the event is
    `SessionReply`. ``on_begin`` is called when the request begins. ``program`` identifies the client.
    """

    def __init__(
        self,
        request: ChatRequest | None,
        on_event: Callable[[JobEvent], None],
        target: str = "",
        call: SessionCall | None = None,
        *,
        on_begin: Callable[[], None] = lambda: None,
        program: str = "",
    ) -> None:
        self.request, self.target, self.call = request, target, call
        self.on_event, self.on_begin, self.program = on_event, on_begin, program
        self.group: Sequence[ServerJob] = (self,)  # the jobs of one HTTP request
        self.is_cancelled = self.is_over = False
        self.loads = False  # True if its model has to be loaded first
        self.number = 0  # number of the engine's request
        self.began_s: float | None = None  # when the engine started it

    @property
    def shares(self) -> bool:
        """True if it can run beside other answers, since it loads nothing."""
        return not self.loads and (self.request is not None or (self.call is not None and bool(self.target)))

    def send(self, event: JobEvent) -> None:
        """Send an event unless the last one was sent."""
        if not self.is_over:
            self.is_over = not isinstance(event, TextChunk | PrefillProgress)
            self.on_event(event)


class _Throughput:
    """Tokens per second of all answers over the last `RATE_WINDOW_S`. Methods need the scheduler's lock."""

    def __init__(self) -> None:
        self._counts: deque[tuple[float, int]] = deque()
        self._since = self._reported_s = 0.0

    def begin(self) -> None:
        """Start counting after an idle time."""
        self._counts.clear()
        self._since = time.perf_counter()

    def count(self, num_tokens: int) -> bool:
        """Count new tokens; True if it is time to report them."""
        now = time.perf_counter()
        self._counts.append((now, num_tokens))
        while self._counts[0][0] < now - RATE_WINDOW_S:
            self._counts.popleft()
        is_due = now - self._reported_s >= REPORT_INTERVAL_S
        self._reported_s = now if is_due else self._reported_s
        return is_due

    def per_second(self) -> float:
        now = time.perf_counter()
        recent = sum(number for at_s, number in self._counts if at_s >= now - RATE_WINDOW_S)
        return recent / max(min(RATE_WINDOW_S, now - self._since), 1e-3)


class Scheduler:
    """A limited queue that runs as many requests as the loaded model allows.

    All methods are thread-safe and return at once. ``on_change`` is called on any thread when `activity` changes.

    Programs alternate: the next request is chosen by the fewest running answers of its program, then by the longest
    time since its program's last request, then by arrival. A request that needs the engine alone, such as a load, waits
    for the running answers, and no other request overtakes it. With each started request the engine reports how many
    may run at once.
    """

    def __init__(
        self,
        engine: Engine,
        models: ModelSwitch,
        metrics: Metrics,
        on_change: Callable[[], None] = lambda: None,
        max_waiting: int = MAX_WAITING,
    ) -> None:
        self._engine, self.models, self.metrics = engine, models, metrics
        self.on_change = on_change
        self._max_waiting = max_waiting
        self._lock = threading.Lock()
        self._waiting: list[ServerJob] = []  # in order of arrival
        self._in_engine: dict[int, ServerJob] = {}  # by number
        self._next_alone: ServerJob | None = None  # a job that waits until the engine is idle
        self._parallel = 1
        self._last_number: dict[str, int] = {}  # the number of each program's last request
        self._is_closing = False
        self._num_answered = 0
        self._last_durations_s = 1.0  # the duration of the latest answer
        self._throughput = _Throughput()

    @property
    def activity(self) -> Activity:
        with self._lock:
            num_running = len(self._running)
            rate = self._throughput.per_second() if num_running else 0.0
            return Activity(self._num_answered, self._num_waiting, num_running, rate)

    @property
    def _running(self) -> list[ServerJob]:
        return [job for job in self._in_engine.values() if job.began_s is not None]

    @property
    def _num_waiting(self) -> int:
        """The number of HTTP requests that have not begun."""
        jobs = (*self._waiting, *self._in_engine.values())
        groups = {id(job.group): job.group for job in jobs if not job.is_cancelled}
        return sum(all(job.began_s is None for job in group) for group in groups.values())

    def submit(self, jobs: Sequence[ServerJob]) -> None:
        """Queue the jobs of an HTTP request.

        Raises:
            ApiError: 429 if the queue is full, 503 if the server is closing.
        """
        with self._lock:
            if self._is_closing:
                raise closing_error()
            if (number := self._num_waiting) >= self._max_waiting:
                retry_s = min(MAX_RETRY_S, math.ceil(self._last_durations_s / self._parallel))
                message = f"{number} requests wait already, which is the limit of this server. Try again later."
                raise ApiError(429, message, code="queue_full", headers={"Retry-After": str(retry_s)})
            for job in jobs:
                job.group = jobs
            self._waiting += jobs
        self._begin_next()

    def cancel(self, jobs: Iterable[ServerJob]) -> None:
        """Remove waiting jobs, which then get no event, and stop answers within one pass."""
        with self._lock:
            for job in jobs:
                job.is_cancelled = True
            self._waiting = [job for job in self._waiting if not job.is_cancelled]
            numbers = [number for number, job in self._in_engine.items() if job.is_cancelled]
            if self._next_alone is not None and self._next_alone.is_cancelled:
                self._next_alone = None
        for number in numbers:
            self._engine.cancel(number)
        self._begin_next()

    def stop_running(self) -> None:
        """Stop the running answers within one pass; their clients receive a stop reason."""
        with self._lock:
            jobs = [job for running in self._running for job in running.group]
            not_begun = [job for job in jobs if job.began_s is None]
        self.cancel(jobs)
        for job in not_begun:  # running requests end with their own event
            job.send(stopped_error())

    def close(self) -> None:
        """Stop the running answers and refuse waiting and new requests."""
        with self._lock:
            self._is_closing = True
            jobs = [*self._waiting, *self._in_engine.values()]
            not_begun = [job for job in jobs if job.began_s is None and not job.is_cancelled]
        self.cancel(jobs)
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
            load = self.models.load_for(job.target) if job.target and not job.shares else None
            asked = EngineJob(job.request, job.target, job.call, load)
            job_of_engine = RunJob(asked, background=True, request_id=job.number, shares=job.shares)
            self._engine.submit(job_of_engine, partial(self._on_event, job))
        self.on_change()

    def _take_next(self) -> ServerJob | None:
        with self._lock:
            given = self._in_engine.values()
            if not self._waiting or not all(job.shares for job in given):
                return None
            job = self._next_alone or self._next_by_program()
            if len(given) >= (self._parallel if job.shares else 1):
                self._next_alone = None if job.shares else job
                return None
            self._next_alone = None
            self._waiting.remove(job)
            job.number = next_request_id()
            self._in_engine[job.number] = job
            self._last_number.pop(job.program, None)
            self._last_number[job.program] = job.number
            if len(self._last_number) > MAX_PROGRAMS:
                del self._last_number[next(iter(self._last_number))]
            return job

    def _next_by_program(self) -> ServerJob:
        running = Counter(job.program for job in self._in_engine.values())
        return min(  # the first of equal ones
            self._waiting, key=lambda job: (running[job.program], self._last_number.get(job.program, -1))
        )

    # ---- on a thread of the engine's --------------------------------------------------------------------------------

    def _on_event(self, job: ServerJob, event: Event) -> None:
        if isinstance(event, RequestBegan):
            parallel = event.parallel
            with self._lock:
                if not self._running:
                    self._throughput.begin()
                job.began_s = time.perf_counter()
                self._parallel = parallel
            job.on_begin()
            self._begin_next()
        elif isinstance(event, PassTraced):
            self.metrics.count_pass(event.traced)
        elif isinstance(event, EngineReady):
            self._on_loaded(event)
        elif isinstance(event, PrefillProgress):
            job.send(event)
        elif isinstance(event, TextChunk):
            with self._lock:
                is_due = self._throughput.count(len(event.spans))
            job.send(event)
            if is_due:
                self.on_change()
        elif isinstance(event, Finished):
            self.metrics.count_answer(event.stats)
            job.send(event if event.reason is not FinishReason.CANCELLED else self._end_error())
        elif isinstance(event, JobEnded | EngineFailed):
            self._end(job, event)

    def _on_loaded(self, ready: EngineReady) -> None:
        """Note that waiting requests for this model no longer need a load."""
        with self._lock:
            self._parallel = ready.target.parallel
            for job in self._waiting:
                job.loads &= job.target != ready.target.path
            if self._next_alone is not None and self._next_alone.shares:
                self._next_alone = None
        self.models.set_loaded(ready)

    def _end(self, job: ServerJob, event: JobEnded | EngineFailed) -> None:
        last = _last_event(job, event)
        with self._lock:
            del self._in_engine[job.number]
            if job.began_s is not None:
                self._num_answered += 1
                self._last_durations_s = time.perf_counter() - job.began_s
        is_unloaded = isinstance(last, ApiError) and last.code == MODEL_CHANGED
        if not is_unloaded or not self._requeue_with_load(job):
            job.send(last or self._end_error())
            if isinstance(last, ApiError):
                self.cancel(job.group[job.group.index(job) + 1 :])
        self._begin_next()

    def _requeue_with_load(self, job: ServerJob) -> bool:
        """If the job's model is not loaded, queue it again with a load; True if it was queued."""
        if job.loads or job.is_cancelled or self.models.load_for(job.target) is None:
            return False
        with self._lock:
            job.loads = True
            self._waiting.insert(0, job)
            self._next_alone = self._next_alone or job
        return True


def _last_event(job: ServerJob, event: JobEnded | EngineFailed) -> JobEvent | None:
    """The last event of a job; None if it was sent already, or the job was cancelled before it began."""
    if isinstance(event, EngineFailed):
        problem = event.problem
        return ApiError(500, f"{problem.message} {problem.advice}" if event.engine_ended else UNEXPECTED)
    if isinstance(event.value, EngineError):
        is_text = job.request is not None and job.request.raw_prompt is not None
        return api_error(event.value, "prompt" if is_text else "messages")
    return event.value if isinstance(event.value, SessionReply | EngineReady | ApiError) else None
