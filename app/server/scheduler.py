"""The queue of requests: in the order of arrival, with a bound, one at a time in the engine's background."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from app.domain.local_server import Activity
from app.server.errors import UNEXPECTED, ApiError, api_error, closing_error, stopped_error
from app.server.turn import Ask, ForgetGuests, Told, Turn, TurnBegan
from engine.errors import EngineError
from engine.pacing.pass_trace import OnTrace
from engine.records import (
    ChatRequest,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    RunStats,
    TextChunk,
)
from engine.requests import Engine, JobEnded, PassTraced, RunJob, next_number

MAX_WAITING = 32
MAX_RETRY_S = 60

JobEvent = TextChunk | Finished | EngineReady | Told | ApiError


class Job:
    """A request in the queue or at work. Its events come on a thread of the engine's, `Finished` or an error last.

    ``target`` is the file of the model that the request was checked for; empty where that is of no account. Without a
    request the model is to be loaded only: `EngineReady` comes then. With ``ask`` nothing is answered, but the session
    asked: `Told` comes. The requests of ``more`` are answered after it, each in a turn of its own. ``on_turn`` is
    called where one begins.
    """

    def __init__(
        self,
        request: ChatRequest | None,
        on_event: Callable[[JobEvent], None],
        target: str,
        ask: Ask | None,
        more: Sequence[ChatRequest],
        on_turn: Callable[[], None],
    ) -> None:
        self.request = request
        self.on_event = on_event
        self.target = target
        self.ask = ask
        self.more = deque(more)
        self.on_turn = on_turn
        self.is_cancelled = False
        self.number = 0  # of its turn with the engine
        self.began_s: float | None = None  # when that began
        self.is_whole = False  # its answer came to its end


class Scheduler:
    """First come, first served, with a bound. All methods may be called from any thread and return at once.

    The engine has one turn of it at a time, so that the next requests of a job come before those of others.

    Attributes:
        on_answer: hears on a thread of the engine's of every answer that ended, stopped ones included.
        on_pass: hears there of every pass.
        on_change: hears on any thread that `activity` is another.
        load_for: gives what has to be loaded for requests that name a file, on any thread. None: nothing is loaded for
            them, and those for another model than the one that is loaded are refused.
        on_loaded: hears on a thread of the engine's of what was loaded for a request.
    """

    def __init__(self, engine: Engine, max_waiting: int = MAX_WAITING) -> None:
        self._engine = engine
        self._max_waiting = max_waiting
        self._lock = threading.Lock()
        self._waiting: deque[Job] = deque()
        self._current: Job | None = None  # which the engine was given
        self._is_closing = False
        self._num_answered = 0
        self._latest_s = 1.0  # what the latest answer took
        self.on_answer: Callable[[RunStats], None] = lambda _stats: None
        self.on_pass: OnTrace | None = None
        self.on_change: Callable[[], None] = lambda: None
        self.load_for: Callable[[str], LoadRequest | None] = lambda _target: None
        self.on_loaded: Callable[[EngineReady], None] = lambda _ready: None

    @property
    def activity(self) -> Activity:
        """What it does now."""
        with self._lock:
            return Activity(self._num_answered, self._num_waiting, int(self._is_running))

    @property
    def _is_running(self) -> bool:
        return self._current is not None and self._current.began_s is not None

    @property
    def _num_waiting(self) -> int:
        job = self._current
        return len(self._waiting) + int(job is not None and job.began_s is None and not job.is_cancelled)

    def submit(
        self,
        request: ChatRequest | None,
        on_event: Callable[[JobEvent], None],
        target: str = "",
        ask: Ask | None = None,
        more: Sequence[ChatRequest] = (),
        on_turn: Callable[[], None] = lambda: None,
    ) -> Job:
        """Queue a request; None has the model of ``target`` loaded. With ``ask`` the session is only asked that.

        The requests of ``more`` come next: each has its events, and `Finished`, behind those of the one before.

        Raises:
            ApiError: 429 where the queue is full, 503 where the server ends.
        """
        job = Job(request, on_event, target, ask, more, on_turn)
        with self._lock:
            if self._is_closing:
                raise closing_error()
            if self._num_waiting >= self._max_waiting:
                raise self._full()
            self._waiting.append(job)
        self._begin_next()
        return job

    def cancel(self, job: Job) -> None:
        """Drop a request that waits, end an answer within a pass; nothing where it ended."""
        with self._lock:
            job.is_cancelled = True
            is_current = job is self._current
            if job in self._waiting:
                self._waiting.remove(job)
        if is_current:
            self._engine.cancel(job.number)
        self.on_change()

    def stop_running(self) -> None:
        """End the answer in the making within a pass; its client is told that it was stopped."""
        job = self._current
        if job is not None and job.began_s is not None:
            job.is_cancelled = True
            self._engine.cancel(job.number)

    def close(self) -> None:
        """End the answer in the making and refuse what waits; nothing is taken any more."""
        with self._lock:
            self._is_closing = True
            refused, job = list(self._waiting), self._current
            self._waiting.clear()
            if job is not None and job.began_s is None and not job.is_cancelled:
                refused.insert(0, job)
        if job is not None:
            job.is_cancelled = True
            self._engine.cancel(job.number)
        for waiting in refused:
            waiting.on_event(closing_error())
        self._engine.submit(RunJob(ForgetGuests(), background=True), lambda _event: None)
        self.on_change()

    def _full(self) -> ApiError:
        retry_s = min(MAX_RETRY_S, math.ceil(self._latest_s))
        message = f"{self._num_waiting} requests wait already, which is as many as this server queues. Try again."
        return ApiError(429, message, code="queue_full", headers={"Retry-After": str(retry_s)})

    def _begin_next(self) -> None:
        """Give the engine what waits longest, unless it has something of ours."""
        with self._lock:
            job = self._waiting.popleft() if self._waiting and self._current is None else None
            if job is not None:
                self._current, job.number, job.began_s, job.is_whole = job, next_number(), None, False
        if job is not None:
            load = self.load_for(job.target) if job.target else None
            turn = Turn(job.request, job.target, job.ask, load, self.on_pass is not None)
            self._engine.submit(RunJob(turn, True, job.number), lambda event: self._on_event(job, event))
        self.on_change()

    # ---- on a thread of the engine's --------------------------------------------------------------------------------

    def _on_event(self, job: Job, event: Event) -> None:
        if isinstance(event, TurnBegan):
            with self._lock:
                job.began_s = time.perf_counter()
            job.on_turn()
            self.on_change()
        elif isinstance(event, PassTraced):
            if self.on_pass is not None:
                self.on_pass(event.traced)
        elif isinstance(event, EngineReady):
            self.on_loaded(event)
        elif isinstance(event, TextChunk):
            job.on_event(event)
        elif isinstance(event, Finished):
            self.on_answer(event.stats)
            job.is_whole = event.reason is not FinishReason.CANCELLED
            job.on_event(event if job.is_whole else closing_error() if self._is_closing else stopped_error())
        elif isinstance(event, JobEnded | EngineFailed):
            self._end(job, event)

    def _end(self, job: Job, event: JobEnded | EngineFailed) -> None:
        with self._lock:
            self._current = None
            is_refused = job.began_s is None and self._is_closing  # and was told
            if job.began_s is not None:
                self._num_answered += 1
                self._latest_s = time.perf_counter() - job.began_s
            goes_on = job.is_whole and bool(job.more) and not job.is_cancelled and not self._is_closing
            if goes_on:
                job.request = job.more.popleft()
                self._waiting.appendleft(job)
        if not is_refused and (last := _last_of(job, event)) is not None:
            job.on_event(last)
        if self._is_closing and job.is_whole and job.more:
            job.on_event(closing_error())
        self._begin_next()


def _last_of(job: Job, event: JobEnded | EngineFailed) -> JobEvent | None:
    """Return what a client is told at the end of a turn, beside the answer; None where that ended by itself."""
    if isinstance(event, EngineFailed):
        problem = event.problem
        if not event.engine_ended:
            return ApiError(500, UNEXPECTED)
        return ApiError(500, f"{problem.message} {problem.advice}")
    if isinstance(event.value, EngineError):
        is_text = job.request is not None and job.request.raw_prompt is not None
        return api_error(event.value, "prompt" if is_text else "messages")
    return event.value if isinstance(event.value, Told | EngineReady | ApiError) else None
