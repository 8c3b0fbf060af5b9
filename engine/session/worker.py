"""The engine thread: commands in by a queue, events out by a callback on this thread.

The only call that reaches into a running answer is `stop`; everything else waits its turn. Who else wants to use the
session, as a race or a local server does, gives a `Job` to `EngineWorker.run_job`.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from engine.errors import EngineError, LoadCancelledError, PromptTooLongError
from engine.records import (
    ChatRequest,
    CountRequest,
    EngineFailed,
    Event,
    Finished,
    FinishReason,
    LoadProgress,
    LoadRequest,
    Problem,
    RunStats,
)
from engine.sentences import said
from engine.session.own_models import OwnModels
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
OnEvent = Callable[[Event], None]
UNEXPECTED = Problem(
    "Something went wrong in the engine",
    "An unexpected error stopped this step; the log has the details.",
    "Try again; if it happens again, restart Paceline.",
)


class Job(Protocol):
    """Work that has the engine's thread, and what is loaded, to itself: a race, or a request of the local server."""

    def run(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> None:
        """Do it, until it is done or ``should_stop`` says so.

        ``between_steps`` is called where nothing is being timed: texts are counted then, and what waits and was given
        up is ended. What is made with ``session`` has to be closed again before this returns.
        """

    def failed(self, problem: Problem) -> Event | None:
        """It could not be done, or broke off; the event that says so to the window, None where that is not its."""


@dataclass(frozen=True, slots=True)
class FunctionJob:
    """Implements `Job` by a function of the session and ``between_steps``, for who tells nothing to the window."""

    function: Callable[[Session, Callable[[], None]], None]
    on_failure: Callable[[], None] = lambda: None

    def run(
        self, session: Session, _should_stop: Callable[[], bool], _on_event: OnEvent, between_steps: Callable[[], None]
    ) -> None:
        """Call the function."""
        self.function(session, between_steps)

    def failed(self, _problem: Problem) -> None:
        """Say so to who gave it."""
        self.on_failure()


@dataclass(frozen=True, slots=True)
class _Load:
    """Loads and drafts are numbered together; ``num_answers`` were asked for before it."""

    request: LoadRequest
    serial: int
    num_answers: int


@dataclass(frozen=True, slots=True)
class _SetDraft:
    path: str | None
    serial: int
    num_answers: int


@dataclass(frozen=True, slots=True)
class _Generate:
    request: ChatRequest
    serial: int


@dataclass(frozen=True, slots=True)
class _RunJob:
    """``serial`` numbers the jobs that `stop_jobs` ends; None in the background."""

    job: Job
    serial: int | None


@dataclass(frozen=True, slots=True)
class _ForgetPast:
    pass


@dataclass(frozen=True, slots=True)
class _SetStateLimit:
    disk_bytes: int


@dataclass(frozen=True, slots=True)
class _ForgetState:
    conversation_id: int


@dataclass(frozen=True, slots=True)
class _Count:
    """Texts wait in the `TokenCounter`."""


_Work = _Load | _SetDraft | _Generate | _RunJob | _ForgetPast | _SetStateLimit | _ForgetState | _Count
_Command = _Work | None  # None ends the thread
# Done though the app ends: what is to be forgotten would stay on the disk for good.
_FORGETTING = (_ForgetPast, _ForgetState, _SetStateLimit)


class EngineWorker:
    """Runs one `Session` on a thread of its own. All methods may be called from any thread and return at once."""

    def __init__(
        self, on_event: OnEvent, make_session: Callable[[], Session], begins: threading.Event | None = None
    ) -> None:
        """``make_session`` is called on the engine thread, which alone touches the session, once ``begins`` is set."""
        self._on_event = on_event
        self._make_session = make_session
        self._begins = begins
        self._commands: queue.SimpleQueue[_Command] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        # Answers are numbered as they are queued; a stop covers those queued before it, begun or not, and no later one.
        self._lock = threading.Lock()
        self._num_queued = 0
        self._stopped_through = self._skipped_through = 0
        self._num_loads = self._ended_through = 0  # loads and drafts; those that `stop_loading` ended
        self._loads: list[_Load] = []  # of targets, waiting or under way
        self._interrupt: Interrupt | None = None  # ends the pass of an answer that is stopped, or one that is measured
        self._measures = False  # in idle time
        self._num_jobs = self._jobs_ended_through = 0
        self._runs_job = False
        self._answers = False  # a request of `generate`, which `stop` is for
        self._closing = threading.Event()
        self._counts = TokenCounter()
        self._own = OwnModels(self._on_event, self._closing.is_set)
        self._dequeued: deque[_Command] = deque()  # out of the queue, to see what they are; theirs is the next turn

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def load(self, request: LoadRequest) -> None:
        """Load models; answers with `LoadProgress` and `EngineReady`, or `EngineFailed`.

        Loads before it that no answer waits for are ended, each with an `EngineFailed` that ``was_cancelled``; so are
        jobs, which use what is loaded.
        """
        with self._lock:
            self._end_jobs()
            self._num_loads += 1
            self._loads.append(_Load(request, self._num_loads, self._num_queued))
            self._enqueue(self._loads[-1])

    def set_draft(self, path: str | None) -> None:
        """Use another draft or none, and end jobs, which may use it; answers with `EngineReady` or `EngineFailed`."""
        with self._lock:
            self._end_jobs()
            self._num_loads += 1
            self._enqueue(_SetDraft(path, self._num_loads, self._num_queued))

    def stop_loading(self) -> None:
        """End every load asked for so far, as another one would: what was loaded before it stays usable."""
        with self._lock:
            self._ended_through = self._num_loads

    def generate(self, request: ChatRequest) -> None:
        """Make an answer; ends with `Finished` or `EngineFailed` of this request."""
        with self._lock:
            self._num_queued += 1
            self._enqueue(_Generate(request, self._num_queued))

    def run_job(self, job: Job, *, in_background: bool = False) -> None:
        """Do somebody's work on this thread; its events, and its end, are its own. Nothing is called after the end.

        One in the background comes once nothing else is to be done: what other methods ask for comes first, whenever
        it is asked for. Such jobs keep their order, and only the end of the thread stops one. It may load other models:
        those of the window are brought back before anything else is done with them.
        """
        with self._lock:
            if not in_background:
                self._num_jobs += 1
            self._enqueue(_RunJob(job, None if in_background else self._num_jobs))

    def stop_jobs(self) -> None:
        """Stop every job asked for so far that is not in the background, between two passes or in one."""
        with self._lock:
            self._end_jobs()

    def _end_jobs(self) -> None:
        self._jobs_ended_through = self._num_jobs
        if self._runs_job and self._interrupt is not None:
            self._interrupt.set()

    def forget_past(self) -> None:
        """Lose what was learnt from past conversations; answers nothing."""
        self._commands.put(_ForgetPast())

    def set_state_limit(self, disk_bytes: int) -> None:
        """Keep the caches of conversations, with at most so many bytes on the disk; 0 removes them all."""
        self._commands.put(_SetStateLimit(disk_bytes))

    def forget_state(self, conversation_id: int) -> None:
        """Lose what is kept of the cache of a conversation; answers nothing."""
        self._commands.put(_ForgetState(conversation_id))

    def count(self, request: CountRequest) -> None:
        """Count tokens, also between the steps of an answer; answers with `TokensCounted`."""
        self._counts.submit(request)
        self._commands.put(_Count())

    def stop(self) -> None:
        """Stop every answer asked for so far, between two passes or in one, and the loads that they wait for.

        Jobs go on.
        """
        with self._lock:
            self._stopped_through = self._num_queued
            if self._interrupt is not None and self._answers:
                self._interrupt.set()

    def skip_summary(self) -> None:
        """Give up the summary that an answer asked for so far is waiting for, not the answer."""
        with self._lock:
            self._skipped_through = self._num_queued

    def shutdown(self, timeout_s: float) -> bool:
        """Stop, free the models, end the thread; False if it did not end within ``timeout_s`` seconds."""
        self._closing.set()
        self.stop()
        self.stop_jobs()
        with self._lock:
            if self._interrupt is not None:
                self._interrupt.set()  # whatever runs
            self._enqueue(None)
        if self._begins is not None:
            self._begins.set()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _enqueue(self, command: _Command) -> None:
        """Queue what somebody waits for, with the lock held: a pass that is only measured ends for it."""
        self._commands.put(command)
        if self._interrupt is not None and self._measures:
            self._interrupt.set()

    # ---- on the engine thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        if self._begins is not None:
            self._begins.wait(BEGIN_S)
        if self._is_over():
            return
        try:
            session = self._make_session()
            self._interrupt = session.interrupt
        except Exception as error:  # whoever asks for something must not wait for ever
            log.exception("the engine could not be started")
            self._fail_all(error.problem if isinstance(error, EngineError) else UNEXPECTED)
            return
        while (command := self._next_command(session)) is not None:
            if self._closing.is_set() and not isinstance(command, _FORGETTING):
                continue
            try:
                self._execute(session, command)
            except EngineError as error:
                needed = error.num_tokens if isinstance(error, PromptTooLongError) else 0
                self._report_failure(command, error.problem, needed, isinstance(error, LoadCancelledError))
            except Exception:  # the thread must outlive every surprise, and the user must hear of it
                log.exception("unexpected error in the engine")
                self._report_failure(command, UNEXPECTED)
        session.close()

    def _is_over(self) -> bool:
        """Whether the app closes before there is an engine, and nothing is left to do that needs one.

        Its libraries take seconds to load on a busy machine, and nothing can stop that.
        """
        if not self._closing.is_set():
            return False
        self._has_other_commands()
        forgetting = [command for command in self._dequeued if isinstance(command, _FORGETTING)]
        # How much may be kept is said at every start; said once more, it was changed.
        return not forgetting or (len(forgetting) == 1 and isinstance(forgetting[0], _SetStateLimit))

    def _fail_all(self, problem: Problem) -> None:
        while (command := self._commands.get()) is not None:
            if not self._closing.is_set():
                self._report_failure(command, problem)

    def _report_failure(self, command: _Work, problem: Problem, needed: int = 0, was_cancelled: bool = False) -> None:
        """Answer a command that waits for an answer; what nobody waits for would be taken for another's."""
        if isinstance(command, _Load | _SetDraft | _Generate):
            self._on_event(EngineFailed(problem, _request_id(command), needed, was_cancelled))
        elif isinstance(command, _RunJob):
            if (event := command.job.failed(problem)) is not None:
                self._on_event(event)
        else:
            log.error("%s failed: %s", type(command).__name__, problem.message)

    def _next_command(self, session: Session) -> _Command:
        """Wait for a command; while there is none, measure what passes cost here, once for each loaded pair."""
        if session.needs_measuring and not self._own.are_away(session) and not self._closing.is_set():
            try:
                return self._take(IDLE_S)
            except queue.Empty:
                self._measure(session)
        return self._after_idle_work(session)

    def _measure(self, session: Session) -> None:
        with self._lock:
            if not self._commands.empty():
                return
            session.interrupt.clear()
            self._measures = True
        try:
            session.measure(should_stop=lambda: self._is_preempted(session))
        except Exception:  # nobody asked for it, so nobody is told; what is asked for is still answered
            log.exception("the costs could not be measured; depths stay fixed")
        finally:
            with self._lock:
                self._measures = False

    def _after_idle_work(self, session: Session) -> _Command:
        """Wait for a command; while there is none, learn from past conversations, a little at a time."""
        if self._own.are_away(session):
            return self._after_guests(session)
        wait_s = IDLE_S
        while session.has_idle_work and not self._closing.is_set():
            try:
                return self._take(wait_s)
            except queue.Empty:
                wait_s = IDLE_SLICE_S
            try:
                session.use_idle_time(IDLE_SLICE_S)
            except Exception:  # again after the next command: at once it would fail as before
                log.exception("idle time could not be used")
                break
        return self._take(None)

    def _after_guests(self, session: Session) -> _Command:
        """Wait for a command; where none comes for a while, have the owner's models back in time for the next."""
        try:
            return self._take(AWAY_S)
        except queue.Empty:
            self._own.try_to_bring_back(session, lambda: not self._commands.empty())
        return self._take(None)

    def _take(self, timeout_s: float | None) -> _Command:
        """The next command; None for the time: however long that takes.

        Raises:
            queue.Empty: there was none in so many seconds.
        """
        if not self._dequeued:
            self._dequeued.append(self._commands.get(timeout=timeout_s))
        self._empty_queue()
        at = next((at for at, command in enumerate(self._dequeued) if not _is_background(command)), 0)
        command = self._dequeued[at]
        del self._dequeued[at]
        return command

    def _empty_queue(self) -> None:
        while not self._commands.empty():
            self._dequeued.append(self._commands.get())

    def _is_preempted(self, session: Session) -> bool:
        """Whether a command waits for measuring to end; texts are counted between its passes."""
        self._count_all(session)
        return bool(self._dequeued)

    def _count_all(self, session: Session) -> None:
        """Count what there is to count, unless something else comes."""
        while (
            not (has_others := self._has_other_commands()) and self._counts.has_work and not self._own.are_away(session)
        ):
            self._count_slice(session)
        if has_others and self._counts.has_work:  # behind them; what was asked for only now brings its own command
            self._dequeued.append(_Count())

    def _has_other_commands(self) -> bool:
        """Empty the queue; whether something waits that is not behind counting. Counts go: the counter has a queue."""
        self._empty_queue()
        self._dequeued = deque(command for command in self._dequeued if not isinstance(command, _Count))
        return not all(map(_is_background, self._dequeued))

    def _execute(self, session: Session, command: _Work) -> None:
        if isinstance(command, _SetDraft | _Count) or (isinstance(command, _RunJob) and not _is_background(command)):
            self._own.bring_back(session)
        if isinstance(command, _Load | _SetDraft):
            self._load(session, command)
        elif isinstance(command, _ForgetPast):
            self._forget_past(session)
        elif isinstance(command, _SetStateLimit):
            session.states.set_limit(command.disk_bytes)
        elif isinstance(command, _ForgetState):
            session.states.forget(command.conversation_id)
        elif isinstance(command, _Count):
            self._count_all(session)
        elif isinstance(command, _RunJob):
            self._run_job(session, command)
        else:
            self._answer(session, command)

    def _answer(self, session: Session, command: _Generate) -> None:
        serial = command.serial
        stopped, skipped = lambda: serial <= self._stopped_through, lambda: serial <= self._skipped_through
        try:
            self._own.bring_back(session, stopped)
        except LoadCancelledError:
            self._end_unbegun(command)
            return
        with self._lock:
            if serial > self._stopped_through:
                session.interrupt.clear()
            self._answers = True
        try:
            for event in session.generate(command.request, stopped, skipped):
                self._on_event(event)
                self._count_slice(session)
        finally:
            with self._lock:
                self._answers = False

    def _between_steps(self, session: Session) -> None:
        """In a job: count texts, and end what waits and was given up."""
        self._count_slice(session)
        self._empty_queue()
        while (
            first := next((one for one in self._dequeued if not isinstance(one, _RunJob | _Count)), None)
        ) is not None:
            if isinstance(first, _Generate) and first.serial <= self._stopped_through:
                self._end_unbegun(first)
            elif isinstance(first, _Load | _SetDraft) and self._is_load_cancelled(first):
                self._report_failure(first, _cancelled(first).problem, was_cancelled=True)
                self._forget_load(first)
            else:
                return
            self._dequeued.remove(first)

    def _end_unbegun(self, command: _Generate) -> None:
        """End an answer that was stopped before it began."""
        request = command.request
        self._on_event(Finished(request.request_id, FinishReason.CANCELLED, RunStats(mode=request.mode)))

    def _run_job(self, session: Session, command: _RunJob) -> None:
        def is_over() -> bool:
            is_ended = command.serial is not None and command.serial <= self._jobs_ended_through
            return self._closing.is_set() or is_ended

        with self._lock:
            if not is_over():
                session.interrupt.clear()
            self._runs_job = command.serial is not None
        try:
            command.job.run(session, is_over, self._on_event, lambda: self._between_steps(session))
        finally:
            with self._lock:
                self._runs_job = False

    def _count_slice(self, session: Session) -> None:
        if self._own.are_away(session):
            return  # another vocabulary; it is counted once theirs is back
        try:
            counted = self._counts.work(session.count_tokens)
        except Exception:  # an answer in the making must not end because of it
            log.exception("a text could not be counted")
            counted = self._counts.fail_current()
        if counted is not None:
            self._on_event(counted)

    def _forget_past(self, session: Session) -> None:
        try:
            session.forget_past()
        except OSError:  # the memory is clean; the next start would read the file, so the log must say where it is
            log.exception("a file of what past conversations said could not be deleted")

    def _load(self, session: Session, command: _Load | _SetDraft) -> None:
        """Load, for as long as it is wanted.

        Raises:
            EngineError: it failed, or was given up.
        """

        def is_load_cancelled() -> bool:
            return self._is_load_cancelled(command)

        def on_progress(path: str, fraction: float) -> bool:
            self._on_event(LoadProgress(path, fraction))
            return not is_load_cancelled()

        session.is_load_cancelled = is_load_cancelled
        try:
            if is_load_cancelled():
                raise _cancelled(command)
            if isinstance(command, _Load):
                ready = session.load(command.request, on_progress)
                self._own.note_loaded(session)
            else:
                ready = session.set_draft(command.path, on_progress)
                self._own.note_draft(command.path)
            self._on_event(ready)
        finally:
            self._forget_load(command)

    def _forget_load(self, command: _Load | _SetDraft) -> None:
        with self._lock:
            self._loads = [load for load in self._loads if load is not command]

    def _is_load_cancelled(self, command: _Load | _SetDraft) -> bool:
        """Whether nobody wants a load any more.

        The app closes, it was ended, an answer that waited for it was stopped, or another target is to be loaded and no
        answer between the two needs this one.
        """
        if self._closing.is_set():
            return True
        with self._lock:
            if command.serial <= self._ended_through or command.num_answers < self._stopped_through:
                return True
            return any(load.serial > command.serial and load.num_answers == command.num_answers for load in self._loads)


def _is_background(command: _Command) -> bool:
    return isinstance(command, _RunJob) and command.serial is None


def _request_id(command: _Work) -> int:
    return command.request.request_id if isinstance(command, _Generate) else 0


def _cancelled(command: _Load | _SetDraft) -> LoadCancelledError:
    path = command.request.target if isinstance(command, _Load) else command.path
    return LoadCancelledError(said("Loading {path} was cancelled.", path=Path(path or "").name))


def probing_session(cache_dir: Path | None, sample: Path | None = None) -> Session:
    """Make a session that has every new or changed file opened by a short-lived child process first.

    Before that, a new build of llama.cpp has to run ``sample``, a small model, in one.

    What was found of files and of costs, what conversations said and their caches are kept in ``cache_dir``.
    """
    # Imported on the engine's thread: llama.cpp and NumPy take longer than a window may to appear.
    from engine.sandbox.head_probe import head_inspector  # noqa: PLC0415
    from engine.sandbox.kernel_check import inspector  # noqa: PLC0415
    from engine.sandbox.side_probe import side_inspector  # noqa: PLC0415
    from engine.session.session import Session  # noqa: PLC0415

    states = cache_dir / STATES if cache_dir is not None else None
    inspect, inspect_head, inspect_side = (
        inspector(cache_dir, sample),
        head_inspector(cache_dir),
        side_inspector(cache_dir),
    )
    return Session(inspect, cache_dir, cache_dir, states, inspect_head, inspect_side)
