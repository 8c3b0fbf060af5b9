"""The engine thread: requests in by a queue, events out by a callback on this thread.

The only calls that reach into a running answer are `cancel` and `skip_summary`; everything else waits its turn.
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
from engine.own_models import OwnModels
from engine.records import (
    ChatRequest,
    CountRequest,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadProgress,
    LoadRequest,
    Problem,
    RunStats,
)
from engine.request_queue import BACKGROUND, Asked, RequestQueue
from engine.requests import (
    ForgetPast,
    ForgetState,
    JobEnded,
    ModelRequest,
    OnEvent,
    Order,
    Request,
    RunJob,
    SetDraft,
    SetStateLimit,
    failure,
)
from engine.sentences import said
from engine.session.token_counter import TokenCounter

if TYPE_CHECKING:
    from engine.llama.interrupt import Interrupt
    from engine.session.session import Session

log = logging.getLogger(__name__)

STATES = "states"  # the folder of kept caches
BEGIN_S = 10.0  # the engine does not wait longer for what may never come
IDLE_S = 0.3  # nothing asked for this long: there is time to measure
AWAY_S = 60.0  # nothing asked for this long: the owner's models are brought back, where others are in their place
IDLE_SLICE_S = 0.02  # of work, and of rest after it: nobody waits longer than this, and the window has the processor
UNEXPECTED = Problem(
    "Something went wrong in the engine",
    "An unexpected error stopped this step; the log has the details.",
    "Try again; if it happens again, restart Paceline.",
)


class EngineWorker:
    """Implements `engine.requests.Engine` by one `Session` on a thread of its own."""

    def __init__(
        self, on_event: OnEvent, make_session: Callable[[], Session], begins: threading.Event | None = None
    ) -> None:
        """``make_session`` is called on the engine thread, which alone touches the session, once ``begins`` is set."""
        self._on_event = on_event
        self._make_session = make_session
        self._begins = begins
        self._interrupt: Interrupt | None = None  # ends the pass of what is cancelled, or one that is only measured
        self._queue = RequestQueue(self._end_pass, self._let_pass)
        self._counter = TokenCounter()
        self._own = OwnModels()
        self._holds_chat = False  # the first lane: a conversation of the window
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        """See `engine.requests.Engine`. A load ends jobs, and loads before it that no answer waits for."""
        self._queue.put(request, on_event or self._on_event)

    def cancel(self, number: int) -> None:
        """See `engine.requests.Engine`; what was loaded before a load that is cancelled stays usable."""
        self._queue.cancel(number)

    def skip_summary(self, number: int) -> None:
        """See `engine.requests.Engine`."""
        self._queue.skip_summary(number)

    def close(self, timeout_s: float) -> bool:
        """Cancel everything, free the models, end the thread; False if it did not end within ``timeout_s`` seconds."""
        self._queue.close()
        if self._begins is not None:
            self._begins.set()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _end_pass(self, request: Request | None) -> None:
        """Interrupt what may be in the middle of a pass; a load looks for itself whether it is cancelled."""
        if self._interrupt is not None and not isinstance(request, ModelRequest):
            self._interrupt.set()

    def _let_pass(self) -> None:
        if self._interrupt is not None:
            self._interrupt.clear()

    # ---- on the engine thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        if self._begins is not None:
            self._begins.wait(BEGIN_S)
        if self._queue.is_closed and not self._queue.has_to_forget:
            return  # the engine's libraries take seconds to load on a busy machine, and nothing can stop that
        try:
            session = self._make_session()
            self._interrupt = session.interrupt
        except Exception as error:  # whoever asks for something must not wait for ever
            log.exception("the engine could not be started")
            self._fail_all(error.problem if isinstance(error, EngineError) else UNEXPECTED)
            return
        while (asked := self._next(session)) is not None:
            if self._can_share(session, asked):
                self._run_beside(session, asked)
            else:
                self._carry_out(session, session, asked)
        session.close()

    def _carry_out(self, main: Session, session: Session, asked: Asked) -> None:
        """Do what is asked with ``session``, a lane of ``main``; whatever happens, its last event is told."""
        try:
            is_done = self._execute(main, session, asked)
        except EngineError as error:
            needed = error.num_tokens if isinstance(error, PromptTooLongError) else 0
            self._fail(asked, error.problem, needed, was_cancelled=isinstance(error, LoadCancelledError))
        except Exception:  # the thread must outlive every surprise, and the user must hear of it
            log.exception("unexpected error in the engine")
            self._fail(asked, UNEXPECTED)
        else:
            if is_done:
                self._queue.done(asked)
            else:
                self._queue.put_back(asked)

    # ---- answers side by side ---------------------------------------------------------------------------------------

    def _can_share(self, session: Session, asked: Asked) -> bool:
        """Whether it may run beside others of its kind: answers with what is loaded, where that can make several."""
        request = asked.request
        if session.parallel < 2 or self._own.are_away(session):
            return False
        return isinstance(request, ChatRequest) or (isinstance(request, RunJob) and request.shares)

    def _run_beside(self, session: Session, first: Asked) -> None:
        """Make an answer, and those that come meanwhile, as many at once as there are lanes, until all are done."""
        batcher, free = session.batcher, list(range(session.parallel))
        batcher.has_arrivals = lambda: self._queue.has_waiting
        try:
            session.prepare_lanes(lambda: first.is_cancelled)
            session.lane(session.parallel - 1)  # all are made at once, and nothing that starts below can fail then
        except Exception as error:  # as below: the thread must outlive every surprise
            log.exception("answers could not be made side by side")
            self._fail(first, error.problem if isinstance(error, EngineError) else UNEXPECTED)
            return

        def start(asked: Asked) -> None:
            number = self._choose_lane(asked, free)
            free.remove(number)
            lane = session.lane(number)

            def work() -> None:
                self._carry_out(session, lane, asked)
                lane.leave()
                free.append(number)
                free.sort()

            batcher.start(work, number, lambda: asked.is_cancelled)

        start(first)
        while len(batcher):
            batcher.step()
            self._between_steps(session)
            while len(batcher) and (asked := self._queue.take_beside(lambda one: self._may_begin(session, one, free))):
                if isinstance(asked.request, Order):
                    self._carry_out(session, session, asked)
                else:
                    start(asked)

    def _choose_lane(self, asked: Asked, free: list[int]) -> int:
        """Choose one of the free lanes: the first, whose cache stays, but for programs where it holds a chat's."""
        is_chat = isinstance(asked.request, ChatRequest)
        if free[0] == 0 and not is_chat and self._holds_chat and len(free) > 1:
            return free[1]
        if free[0] == 0:
            self._holds_chat = is_chat
        return free[0]

    def _may_begin(self, session: Session, asked: Asked, free_lanes: list[int]) -> bool:
        """Say whether something may begin now, beside the answers that run."""
        if isinstance(asked.request, Order):
            return not isinstance(asked.request, ForgetPast)  # what runs still learns, and is to be forgotten, too
        return bool(free_lanes) and session.batcher.has_room and self._can_share(session, asked)

    def _fail_all(self, problem: Problem) -> None:
        while (asked := self._queue.take()) is not None:
            self._fail(asked, problem)

    def _fail(self, asked: Asked, problem: Problem, needed: int = 0, *, was_cancelled: bool = False) -> None:
        self._queue.done(asked)
        event = failure(asked.request, problem)
        if event is None:
            log.error("%s failed: %s", type(asked.request).__name__, problem.message)
            return
        if isinstance(event, EngineFailed):
            event = replace(event, tokens_needed=needed, was_cancelled=was_cancelled)
        asked.on_event(event)

    def _next(self, session: Session) -> Asked | None:
        """Wait for a request; while there is none, measure what passes cost here, once for each loaded pair."""
        if self._own.are_away(session):
            return self._after_guests(session)
        if session.needs_measuring and not self._queue.is_closed:
            try:
                return self._queue.take(IDLE_S)
            except queue.Empty:
                self._measure(session)
        return self._after_idle_work(session)

    def _measure(self, session: Session) -> None:
        if not self._queue.begin_idle():
            return
        try:
            session.measure(should_stop=lambda: self._is_preempted(session))
        except Exception:  # nobody asked for it, so nobody is told; what is asked for is still answered
            log.exception("the costs could not be measured; depths stay fixed")
        finally:
            self._queue.end_idle()

    def _is_preempted(self, session: Session) -> bool:
        """Say whether a request waits for measuring to end; texts are counted between its passes."""
        while not self._queue.is_awaited() and self._count_slice(session):
            pass
        return self._queue.is_awaited(max_rank=BACKGROUND)

    def _after_idle_work(self, session: Session) -> Asked | None:
        """Wait for a request; while there is none, learn from past conversations, a little at a time."""
        wait_s = IDLE_S
        while session.has_idle_work and not self._queue.is_closed:
            try:
                return self._queue.take(wait_s)
            except queue.Empty:
                wait_s = IDLE_SLICE_S
            try:
                session.use_idle_time(IDLE_SLICE_S)
            except Exception:  # again after the next request: at once it would fail as before
                log.exception("idle time could not be used")
                break
        return self._queue.take()

    def _after_guests(self, session: Session) -> Asked | None:
        """Wait for a request; where none comes for a while, have the owner's models back in time for the next."""
        try:
            return self._queue.take(AWAY_S)
        except queue.Empty:
            try:
                self._own.bring_back(session, self._on_event, lambda: self._queue.is_awaited(max_rank=BACKGROUND))
            except EngineError as error:
                log.warning("the models in use could not be loaded again: %s", error.message)
        return self._queue.take()

    def _execute(self, main: Session, session: Session, asked: Asked) -> bool:
        """Do what is asked; False where some of it is left, and other requests may come first."""
        request = asked.request
        if isinstance(request, CountRequest | SetDraft) or (isinstance(request, RunJob) and not request.background):
            self._own.bring_back(main, asked.on_event, lambda: asked.is_cancelled, asked.number)
        match request:
            case CountRequest():
                self._count_slice(session)
                return False
            case ChatRequest():
                self._answer(main, session, asked, request)
            case RunJob():
                self._run_job(main, session, asked, request)
            case ForgetPast():
                self._forget_past(session)
            case ForgetState():
                session.states.forget(request.conversation_id)
            case SetStateLimit():
                session.states.set_limit(request.disk_bytes)
            case _:
                self._load(session, asked, request)
        return True

    def _answer(self, main: Session, session: Session, asked: Asked, request: ChatRequest) -> None:
        try:
            self._own.bring_back(main, asked.on_event, lambda: asked.is_cancelled, asked.number)
        except LoadCancelledError:
            self._end_unbegun(asked, request)
            return
        for event in session.generate(request, lambda: asked.is_cancelled, lambda: asked.skips_summary):
            asked.on_event(event)
            self._count_slice(main)

    def _run_job(self, main: Session, session: Session, asked: Asked, request: RunJob) -> None:
        def on_event(event: Event) -> None:
            asked.on_event(replace(event, request_id=asked.number))  # type: ignore[arg-type]  # no job tells `EngineEnded`

        value = request.job.run(session, lambda: asked.is_cancelled, on_event, lambda: self._between_steps(main))
        asked.on_event(JobEnded(value, request_id=asked.number))

    def _between_steps(self, session: Session) -> None:
        """Count texts in a job, and end what waits and was cancelled."""
        self._count_slice(session)
        while (asked := self._queue.take_cancelled()) is not None:
            if isinstance(asked.request, ChatRequest):
                self._end_unbegun(asked, asked.request)
            elif isinstance(asked.request, ModelRequest):
                self._fail(asked, _cancelled(asked.request).problem, was_cancelled=True)

    def _end_unbegun(self, asked: Asked, request: ChatRequest) -> None:
        """End an answer that was cancelled before it began."""
        asked.on_event(Finished(asked.number, FinishReason.CANCELLED, RunStats(mode=request.mode)))

    def _count_slice(self, session: Session) -> bool:
        """Count a slice of what is to be counted; False where there is nothing, or another vocabulary is loaded."""
        if self._own.are_away(session):
            return False
        asked = self._queue.first_count()
        if asked is None:
            return False
        assert isinstance(asked.request, CountRequest)  # noqa: S101  (for the type checker)
        try:
            counted = self._counter.work(asked.request, session.count_tokens)
        except Exception:  # an answer in the making must not end because of it
            log.exception("a text could not be counted")
            counted = self._counter.give_up(asked.request)
        if counted is not None:
            self._queue.done(asked)
            asked.on_event(counted)
        return True

    def _forget_past(self, session: Session) -> None:
        try:
            session.forget_past()
        except OSError:  # the memory is clean; the next start would read the file, so the log must say where it is
            log.exception("a file of what past conversations said could not be deleted")

    def _load(self, session: Session, asked: Asked, request: ModelRequest) -> None:
        """Load, for as long as it is wanted.

        Raises:
            EngineError: it failed, or was cancelled.
        """

        def on_progress(path: str, fraction: float) -> bool:
            asked.on_event(LoadProgress(path, fraction, asked.number))
            return not asked.is_cancelled

        session.is_load_cancelled = lambda: asked.is_cancelled
        if asked.is_cancelled:
            raise _cancelled(request)
        ready: EngineReady
        if isinstance(request, LoadRequest):
            ready = session.load(request, on_progress)
            self._own.note_loaded(session)
        else:
            ready = session.set_draft(request.path, on_progress)
            self._own.note_draft(request.path)
        asked.on_event(replace(ready, request_id=asked.number))


