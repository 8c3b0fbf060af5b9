"""The queue of requests, and the engine's thread, which answers one at a time in the order of arrival."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

from app.server.errors import UNEXPECTED, ApiError, api_error, closing_error
from engine.errors import EngineError, PromptTooLongError
from engine.records import ChatRequest, Event, Finished, RunStats, TextChunk
from engine.session.answer import LEAST_ROOM

log = logging.getLogger(__name__)

MAX_WAITING = 32
IDLE_S = 0.3  # nothing asked for this long: there is time to measure
MAX_RETRY_S = 60
JobEvent = TextChunk | Finished | ApiError


class Interrupt(Protocol):
    """Ends a pass in the middle, until it is cleared; `engine.llama.interrupt`."""

    def set(self) -> None:
        """End the pass."""

    def clear(self) -> None:
        """Let passes go on again."""


class InferenceSession(Protocol):
    """What is needed of `engine.session.session.Session`, with models loaded. Only the engine's thread calls it."""

    @property
    def interrupt(self) -> Interrupt:
        """For any thread: ends the pass of an answer that is stopped, or one that is measured."""

    @property
    def needs_measuring(self) -> bool:
        """Whether `measure` has something to do."""

    def measure(self, *, should_stop: Callable[[], bool]) -> None:
        """Measure what passes cost."""

    def prompt_ids(self, request: ChatRequest) -> list[int]:
        """The ids that a request would be answered from."""

    def generate(self, request: ChatRequest, should_stop: Callable[[], bool]) -> Iterator[Event]:
        """Answer; `Finished` comes last, unless an `EngineError` is raised."""


class Job:
    """A request in the queue or at work. Its events come on the engine's thread, `Finished` or an error last."""

    def __init__(self, request: ChatRequest, on_event: Callable[[JobEvent], None]) -> None:
        self.request = request
        self.on_event = on_event
        self.cancelled = threading.Event()


class Scheduler:
    """First come, first served, with a bound. All methods may be called from any thread and return at once."""

    def __init__(
        self,
        session: InferenceSession,
        n_ctx: int,
        on_answer: Callable[[RunStats], None] = lambda _stats: None,
        max_waiting: int = MAX_WAITING,
    ) -> None:
        """``on_answer`` hears on the engine's thread of every answer that ended, stopped ones included."""
        self._session = session
        self._n_ctx = n_ctx
        self._on_answer = on_answer
        self._max_waiting = max_waiting
        self._changed = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._running: Job | None = None
        self._is_measuring = self._is_closing = False
        self._latest_s = 1.0  # what the latest answer took
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        """Start the engine's thread."""
        self._thread.start()

    @property
    def num_waiting(self) -> int:
        """Requests in the queue."""
        return len(self._waiting)

    @property
    def num_running(self) -> int:
        """1 while an answer is made, else 0."""
        return 0 if self._running is None else 1

    def submit(self, request: ChatRequest, on_event: Callable[[JobEvent], None]) -> Job:
        """Queue a request.

        Raises:
            ApiError: 429 where the queue is full, 503 where the server ends.
        """
        job = Job(request, on_event)
        with self._changed:
            if self._is_closing:
                raise closing_error()
            if len(self._waiting) >= self._max_waiting:
                raise self._full()
            self._waiting.append(job)
            if self._is_measuring:
                self._session.interrupt.set()
            self._changed.notify()
        return job

    def cancel(self, job: Job) -> None:
        """Drop a request that waits, end an answer within a pass; nothing where it ended."""
        with self._changed:
            job.cancelled.set()
            if job in self._waiting:
                self._waiting.remove(job)
            elif job is self._running:
                self._session.interrupt.set()

    def close(self) -> None:
        """End the answer in the making and refuse what waits; nothing is taken any more."""
        with self._changed:
            self._is_closing = True
            waiting = list(self._waiting)
            self._waiting.clear()
            if self._running is not None:
                self._running.cancelled.set()
            if self._running is not None or self._is_measuring:
                self._session.interrupt.set()
            self._changed.notify()
        for job in waiting:
            job.on_event(closing_error())

    def join(self, timeout_s: float) -> bool:
        """Wait for the engine's thread after `close`; False where it did not end in so many seconds."""
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _full(self) -> ApiError:
        retry_s = min(MAX_RETRY_S, math.ceil(self._latest_s))
        message = f"{len(self._waiting)} requests wait already, which is as many as this server queues. Try again."
        return ApiError(429, message, code="queue_full", headers={"Retry-After": str(retry_s)})

    # ---- on the engine's thread ---------------------------------------------------------------------------------

    def _run(self) -> None:
        can_measure = True
        while True:
            job = self._next_job(IDLE_S if can_measure and self._session.needs_measuring else None)
            if job is not None:
                self._answer(job)
                can_measure = True
            elif self._is_closing:
                return
            else:
                can_measure = self._measure()

    def _next_job(self, timeout_s: float | None) -> Job | None:
        """Wait for a request, for so many seconds or as long as it takes; None where there is none."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closing, timeout_s)
            if self._is_closing or not self._waiting:
                return None
            self._session.interrupt.clear()
            self._running = self._waiting.popleft()
            return self._running

    def _measure(self) -> bool:
        """Measure what passes cost until somebody asks; whether that may be tried again before the next answer."""
        with self._changed:
            if self._waiting or self._is_closing:
                return True
            self._session.interrupt.clear()
            self._is_measuring = True
        try:
            self._session.measure(should_stop=lambda: bool(self._waiting) or self._is_closing)
        except Exception:  # nobody asked for it, so nobody is told; what is asked for is still answered
            log.exception("the costs could not be measured; depths stay fixed")
            return False
        finally:
            with self._changed:
                self._is_measuring = False
        return True

    def _answer(self, job: Job) -> None:
        started = time.perf_counter()
        try:
            self._check_length(job.request)
            for event in self._session.generate(job.request, job.cancelled.is_set):
                if isinstance(event, Finished):
                    self._on_answer(event.stats)
                if isinstance(event, TextChunk | Finished):
                    job.on_event(event)
        except EngineError as error:
            job.on_event(api_error(error, "messages" if job.request.raw_prompt is None else "prompt"))
        except Exception:  # the thread must outlive every surprise, and the client must hear of it
            log.exception("unexpected error in the engine")
            job.on_event(ApiError(500, UNEXPECTED))
        finally:
            with self._changed:
                self._running = None
            self._latest_s = time.perf_counter() - started

    def _check_length(self, request: ChatRequest) -> None:
        """Refuse what is too long: the engine would leave questions without an answer out, which the window shows.

        Raises:
            EngineError: it is, or the messages give no prompt.
        """
        num_tokens = len(self._session.prompt_ids(request))
        if num_tokens > self._n_ctx - LEAST_ROOM:
            message = f"The prompt has {num_tokens:,} tokens, but the context holds {self._n_ctx:,}."
            raise PromptTooLongError(message, "Shorten it, or start the server with a larger --ctx.")
