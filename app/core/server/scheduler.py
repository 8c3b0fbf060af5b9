"""The queue of requests: limited, fair among programs, and runs as many requests at once as the model allows."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from functools import partial

from app.core.domain.local_server import Activity
from app.core.server.engine_job import DropCaches, EngineJob, NotLoaded, RequestBegan, SessionCall, SessionReply
from app.core.server.errors import UNEXPECTED, ApiError, api_error, closing_error, model_changed_error, stopped_error
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
    PrefillProgress,
    RunStats,
    TextChunk,
)
from engine.requests import Engine, JobEnded, PassTraced, RunJob, next_number

MAX_WAITING = 32
MAX_RETRY_S = 60
MAX_PROGRAMS = 256  # maximum number of programs whose last request is remembered
RATE_S = 10.0  # time window of the tokens per second
REPORT_S = 0.5  # interval of reports about new tokens

JobEvent = PrefillProgress | TextChunk | Finished | EngineReady | SessionReply | ApiError


class ServerJob:
    """A waiting or running request. Its events arrive on a thread of the engine; the last is `Finished` or an error.

    ``target``: the file of the model that the request was validated for; empty: any model. Without a request the model
    is only loaded, and the event is `EngineReady`. With ``call`` the session computes a value, and the event is
    `SessionReply`. The requests of ``more`` may run at the same time; their events are sent after the events of earlier
    requests. ``on_turn`` is called when a request begins. ``program`` identifies the client.
    """

    def __init__(
        self,
        requests: Sequence[ChatRequest | None],
        on_event: Callable[[JobEvent], None],
        target: str,
        call: SessionCall | None,
        on_turn: Callable[[], None],
        program: str,
    ) -> None:
        self.on_event = on_event
        self.target = target
        self.call = call
        self.on_turn = on_turn
        self.program = program
        self.is_cancelled = self.has_begun = False
        self.turns = tuple(_QueuedRequest(self, request) for request in requests)
        self.num_sent = 0  # number of turns whose last event was sent
        self.is_over = False  # True: no more events are sent

    def send(self, turn: _QueuedRequest, event: JobEvent) -> None:
        """Forward an event, after all earlier turns have ended."""
        if self.is_over:
            return
        if turn is not self.turns[self.num_sent]:
            turn.held.append(event)
            return
        is_last = not isinstance(event, TextChunk | PrefillProgress)
        if is_last:
            self.is_over = isinstance(event, ApiError) or self.num_sent + 1 == len(self.turns)
            self.num_sent += 1
        self.on_event(event)
        if is_last and not self.is_over:
            following = self.turns[self.num_sent]
            held, following.held = following.held, []
            for one in held:
                self.send(following, one)

    def fail(self, error: ApiError) -> None:
        """Send an error in place of all unsent events."""
        if not self.is_over:
            self.is_over = True
            self.on_event(error)


class _QueuedRequest:
    """One turn of a job: an answer, a `SessionCall`, or a load."""

    def __init__(self, job: ServerJob, request: ChatRequest | None) -> None:
        self.job = job
        self.request = request
        self.loads = False  # True if its model has to be loaded first
        self.number = 0  # number of the engine's request
        self.began_s: float | None = None  # when the engine started the turn
        self.held: list[JobEvent] = []  # events that are held until earlier turns have ended

    @property
    def shares(self) -> bool:
        """True if the turn can run beside other answers, since it loads nothing."""
        return not self.loads and (self.request is not None or (self.job.call is not None and bool(self.job.target)))


class _Throughput:
    """Tokens per second of all answers over the last `RATE_S`. Methods need the scheduler's lock."""

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
        while self._counts[0][0] < now - RATE_S:
            self._counts.popleft()
        is_due = now - self._reported_s >= REPORT_S
        self._reported_s = now if is_due else self._reported_s
        return is_due

    def per_second(self) -> float:
        now = time.perf_counter()
        recent = sum(number for at_s, number in self._counts if at_s >= now - RATE_S)
        return recent / max(min(RATE_S, now - self._since), 1e-3)


