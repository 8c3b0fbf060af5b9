"""The engine thread, which takes requests from a queue and sends events to callbacks.

Only `cancel` and `skip_summary` affect a running answer; all other requests wait in the queue.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import EngineError, LoadCancelledError, PromptTooLongError
from engine.records import (
    ChatRequest,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    Problem,
    RunStats,
)
from engine.request_queue import QueuedRequest, RequestQueue
from engine.requests import (
    ForgetPast,
    ForgetState,
    JobEnded,
    ModelRequest,
    OnEvent,
    Request,
    RunJob,
    SetDraft,
    SetStateLimit,
    StateOrder,
    failure_event,
)
from engine.sentences import i18n

if TYPE_CHECKING:
    from engine.llama.interrupt import Interrupt
    from engine.session.session import Session

log = logging.getLogger(__name__)

STATES = "states"  # name of the folder of saved caches
IDLE_S = 0.3  # seconds without a request before idle work begins
IDLE_SLICE_S = 0.02  # seconds of idle work, and of the pause after it; bounds the delay of a request and of the window
UNEXPECTED = Problem(
    "Something went wrong in the engine",
    "An unexpected error stopped this step; the log has the details.",
    "Try again; if it happens again, restart Paceline.",
)


class EngineWorker:
    """Implements `engine.requests.Engine` with a `Session` on a thread."""

    def __init__(self, on_event: OnEvent, make_session: Callable[[], Session]) -> None:
        """Only the engine thread uses the session, and calls ``make_session``."""
        self._on_event = on_event
        self._make_session = make_session
        self._interrupt: Interrupt | None = None  # ends the current pass
        self._queue = RequestQueue(self._end_pass, self._clear_interrupt)
        self._models = LoadedModels()
        self._holds_chat = False  # whether slot 0 has a conversation of the window
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        """See `engine.requests.Engine`. A load cancels jobs, and earlier loads that no answer waits for."""
        self._queue.put(request, on_event or self._on_event)

    def cancel(self, number: int) -> None:
        """See `engine.requests.Engine`; a cancelled load keeps the previous models."""
        self._queue.cancel(number)

    def skip_summary(self, number: int) -> None:
        self._queue.skip_summary(number)

    def close(self, timeout_s: float) -> bool:
        """Cancel all requests, free the models, end the thread; False after ``timeout_s`` seconds."""
        self._queue.close()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _end_pass(self, request: Request | None) -> None:
        """Interrupt the current pass; loads check for cancellation themselves."""
        if self._interrupt is not None and not isinstance(request, ModelRequest):
            self._interrupt.set()

    def _clear_interrupt(self) -> None:
        if self._interrupt is not None:
            self._interrupt.clear()

    # ---- on the engine thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            session = self._make_session()
            self._interrupt = session.interrupt
        except Exception as error:  # every request needs a last event
            log.exception("the engine could not be started")
            while (queued := self._queue.take()) is not None:
                self._fail(queued, error.problem if isinstance(error, EngineError) else UNEXPECTED)
            return
        while (queued := self._next(session)) is not None:
            if self._can_share(session, queued):
                self._run_slots(session, queued)
            else:
                self._execute_safely(session, session, queued)
        session.close()

    def _execute_safely(self, main: Session, session: Session, queued: QueuedRequest) -> None:
        """Execute a request with ``session``, a slot of ``main``; always sends the request's last event."""
        try:
            self._execute(main, session, queued)
        except EngineError as error:
            needed = error.num_tokens if isinstance(error, PromptTooLongError) else 0
            self._fail(queued, error.problem, needed, was_cancelled=isinstance(error, LoadCancelledError))
        except Exception:  # the thread must survive and report the error
            log.exception("unexpected error in the engine")
            self._fail(queued, UNEXPECTED)
        else:
            self._queue.remove(queued)

    # ---- answers side by side ---------------------------------------------------------------------------------------

    def _can_share(self, session: Session, queued: QueuedRequest) -> bool:
        """Whether a request may run in parallel: an answer or a job that shares, if there are several slots."""
        request = queued.request
        if session.parallel < 2 or self._models.are_evicted(session):
            return False
        return isinstance(request, ChatRequest) or (isinstance(request, RunJob) and request.shares)

    def _run_slots(self, session: Session, first: QueuedRequest) -> None:
        """Run an answer and later arrivals in parallel, one in each slot, until all are done."""
        batcher, free = session.batcher, list(range(session.parallel))
        batcher.has_arrivals = lambda: self._queue.has_waiting
        try:
            session.prepare_slots(lambda: first.is_cancelled)
            session.slot(session.parallel - 1)  # creates all slots, so that ``start`` cannot fail
        except Exception as error:  # the thread must survive
            log.exception("answers could not be made side by side")
            self._fail(first, error.problem if isinstance(error, EngineError) else UNEXPECTED)
            return

        def start(queued: QueuedRequest) -> None:
            number = self._pick_slot(queued, free)
            free.remove(number)
            slot = session.slot(number)

            def work() -> None:
                self._execute_safely(session, slot, queued)
                slot.release_slot()
                free.append(number)
                free.sort()

            batcher.start(work, lambda: queued.is_cancelled)

        start(first)
        while len(batcher):
            batcher.step()
            self._end_cancelled_requests()
            while len(batcher) and (queued := self._queue.take_next(lambda one: self._may_begin(session, one, free))):
                if isinstance(queued.request, StateOrder):
                    self._execute_safely(session, session, queued)
                else:
                    start(queued)

    def _pick_slot(self, queued: QueuedRequest, free: list[int]) -> int:
        """Prefer slot 0, whose cache stays in place, unless it has a chat's cache and another program asks."""
        is_chat = isinstance(queued.request, ChatRequest)
        if free[0] == 0 and not is_chat and self._holds_chat and len(free) > 1:
            return free[1]
        if free[0] == 0:
            self._holds_chat = is_chat
        return free[0]

    def _may_begin(self, session: Session, queued: QueuedRequest, free_slots: list[int]) -> bool:
        """Whether a request may begin now, in parallel with the running answers."""
        if isinstance(queued.request, StateOrder):
            return not isinstance(queued.request, ForgetPast)  # running answers would store their text afterwards
        return bool(free_slots) and self._can_share(session, queued)

    def _fail(self, queued: QueuedRequest, problem: Problem, needed: int = 0, *, was_cancelled: bool = False) -> None:
        self._queue.remove(queued)
        event = failure_event(queued.request, problem)
        if event is None:
            log.error("%s failed: %s", type(queued.request).__name__, problem.message)
            return
        if isinstance(event, EngineFailed):
            event = replace(event, tokens_needed=needed, was_cancelled=was_cancelled)
        queued.on_event(event)

    def _next(self, session: Session) -> QueuedRequest | None:
        """Wait for a request; while idle, measure the costs of the loaded pair once."""
        if self._models.are_evicted(session):
            return self._queue.take()
        if session.needs_measuring and not self._queue.is_closed:
            try:
                return self._queue.take(IDLE_S)
            except queue.Empty:
                self._measure(session)
        return self._next_after_idle_work(session)

    def _measure(self, session: Session) -> None:
        if not self._queue.begin_idle():
            return
        try:
            session.measure(should_stop=lambda: self._queue.has_waiting or self._queue.is_closed)
        except Exception:  # there is no request whose event could report it
            log.exception("the costs could not be measured; depths stay fixed")
        finally:
            self._queue.end_idle()

    def _next_after_idle_work(self, session: Session) -> QueuedRequest | None:
        """Wait for a request; while idle, learn from past conversations in slices."""
        wait_s = IDLE_S
        while session.has_idle_work and not self._queue.is_closed:
            try:
                return self._queue.take(wait_s)
            except queue.Empty:
                wait_s = IDLE_SLICE_S
            try:
                session.use_idle_time(IDLE_SLICE_S)
            except Exception:  # retry only after the next request, since it would fail again at once
                log.exception("idle time could not be used")
                break
        return self._queue.take()

    def _execute(self, main: Session, session: Session, queued: QueuedRequest) -> None:
        request = queued.request
        if isinstance(request, SetDraft) or (isinstance(request, RunJob) and not request.background):
            self._models.restore(main, queued)
        match request:
            case ChatRequest():
                self._answer(main, session, queued, request)
            case RunJob():
                self._run_job(session, queued, request)
            case ForgetPast():
                self._forget_past(session)
            case ForgetState():
                session.states.forget(request.conversation_id)
            case SetStateLimit():
                session.states.set_limit(request.disk_bytes)
            case _:
                self._load(session, queued, request)

    def _answer(self, main: Session, session: Session, queued: QueuedRequest, request: ChatRequest) -> None:
        try:
            self._models.restore(main, queued)
        except LoadCancelledError:
            self._end_cancelled(queued, request)
            return
        for event in session.generate(request, lambda: queued.is_cancelled, lambda: queued.skips_summary):
            queued.on_event(event)

    def _run_job(self, session: Session, queued: QueuedRequest, request: RunJob) -> None:
        def on_event(event: Event) -> None:
            queued.on_event(replace(event, request_id=queued.number))  # type: ignore[arg-type]  # no job tells `EngineEnded`

        value = request.job.run(session, lambda: queued.is_cancelled, on_event, self._end_cancelled_requests)
        queued.on_event(JobEnded(value, request_id=queued.number))

    def _end_cancelled_requests(self) -> None:
        """End cancelled requests that wait, between two passes of others."""
        while (queued := self._queue.take_cancelled()) is not None:
            if isinstance(queued.request, ChatRequest):
                self._end_cancelled(queued, queued.request)
            elif isinstance(queued.request, ModelRequest):
                self._fail(queued, _cancelled(queued.request).problem, was_cancelled=True)

    def _end_cancelled(self, queued: QueuedRequest, request: ChatRequest) -> None:
        """End an answer that was cancelled before it began."""
        queued.on_event(Finished(queued.number, FinishReason.CANCELLED, RunStats(mode=request.mode)))

    def _forget_past(self, session: Session) -> None:
        try:
            session.forget_past()
        except OSError:  # memory is cleared, but the next start would read the file, so its path must be in the log
            log.exception("a file of what past conversations said could not be deleted")

    def _load(self, session: Session, queued: QueuedRequest, request: ModelRequest) -> None:
        """Load models until the request is cancelled."""
        session.is_load_cancelled = lambda: queued.is_cancelled
        if queued.is_cancelled:
            raise _cancelled(request)
        ready: EngineReady
        if isinstance(request, LoadRequest):
            ready = session.load(request, queued.on_progress)
            self._models.record_load(session)
        else:
            ready = session.set_draft(request.path, queued.on_progress)
            self._models.record_draft(request.path)
        queued.on_event(replace(ready, request_id=queued.number))