def _cancelled(request: ModelRequest) -> LoadCancelledError:
    path = request.target if isinstance(request, LoadRequest) else request.path
    return LoadCancelledError(said("Loading {path} was cancelled.", path=Path(path or "").name))


def probing_session(
    cache_dir: Path | None, sample: Path | None = None, past_folder: Path | None = None, *, keeps_chats: bool = True
) -> Session:
    """Make a session that has every new or changed file opened by a short-lived child process first.

    Before that, a new build of llama.cpp has to run ``sample``, a small model, in one.

    What was found of files and of costs is kept in ``cache_dir``. So are what conversations said and their caches
    unless not ``keeps_chats``; then what they said may be kept in ``past_folder``.
    """
    # Imported on the engine's thread: llama.cpp and NumPy take longer than a window may to appear.
    from engine.sandbox.machine_check import inspector  # noqa: PLC0415
    from engine.sandbox.probe import probe_head, probe_side  # noqa: PLC0415
    from engine.session.session import Session  # noqa: PLC0415

    chats = cache_dir if keeps_chats else None
    return Session(
        inspector(cache_dir, sample),
        cache_dir,
        chats or past_folder,
        None if chats is None else chats / STATES,
        partial(probe_head, cache_dir=cache_dir),
        partial(probe_side, cache_dir=cache_dir),
    )