class Scheduler:
    """A limited queue that runs as many requests as the loaded model allows.

    All methods are thread-safe and return at once.

    Programs alternate: the next request is chosen by the fewest running answers of its program, then by the longest
    time since its program's last request, then by arrival. A request that needs the engine alone, such as a load, waits
    for the running answers, and no other request overtakes it. With each started request the engine reports how many
    may run at once.

    Attributes:
        on_answer: called on a thread of the engine with the counters of every finished or stopped answer. on_pass:
        called on a thread of the engine with every pass. on_change: called on any thread when `activity` changes.
        load_for: returns the load request for a file; called on any thread. None: nothing is loaded, and requests for
        models that are not loaded are refused. on_loaded: called on a thread of the engine with models that were loaded
        for a request.
    """

    def __init__(self, engine: Engine, max_waiting: int = MAX_WAITING) -> None:
        self._engine = engine
        self._max_waiting = max_waiting
        self._lock = threading.Lock()
        self._waiting: list[_QueuedRequest] = []  # waiting turns in order of arrival
        self._in_engine: dict[int, _QueuedRequest] = {}  # turns running in the engine, by number
        self._next_alone: _QueuedRequest | None = None  # a turn that waits until the engine is idle
        self._parallel = 1
        self._last_number: dict[str, int] = {}  # the number of each program's last request
        self._num_turns = 0
        self._is_closing = False
        self._num_answered = 0
        self._latest_s = 1.0  # the duration of the latest answer
        self._throughput = _Throughput()
        self.on_answer: Callable[[RunStats], None] = lambda _stats: None
        self.on_pass: OnTrace | None = None
        self.on_change: Callable[[], None] = lambda: None
        self.load_for: Callable[[str], LoadRequest | None] = lambda _target: None
        self.on_loaded: Callable[[EngineReady], None] = lambda _ready: None

    @property
    def activity(self) -> Activity:
        with self._lock:
            num_running = self._num_running
            rate = self._throughput.per_second() if num_running else 0.0
            return Activity(self._num_answered, self._num_waiting, num_running, rate)

    @property
    def _num_running(self) -> int:
        return sum(turn.began_s is not None for turn in self._in_engine.values())

    @property
    def _num_waiting(self) -> int:
        """The number of jobs that have not begun."""
        turns = (*self._waiting, *self._in_engine.values())
        return len({turn.job for turn in turns if not turn.job.has_begun and not turn.job.is_cancelled})

    def submit(  # noqa: PLR0913  (what a request is)
        self,
        request: ChatRequest | None,
        on_event: Callable[[JobEvent], None],
        target: str = "",
        call: SessionCall | None = None,
        *,
        more: Sequence[ChatRequest] = (),
        on_turn: Callable[[], None] = lambda: None,
        program: str = "",
    ) -> ServerJob:
        """Queue a request; ``request`` None: only load ``target``. With ``call`` the session only runs that.

        The events of each request in ``more`` are sent after `Finished` of the request before it.

        Raises:
            ApiError: 429 if the queue is full, 503 if the server is closing.
        """
        job = ServerJob((request, *more), on_event, target, call, on_turn, program)
        with self._lock:
            if self._is_closing:
                raise closing_error()
            if self._num_waiting >= self._max_waiting:
                raise self._queue_full_error()
            self._waiting += job.turns
        self._begin_next()
        return job

    def cancel(self, job: ServerJob) -> None:
        """Remove a waiting job, or stop its answers within one pass. No effect on finished jobs."""
        job.is_cancelled = True
        self._drop(job.turns)
        self._begin_next()

    def _drop(self, turns: Sequence[_QueuedRequest]) -> None:
        with self._lock:
            self._waiting = [turn for turn in self._waiting if turn not in turns]
            numbers = [number for number, turn in self._in_engine.items() if turn in turns]
            if self._next_alone in turns:
                self._next_alone = None
        for number in numbers:
            self._engine.cancel(number)

    def stop_running(self) -> None:
        """Stop the running answers within one pass; their clients receive a stop reason."""
        with self._lock:
            jobs = {turn.job for turn in self._in_engine.values() if turn.began_s is not None}
        for job in jobs:
            self.cancel(job)

    def close(self) -> None:
        """Stop the running answers and refuse waiting and new requests."""
        with self._lock:
            self._is_closing = True
            numbers = list(self._in_engine)
            jobs = list(dict.fromkeys(turn.job for turn in (*self._in_engine.values(), *self._waiting)))
            self._waiting.clear()
            # Running requests end with their own event.
            refused = [job for job in jobs if not job.is_cancelled and _current_turn(job).began_s is None]
            for job in jobs:
                job.is_cancelled = True
        for number in numbers:
            self._engine.cancel(number)
        for job in refused:
            job.fail(closing_error())
        self._engine.submit(RunJob(DropCaches(), background=True), lambda _event: None)
        self.on_change()

    def _queue_full_error(self) -> ApiError:
        retry_s = min(MAX_RETRY_S, math.ceil(self._latest_s / self._parallel))
        message = f"{self._num_waiting} requests wait already, which is the limit of this server. Try again later."
        return ApiError(429, message, code="queue_full", headers={"Retry-After": str(retry_s)})

    def _begin_next(self) -> None:
        """Submit the next requests that may run now."""
        while (turn := self._take_next()) is not None:
            job = turn.job
            load = self.load_for(job.target) if job.target and not turn.shares else None
            asked = EngineJob(turn.request, job.target, job.call, load, self.on_pass is not None)
            job_of_engine = RunJob(asked, background=True, request_id=turn.number, shares=turn.shares)
            self._engine.submit(job_of_engine, partial(self._on_event, turn))
        self.on_change()

    def _take_next(self) -> _QueuedRequest | None:
        with self._lock:
            given = self._in_engine.values()
            if not self._waiting or not all(turn.shares for turn in given):
                return None
            turn = self._next_alone or self._next_by_program()
            if len(given) >= (self._parallel if turn.shares else 1):
                self._next_alone = None if turn.shares else turn
                return None
            self._next_alone = None
            self._waiting.remove(turn)
            turn.number = next_number()
            self._in_engine[turn.number] = turn
            self._note_answered(turn.job.program)
            return turn

    def _next_by_program(self) -> _QueuedRequest:
        running = Counter(turn.job.program for turn in self._in_engine.values())

        def rank(turn: _QueuedRequest) -> tuple[int, int]:
            return running[turn.job.program], self._last_number.get(turn.job.program, -1)

        return min(self._waiting, key=rank)  # min returns the first of equal items

    def _note_answered(self, program: str) -> None:
        self._num_turns += 1
        self._last_number.pop(program, None)
        self._last_number[program] = self._num_turns
        if len(self._last_number) > MAX_PROGRAMS:
            del self._last_number[next(iter(self._last_number))]

    # ---- on a thread of the engine's --------------------------------------------------------------------------------

    def _on_event(self, turn: _QueuedRequest, event: Event) -> None:
        if isinstance(event, RequestBegan):
            self._note_begun(turn, event.parallel)
        elif isinstance(event, PassTraced):
            if self.on_pass is not None:
                self.on_pass(event.traced)
        elif isinstance(event, EngineReady):
            self._note_loaded(event)
        elif isinstance(event, PrefillProgress):
            turn.job.send(turn, event)
        elif isinstance(event, TextChunk):
            with self._lock:
                is_due = self._throughput.count(len(event.spans))
            turn.job.send(turn, event)
            if is_due:
                self.on_change()
        elif isinstance(event, Finished):
            self.on_answer(event.stats)
            is_whole = event.reason is not FinishReason.CANCELLED
            self._send_last(turn, event if is_whole else closing_error() if self._is_closing else stopped_error())
        elif isinstance(event, JobEnded | EngineFailed):
            self._end(turn, event)

    def _note_begun(self, turn: _QueuedRequest, parallel: int) -> None:
        with self._lock:
            if not self._num_running:
                self._throughput.begin()
            turn.began_s = time.perf_counter()
            turn.job.has_begun = True
            self._parallel = parallel
        turn.job.on_turn()
        self._begin_next()

    def _note_loaded(self, ready: EngineReady) -> None:
        """Note that waiting requests for this model no longer need a load."""
        with self._lock:
            self._parallel = ready.target.parallel
            for turn in self._waiting:
                turn.loads &= turn.job.target != ready.target.path
            if self._next_alone is not None and self._next_alone.shares:
                self._next_alone = None
        self.on_loaded(ready)

    def _send_last(self, turn: _QueuedRequest, event: JobEvent) -> None:
        job = turn.job
        job.send(turn, event)
        if isinstance(event, ApiError):
            self._drop(job.turns[job.turns.index(turn) + 1 :])  # later turns, whose events would not be sent

    def _end(self, turn: _QueuedRequest, event: JobEnded | EngineFailed) -> None:
        job = turn.job
        with self._lock:
            del self._in_engine[turn.number]
            if turn.began_s is not None:
                self._num_answered += 1
                self._latest_s = time.perf_counter() - turn.began_s
        last = _final_event(turn, event)
        if isinstance(last, NotLoaded):
            last = None if self._requeue_with_load(turn) else model_changed_error()
        if last is not None:
            self._send_last(turn, last)
        with self._lock:
            is_pending = any(other.job is job for other in (*self._in_engine.values(), *self._waiting))
        if not is_pending:  # a turn that was removed, or ended by a crash
            job.fail(closing_error() if self._is_closing else stopped_error())
        self._begin_next()

    def _requeue_with_load(self, turn: _QueuedRequest) -> bool:
        """If the turn's model is not loaded, queue it again with a load; True if it was queued."""
        if turn.loads or turn.job.is_cancelled or self.load_for(turn.job.target) is None:
            return False
        with self._lock:
            turn.loads = True
            self._waiting.insert(0, turn)
            self._next_alone = self._next_alone or turn
        return True


def _current_turn(job: ServerJob) -> _QueuedRequest:
    """The turn of a job whose events are sent now."""
    return job.turns[min(job.num_sent, len(job.turns) - 1)]


def _final_event(turn: _QueuedRequest, event: JobEnded | EngineFailed) -> JobEvent | NotLoaded | None:
    """The error to send at the end of a turn; None if the turn ended normally."""
    if isinstance(event, EngineFailed):
        problem = event.problem
        if not event.engine_ended:
            return ApiError(500, UNEXPECTED)
        return ApiError(500, f"{problem.message} {problem.advice}")
    if isinstance(event.value, EngineError):
        is_text = turn.request is not None and turn.request.raw_prompt is not None
        return api_error(event.value, "prompt" if is_text else "messages")
    return event.value if isinstance(event.value, SessionReply | EngineReady | ApiError | NotLoaded) else None