def _cancelled(request: ModelRequest) -> LoadCancelledError:
    path = request.target if isinstance(request, LoadRequest) else request.path
    return LoadCancelledError(i18n("Loading {path} was cancelled.", path=Path(path or "").name))


class LoadedModels:
    """The models that the user loaded, which a background job may have evicted."""

    def __init__(self) -> None:
        self._loaded: LoadRequest | None = None  # the session's load request
        self._wanted: LoadRequest | None = None  # the same request with the current draft

    def record_load(self, session: Session) -> None:
        self._loaded = self._wanted = session.request

    def record_draft(self, path: str | None) -> None:
        if self._wanted is not None:
            self._wanted = replace(self._wanted, draft=path)

    def are_evicted(self, session: Session) -> bool:
        """Whether the session has other models, or none, loaded instead."""
        if self._wanted is None:
            return False
        return not session.is_loaded or session.request not in (self._loaded, self._wanted)

    def restore(self, session: Session, queued: QueuedRequest) -> None:
        """Load the models again if evicted; of this load the request gets only `LoadProgress`.

        Raises:
            EngineError: the models cannot be loaded, or loading was cancelled; then no model is loaded.
        """
        wanted = self._wanted
        if wanted is None or not self.are_evicted(session):
            return
        queued.on_progress(wanted.target, 0.0)
        session.unload()  # the old and new models might not fit together
        session.is_load_cancelled = lambda: queued.is_cancelled
        session.load(wanted, queued.on_progress)
        self.record_load(session)


def probing_session(cache_dir: Path | None, sample: Path | None = None, *, keeps_chats: bool = True) -> Session:
    """Make a session in which a helper process first opens every new or changed file.

    A new build of llama.cpp is first tested with ``sample``, a small model, in a helper.

    Verdicts on files and costs are stored in ``cache_dir``, and with ``keeps_chats`` also text and caches of
    conversations.
    """
    # Imported on the engine's thread, since llama.cpp and NumPy would delay the window.
    from engine.sandbox.machine_check import file_inspector  # noqa: PLC0415
    from engine.sandbox.probe import probe_head, probe_side  # noqa: PLC0415
    from engine.session.session import Session  # noqa: PLC0415

    chats = cache_dir if keeps_chats else None
    return Session(
        file_inspector(cache_dir, sample),
        cache_dir,
        chats,
        None if chats is None else chats / STATES,
        partial(probe_head, cache_dir=cache_dir),
        partial(probe_side, cache_dir=cache_dir),
    )
