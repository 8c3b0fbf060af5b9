"""The queue of requests: in the order of arrival, with a bound, one at a time on the engine's thread."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from app.domain.local_server import Activity
from app.server.errors import UNEXPECTED, ApiError, api_error, closing_error, model_changed_error, stopped_error
from engine.errors import EngineError, PromptTooLongError
from engine.pacing.pass_trace import OnTrace
from engine.records import ChatRequest, EngineReady, Event, Finished, FinishReason, RunStats, TextChunk
from engine.session.answer import LEAST_ROOM
from engine.session.worker import FunctionJob

log = logging.getLogger(__name__)

MAX_WAITING = 32
MAX_RETRY_S = 60
BEGINNING_CHARS = 200  # that tell the conversations of text completions apart


@dataclass(frozen=True, slots=True)
class Told:
    """What the session said, where it was only asked something."""

    value: object


JobEvent = TextChunk | Finished | EngineReady | Told | ApiError


class Interrupt(Protocol):
    """Ends a pass in the middle, until it is cleared; `engine.llama.interrupt`."""

    def set(self) -> None:
        """End the pass."""

    def clear(self) -> None:
        """Let passes go on again."""


class States(Protocol):
    """The kept caches of conversations; `engine.cache.states`."""

    def forget_guests(self) -> None:
        """Lose those of requests."""


class Prompts(Protocol):
    """What makes prompts; `engine.prompt.chat_prompt`."""

    def text_of(self, request: ChatRequest) -> str:
        """The prompt of a chat as text."""

    def tokens_of(self, text: str, special: bool, add_bos: bool) -> list[int]:
        """Ids of a text."""

    def bytes_of(self, ids: Sequence[int]) -> list[bytes]:
        """The bytes of each token."""


class InferenceSession(Protocol):
    """What is needed of `engine.session.session.Session`. Only the engine's thread calls it."""

    on_trace: OnTrace | None

    @property
    def states(self) -> States:
        """The kept caches."""

    @property
    def prompts(self) -> Prompts:
        """What makes prompts."""

    @property
    def interrupt(self) -> Interrupt:
        """For any thread: ends the pass of an answer that is stopped."""

    def ready(self) -> EngineReady:
        """What is loaded.

        Raises:
            EngineError: nothing is.
        """

    def prompt_ids(self, request: ChatRequest) -> list[int]:
        """The ids that a request would be answered from."""

    def generate(self, request: ChatRequest, should_stop: Callable[[], bool]) -> Iterator[Event]:
        """Answer; `Finished` comes last, unless an `EngineError` is raised."""


Ask = Callable[[InferenceSession, Callable[[], bool]], object]  # is given what says whether to give up
Ensure = Callable[[InferenceSession, str, Callable[[], bool]], None]


class Engine(Protocol):
    """What is needed of `engine.session.worker.EngineWorker`, which may do other things in between."""

    def run_job(self, job: FunctionJob, *, in_background: bool) -> None:
        """Do work on the engine's thread, with the session."""


class Job:
    """A request in the queue or at work. Its events come on the engine's thread, `Finished` or an error last.

    ``target`` is the file of the model that the request was checked for; empty where that is of no account. Without a
    request the model is to be loaded only: `EngineReady` comes then. With ``ask`` nothing is answered, but the session
    asked: `Told` comes. The requests of ``more`` are answered after it, each in a turn of its own.
    """

    def __init__(
        self,
        request: ChatRequest | None,
        on_event: Callable[[JobEvent], None],
        target: str,
        ask: Ask | None,
        more: Sequence[ChatRequest],
    ) -> None:
        self.request = request
        self.on_event = on_event
        self.target = target
        self.ask = ask
        self.more = deque(more)
        self.cancelled = threading.Event()


