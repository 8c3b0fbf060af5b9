"""The local engine and the remote servers as one `engine.requests.Engine`.

A request goes to the side whose model is in use. That is known once a load has ended, so a request waits here while the
other side is loading.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from app.controllers.engine_bridge import MakeWorker
from app.core.domain.engines import is_remote
from app.core.domain.lazy import Lazy
from engine.records import (
    ChatRequest,
    EngineEnded,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    Problem,
    RunStats,
)
from engine.requests import Engine, ModelRequest, OnEvent, Request, RunJob, SetDraft, failure_event

if TYPE_CHECKING:  # imported late, to start faster
    from app.core.remote.worker import RemoteWorker

log = logging.getLogger(__name__)

MakeRemote = Callable[[OnEvent], "RemoteWorker"]

CANCELLED = Problem("Loading was cancelled", "Another model was chosen.", "Load it again if you need it.")
LOAD_CANCELLED = EngineFailed(CANCELLED, was_cancelled=True)
NO_DRAFT = Problem(
    "No draft can be chosen for this model",
    "It runs in another program, which decides how it drafts.",
    "Choose a model on this computer to use a draft of your own.",
)
JOB_NEEDS_LOCAL_MODEL = Problem(
    "A race needs a model on this computer",
    "The model in use runs in another program, which decides how it drafts.",
    "Choose a model on this computer.",
)


class EngineRouter:
    """Implements `engine.requests.Engine` in front of the local and the remote engine."""

    def __init__(self, on_event: OnEvent, make_local: MakeWorker, make_remote: MakeRemote) -> None:
        self._on_event = on_event
        self._lock = threading.RLock()
        self._local = make_local(lambda event: self._on_engine_event(event, remote=False))
        self._remote = Lazy(lambda: make_remote(lambda event: self._on_engine_event(event, remote=True)))
        self._uses_remote = False  # True if a remote model is in use
        self._loading: dict[int, bool] = {}  # loads by request number; True if remote
        self._waiting: dict[int, ModelRequest | ChatRequest] = {}
        self._cancelled: set[int] = set()  # numbers of cancelled loads

    @property
    def local(self) -> Engine:
        return self._local

    def start(self) -> None:
        self._local.start()

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        """See `engine.requests.Engine`. A load cancels the load of the other side.

        With a remote model, drafts and foreground jobs fail.
        """
        if isinstance(request, ModelRequest | ChatRequest):
            with self._lock:
                if isinstance(request, LoadRequest):
                    other_side = not is_remote(request.target)
                    engine = self._remote.value if other_side else self._local
                    for number in [number for number, side in self._loading.items() if side == other_side]:
                        if engine is not None:
                            engine.cancel(number)
                self._waiting[request.request_id] = request
                self._forward()
        elif self._uses_remote and isinstance(request, RunJob) and not request.background:
            if (event := failure_event(request, JOB_NEEDS_LOCAL_MODEL)) is not None:
                (on_event or self._on_event)(event)
        else:
            self._local.submit(request, on_event)

    def cancel(self, number: int) -> None:
        """See `engine.requests.Engine`; a cancelled load that still waits here is reported when its turn comes."""
        with self._lock:
            waiting = self._waiting.get(number)
            if isinstance(waiting, ChatRequest):
                del self._waiting[number]
                self._on_event(Finished(number, FinishReason.CANCELLED, RunStats()))
            elif waiting is not None:
                self._cancelled.add(number)
                self._forward()
        if waiting is None:
            self._local.cancel(number)
            if self._remote.value:
                self._remote.value.cancel(number)

    def skip_summary(self, number: int) -> None:
        self._local.skip_summary(number)

    def close(self, timeout_s: float) -> bool:
        """Close both; False if one did not end in time."""
        ended = self._remote.value is None or self._remote.value.close(timeout_s)
        return self._local.close(timeout_s) and ended

    def _forward(self) -> None:
        """Forward the waiting requests that no load of the other side blocks. The caller holds the lock."""
        while self._waiting:
            number, request = next(iter(self._waiting.items()))
            if not self._is_next(request):
                return
            del self._waiting[number]
            if isinstance(request, ChatRequest):
                self._engine(remote=self._uses_remote).submit(request)
            elif number in self._cancelled:
                self._cancelled.discard(number)
                self._on_event(replace(LOAD_CANCELLED, request_id=number))
            elif isinstance(request, SetDraft) and self._uses_remote and not self._loading:
                self._on_event(EngineFailed(NO_DRAFT, number))
            else:
                self._loading[number] = _is_remote(request)
                self._engine(remote=_is_remote(request)).submit(request)

    def _engine(self, *, remote: bool) -> Engine:
        return self._remote() if remote else self._local

    def _is_next(self, request: ModelRequest | ChatRequest) -> bool:
        if not self._loading:
            return True
        if isinstance(request, ChatRequest):  # the local engine orders loads and answers itself
            return not self._uses_remote and not any(self._loading.values())
        is_cancelled = request.request_id in self._cancelled
        return not is_cancelled and all(side == _is_remote(request) for side in self._loading.values())

    def _on_engine_event(self, event: Event, *, remote: bool) -> None:
        if isinstance(event, EngineEnded):
            with self._lock:
                if self._uses_remote and all(self._loading.values()):  # no local answer is waiting
                    log.warning("the engine here ended (%s) while a model of another is in use", event.reason)
                    return
        if not isinstance(event, EngineReady | EngineFailed) or event.request_id not in self._loading:
            self._on_event(event)
            return
        with self._lock:
            if isinstance(event, EngineReady):
                self._uses_remote = remote
            self._on_event(event)
            self._loading.pop(event.request_id, None)
            self._forward()


def _is_remote(request: ModelRequest) -> bool:
    return isinstance(request, LoadRequest) and is_remote(request.target)
