"""The engine here and those of others behind one interface: what is asked goes to the one whose model is in use.

Whoever asks for models counts on an answer to each command, in the order of the commands. So a command for one side
waits here for as long as the other still has one to answer.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.controllers.engine_bridge import MakeWorker, Worker
from app.domain.engines import is_remote
from app.domain.lazy import Lazy
from engine.records import (
    ChatRequest,
    CountRequest,
    EngineEnded,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    Problem,
    RunStats,
    TokensCounted,
)
from engine.session.worker import Job

if TYPE_CHECKING:  # a start waits for no engine of others
    from app.remote.worker import RemoteWorker

log = logging.getLogger(__name__)

MakeRemote = Callable[[Callable[[Event], None]], "RemoteWorker"]

CANCELLED = Problem("Loading was cancelled", "Another model was chosen.", "Load it again if you need it.")
NO_DRAFT = Problem(
    "No draft can be chosen for this model",
    "It runs in another program, which decides how it drafts.",
    "Choose a model on this computer to use a draft of your own.",
)
NO_RACE = Problem(
    "A race needs a model on this computer",
    "The model in use runs in another program, which decides how it drafts.",
    "Choose a model on this computer.",
)


@dataclass(slots=True)
class _Load:
    request: LoadRequest
    cancelled: bool = False

    @property
    def remote(self) -> bool:
        return is_remote(self.request.target)


@dataclass(slots=True)
class _SetDraft:
    path: str | None
    cancelled: bool = False
    remote = False


@dataclass(slots=True)
class _Generate:
    request: ChatRequest


_Command = _Load | _SetDraft | _Generate


class EngineRouter:
    """A `app.controllers.engine_bridge.Worker` in front of two. Every method may be called from any thread."""

    def __init__(self, on_event: Callable[[Event], None], make_local: MakeWorker, make_remote: MakeRemote) -> None:
        self._on_event = on_event
        self._lock = threading.RLock()
        self._local = make_local(lambda event: self._on_worker_event(event, remote=False))
        self._remote = Lazy(lambda: make_remote(lambda event: self._on_worker_event(event, remote=True)))
        self._uses_remote = False  # whose model is in use
        self._unanswered: deque[bool] = deque()  # loads and drafts that a side was asked for: the one of others?
        self._waiting: deque[_Command] = deque()

    @property
    def local(self) -> Worker:
        """The engine here."""
        return self._local

    def start(self) -> None:
        """Start the engine here."""
        self._local.start()

    # ---- models and answers ----------------------------------------------------------------------------------------

    def load(self, request: LoadRequest) -> None:
        """Load models here, or use one of an engine of others; ends what is being loaded on the other side."""
        command = _Load(request)
        with self._lock:
            if command.remote:
                self._local.stop_loading()
            elif self._remote.made:
                self._remote.made.stop_loading()
            self._waiting.append(command)
            self._pass_on()

    def set_draft(self, path: str | None) -> None:
        """Use another draft or none; a failure where the model in use is of an engine of others."""
        with self._lock:
            self._waiting.append(_SetDraft(path))
            self._pass_on()

    def stop_loading(self) -> None:
        """End every load asked for so far."""
        with self._lock:
            for command in self._waiting:
                if not isinstance(command, _Generate):
                    command.cancelled = True
            self._local.stop_loading()
            if self._remote.made:
                self._remote.made.stop_loading()
            self._pass_on()

    def generate(self, request: ChatRequest) -> None:
        """Make an answer with the model that is in use once what was asked for before is loaded."""
        with self._lock:
            self._waiting.append(_Generate(request))
            self._pass_on()

    def stop(self) -> None:
        """Stop every answer asked for so far."""
        with self._lock:
            stopped = [command for command in self._waiting if isinstance(command, _Generate)]
            self._waiting = deque(command for command in self._waiting if not isinstance(command, _Generate))
            for command in stopped:
                self._on_event(Finished(command.request.request_id, FinishReason.CANCELLED, RunStats()))
        self._local.stop()
        if self._remote.made:
            self._remote.made.stop()

    def _pass_on(self) -> None:
        """Give what waits to its side, as far as the order of the answers allows, with the lock held."""
        while self._waiting and self._is_next(self._waiting[0]):
            command = self._waiting.popleft()
            if isinstance(command, _Generate):
                self._give(command.request)
            elif command.cancelled:
                self._on_event(EngineFailed(CANCELLED, was_cancelled=True))
            elif isinstance(command, _SetDraft) and self._uses_remote and not self._unanswered:
                self._on_event(EngineFailed(NO_DRAFT))
            else:
                self._unanswered.append(command.remote)
                if isinstance(command, _SetDraft):
                    self._local.set_draft(command.path)
                elif command.remote:
                    self._remote().load(command.request.target)
                else:
                    self._local.load(command.request)

    def _is_next(self, command: _Command) -> bool:
        """Whether a command can go to its side now."""
        if not self._unanswered:
            return True
        if isinstance(command, _Generate):  # the engine here has its own order of loads and answers
            return not self._uses_remote and not any(self._unanswered)
        return not command.cancelled and all(side == command.remote for side in self._unanswered)

    def _give(self, request: ChatRequest) -> None:
        (self._remote() if self._uses_remote else self._local).generate(request)

    def _on_worker_event(self, event: Event, *, remote: bool) -> None:
        if isinstance(event, EngineEnded) and self._uses_remote:
            log.warning("the engine here ended (%s) while a model of another is in use", event.reason)
            with self._lock:
                if all(self._unanswered):  # nobody waits for the engine here
                    return
        answers = isinstance(event, EngineReady) or (isinstance(event, EngineFailed) and event.request_id == 0)
        if not answers:
            self._on_event(event)
            return
        with self._lock:
            if isinstance(event, EngineReady):
                self._uses_remote = remote
            self._on_event(event)
            if self._unanswered:
                self._unanswered.popleft()
            self._pass_on()

    # ---- what only the engine here has -----------------------------------------------------------------------------

    def count(self, request: CountRequest) -> None:
        """Count tokens; None where the model in use is of an engine of others, whose vocabulary is not known."""
        if self._uses_remote:
            self._on_event(TokensCounted(request.request_id, None))
        else:
            self._local.count(request)

    def run_job(self, job: Job, *, in_background: bool = False) -> None:
        """Do somebody's work on the thread of the engine here.

        A job that is not in the background fails where the model in use is of an engine of others.
        """
        if self._uses_remote and not in_background:
            if (event := job.failed(NO_RACE)) is not None:
                self._on_event(event)
        else:
            self._local.run_job(job, in_background=in_background)

    def stop_jobs(self) -> None:
        """Stop every job asked for so far."""
        self._local.stop_jobs()

    def forget_past(self) -> None:
        """Lose what was learnt from past conversations; answers nothing."""
        self._local.forget_past()

    def set_state_limit(self, disk_bytes: int) -> None:
        """Keep the caches of conversations here, with so many bytes on the disk; 0: none."""
        self._local.set_state_limit(disk_bytes)

    def forget_state(self, conversation_id: int) -> None:
        """Lose what is kept here of the cache of a conversation; answers nothing."""
        self._local.forget_state(conversation_id)

    def skip_summary(self) -> None:
        """Give up the summary that an answer is waiting for, not the answer."""
        self._local.skip_summary()

    def shutdown(self, timeout_s: float) -> bool:
        """End both threads; False if one did not end in time."""
        ended = self._remote.made is None or self._remote.made.shutdown(timeout_s)
        return self._local.shutdown(timeout_s) and ended