class Scheduler:
    """First come, first served, with a bound. All methods may be called from any thread and return at once.

    Attributes:
        on_answer: hears on the engine's thread of every answer that ended, stopped ones included.
        on_pass: hears there of every pass.
        on_change: hears on any thread that `activity` is another.
        ensure: has the model of a file loaded, on the engine's thread; it is given what says whether to give up. None:
            a request for another model than the one that is loaded is refused.
    """

    def __init__(self, engine: Engine, max_waiting: int = MAX_WAITING) -> None:
        self._engine = engine
        self._max_waiting = max_waiting
        self._lock = threading.Lock()
        self._waiting: deque[Job] = deque()
        self._running: Job | None = None
        self._interrupt: Interrupt | None = None  # of the session, while an answer is made
        self._is_closing = False
        self._num_answered = 0
        self._latest_s = 1.0  # what the latest answer took
        self.on_answer: Callable[[RunStats], None] = lambda _stats: None
        self.on_pass: OnTrace | None = None
        self.on_change: Callable[[], None] = lambda: None
        self.ensure: Ensure | None = None

    @property
    def activity(self) -> Activity:
        """What it does now."""
        with self._lock:
            return Activity(self._num_answered, len(self._waiting), 0 if self._running is None else 1)

    def submit(
        self,
        request: ChatRequest | None,
        on_event: Callable[[JobEvent], None],
        target: str = "",
        ask: Ask | None = None,
        more: Sequence[ChatRequest] = (),
    ) -> Job:
        """Queue a request; None has the model of ``target`` loaded. With ``ask`` the session is only asked that.

        The requests of ``more`` come next: each has its events, and `Finished`, behind those of the one before.

        Raises:
            ApiError: 429 where the queue is full, 503 where the server ends.
        """
        job = Job(request, on_event, target, ask, more)
        with self._lock:
            if self._is_closing:
                raise closing_error()
            if len(self._waiting) >= self._max_waiting:
                raise self._full()
            self._waiting.append(job)
        self._ask_for_turn()
        return job

    def _ask_for_turn(self) -> None:
        self._engine.run_job(FunctionJob(self._take_turn, self._fail_next), in_background=True)
        self.on_change()

    def cancel(self, job: Job) -> None:
        """Drop a request that waits, end an answer within a pass; nothing where it ended."""
        with self._lock:
            job.cancelled.set()
            if job in self._waiting:
                self._waiting.remove(job)
            elif job is self._running and self._interrupt is not None:
                self._interrupt.set()
        self.on_change()

    def stop_running(self) -> None:
        """End the answer in the making within a pass; its client is told that it was stopped."""
        with self._lock:
            if self._running is not None and self._interrupt is not None:
                self._running.cancelled.set()
                self._interrupt.set()

    def close(self) -> None:
        """End the answer in the making and refuse what waits; nothing is taken any more."""
        with self._lock:
            self._is_closing = True
            waiting = list(self._waiting)
            self._waiting.clear()
        self.stop_running()
        for job in waiting:
            job.on_event(closing_error())
        forget = FunctionJob(lambda session, _between_steps: session.states.forget_guests())
        self._engine.run_job(forget, in_background=True)
        self.on_change()

    def _full(self) -> ApiError:
        retry_s = min(MAX_RETRY_S, math.ceil(self._latest_s))
        message = f"{len(self._waiting)} requests wait already, which is as many as this server queues. Try again."
        return ApiError(429, message, code="queue_full", headers={"Retry-After": str(retry_s)})

    # ---- on the engine's thread ---------------------------------------------------------------------------------

    def _take_turn(self, session: InferenceSession, between_steps: Callable[[], None]) -> None:
        """Answer the request that waits longest: there is a turn for each, and one too many for each dropped one."""
        with self._lock:
            if self._is_closing or not self._waiting:
                return
            job = self._running = self._waiting.popleft()
            self._interrupt = session.interrupt
            session.interrupt.clear()
        self.on_change()
        started, is_whole = time.perf_counter(), False
        try:
            is_whole = self._answer(session, job, between_steps)
        finally:
            with self._lock:
                self._running = self._interrupt = None
                self._num_answered += 1
                self._latest_s = time.perf_counter() - started
            self.on_change()
        if is_whole and job.more:
            self._go_on(job)

    def _go_on(self, job: Job) -> None:
        """Queue the next request of a job, ahead of all that wait."""
        with self._lock:
            is_closing = self._is_closing
            if not is_closing and not job.cancelled.is_set():
                job.request = job.more.popleft()
                self._waiting.appendleft(job)
        if is_closing:
            job.on_event(closing_error())
        else:
            self._ask_for_turn()

    def _answer(self, session: InferenceSession, job: Job, between_steps: Callable[[], None]) -> bool:
        """Make an answer; False where it did not come to its end, or there was none to make."""
        session.on_trace, is_whole = self.on_pass, False
        try:
            request = self._checked(session, job)
            if request is not None:
                request = replace(request, conversation_id=_guest(request))
            for event in () if request is None else session.generate(request, job.cancelled.is_set):
                if isinstance(event, Finished):
                    self.on_answer(event.stats)
                if isinstance(event, Finished) and event.reason is FinishReason.CANCELLED:
                    job.on_event(closing_error() if self._is_closing else stopped_error())
                elif isinstance(event, TextChunk | Finished):
                    is_whole = isinstance(event, Finished)
                    job.on_event(event)
                between_steps()
        except EngineError as error:
            is_text = job.request is not None and job.request.raw_prompt is not None
            job.on_event(api_error(error, "prompt" if is_text else "messages"))
        except ApiError as error:
            job.on_event(error)
        except Exception:  # the thread must outlive every surprise, and the client must hear of it
            log.exception("unexpected error in the engine")
            job.on_event(ApiError(500, UNEXPECTED))
        finally:
            session.on_trace = None
        return is_whole

    def _fail_next(self) -> None:
        """Refuse a request whose turn cannot come: the engine could not be started."""
        with self._lock:
            job = self._waiting.popleft() if self._waiting else None
        if job is not None:
            job.on_event(ApiError(500, UNEXPECTED))
            self.on_change()

    def _checked(self, session: InferenceSession, job: Job) -> ChatRequest | None:
        """Have the right model loaded, and refuse what is too long for it; None where nothing is to be answered.

        The engine would leave questions without an answer out, which the window shows.

        Raises:
            ApiError: another model was loaded while it waited.
            EngineError: it is too long, or none is loaded or can be, or the messages give no prompt.
        """
        if self.ensure is not None and job.target:
            self.ensure(session, job.target, job.cancelled.is_set)
        if job.ask is not None and not job.target:  # nothing of what is loaded
            job.on_event(Told(job.ask(session, job.cancelled.is_set)))
            return None
        ready = session.ready()
        loaded = ready.target
        if job.target not in ("", loaded.path):
            raise model_changed_error()
        if job.ask is not None:
            job.on_event(Told(job.ask(session, job.cancelled.is_set)))
            return None
        if job.request is None:
            job.on_event(ready)
            return None
        request, n_ctx = job.request, loaded.n_ctx
        room = n_ctx - LEAST_ROOM
        while (num_tokens := len(session.prompt_ids(request))) > room and request.files:
            request = replace(request, files=request.files[1:])  # the nearest to the gap stay
        if num_tokens > room:
            message = f"The prompt has {num_tokens:,} tokens, but the context holds {n_ctx:,}."
            raise PromptTooLongError(message, "Shorten it, or have the model loaded with a larger context.")
        return request


def _guest(request: ChatRequest) -> int:
    """A number for the conversation of a request, by its beginning: its cache is kept while others are answered."""
    first = [message.content for message in request.messages[:2]]
    begun = (request.raw_prompt or "")[:BEGINNING_CHARS], request.raw_ids[:BEGINNING_CHARS], *first
    return -1 - (hash(begun) & 0x7FFFFFFF)
