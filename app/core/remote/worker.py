"""The thread for remote servers. A load checks that the server has the model; an answer is streamed.

Its events are the same as the local engine's, so that receivers need not distinguish them.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from app.core.domain.engines import KIND_NAMES, RemoteModel, ServerRecord, split_remote
from app.core.remote.answer import RemoteAnswer
from app.core.remote.client import RemoteClient
from app.core.remote.detection import ReasoningMode, reasoning_modes
from app.core.remote.errors import ModelNotOfferedError, RemoteError
from app.core.remote.fitting import FittingAnswer
from app.core.remote.server_list import RemoteServerList
from engine.errors import LoadCancelledError, PacelineError
from engine.records import (
    FROM_MODEL,
    ChatRequest,
    EngineFailed,
    EngineReady,
    Finished,
    FinishReason,
    LoadRequest,
    Mode,
    ModelInfo,
    Problem,
    RunStats,
)
from engine.request_queue import QueuedRequest, RequestQueue
from engine.requests import OnEvent, Request
from engine.sentences import i18n

log = logging.getLogger(__name__)

UNEXPECTED = Problem(
    "Something went wrong with the remote server",
    "An unexpected error stopped this step; the log has the details.",
    "Try again; if it happens again, restart Paceline.",
)
DECIDED_BY_SERVER = i18n("The server decides how it drafts; its card under Models, Remote servers shows the details.")


@dataclass(frozen=True, slots=True)
class _SelectedModel:
    record: ServerRecord
    model: RemoteModel
    modes: tuple[ReasoningMode, ...] = ()


class RemoteWorker:
    """Implements `engine.requests.Engine` for loads and answers. Runs one answer at a time, in order."""

    def __init__(self, on_event: OnEvent, open_engines: Callable[[], RemoteServerList]) -> None:
        """``open_engines`` returns the list of servers; it is called on the worker's thread."""
        self._on_event = on_event
        self._open_engines = open_engines
        self._queue = RequestQueue(lambda _request: self._abort())
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._client: RemoteClient | None = None  # the client of the running request
        self._selected: _SelectedModel | None = None

    def start(self) -> None:
        """Does nothing: the thread starts with the first request, since most users have no remote server."""

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        """Queue a request. A load selects a model of a server."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="remote engine", daemon=True)
                self._thread.start()
        self._queue.put(request, on_event or self._on_event)

    def cancel(self, number: int) -> None:
        self._queue.cancel(number)

    def skip_summary(self, number: int) -> None: ...

    def close(self, timeout_s: float) -> bool:
        """End the thread; False if it does not end within ``timeout_s`` seconds."""
        self._queue.close()
        thread = self._thread
        if thread is None:
            return True
        thread.join(timeout_s)
        return not thread.is_alive()

    def _abort(self) -> None:
        client = self._client
        if client is not None:
            client.abort()

    # ---- on its thread ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while (queued := self._queue.take()) is not None:
            try:
                if isinstance(queued.request, ChatRequest):
                    self._answer(queued, queued.request)
                else:
                    assert isinstance(queued.request, LoadRequest)  # noqa: S101  (nothing else comes here)
                    self._load(queued, queued.request)
            except PacelineError as error:
                was_cancelled = isinstance(error, LoadCancelledError)
                queued.on_event(EngineFailed(error.problem, queued.number, was_cancelled=was_cancelled))
            except Exception:  # the thread must survive, and the error must be reported
                log.exception("unexpected error with an engine")
                queued.on_event(EngineFailed(UNEXPECTED, queued.number))
            finally:
                self._client = None
                self._queue.remove(queued)

    def _begin(self, queued: QueuedRequest, record: ServerRecord, engines: RemoteServerList) -> RemoteClient:
        client = self._client = engines.client(record)
        if queued.is_cancelled:
            client.abort()
        return client

    def _load(self, queued: QueuedRequest, request: LoadRequest) -> None:
        """Check that the server has the model.

        Raises:
            RemoteError: the server lacks the model or is unreachable.
            LoadCancelledError: the load was cancelled.
        """
        url, name = split_remote(request.target)
        engines = self._open_engines()
        try:
            if queued.is_cancelled:
                raise LoadCancelledError(i18n("Loading {path} was cancelled.", path=name))
            client = self._begin(queued, engines.find(url), engines)
            record = engines.refresh(url, client)
        except RemoteError:
            if queued.is_cancelled:
                raise LoadCancelledError(i18n("Loading {path} was cancelled.", path=name)) from None
            raise
        model = next((model for model in record.facts.models if model.name == name), None)
        if model is None:
            raise ModelNotOfferedError(i18n("{host} does not offer the model.", host=record.host))
        modes = reasoning_modes(client, record.facts.kind, model.name)
        self._selected = _SelectedModel(record, model, modes)
        unavailable: dict[Mode, str] = {mode: DECIDED_BY_SERVER for mode in Mode if mode is not Mode.OFF}
        info = ModelInfo(
            path=request.target,
            name=model.title,
            architecture=record.facts.title,
            num_params=0,  # sizes are unknown
            size_bytes=0,
            n_vocab=0,
            n_ctx=model.n_ctx,
            n_ctx_train=model.n_ctx,
            threads=0,
            gpu_layers=0,
            template_name=FROM_MODEL,
            engine_url=record.url,
            inexact_reason=i18n("The same question may get another answer: that depends on the remote server."),
            reasoning_start_tag=modes[0].option.reasoning_start_tag if modes else "",
            thinking=tuple(mode.option for mode in modes),
            has_vision=model.has_vision,
        )
        queued.on_event(EngineReady(info, unavailable=unavailable, request_id=queued.number))

    def _answer(self, queued: QueuedRequest, request: ChatRequest) -> None:
        """Run an answer.

        Raises:
            RemoteError: it failed, or broke off.
        """
        selected = self._selected
        if selected is None or queued.is_cancelled:
            queued.on_event(Finished(request.request_id, FinishReason.CANCELLED, RunStats()))
            return
        client = self._begin(queued, selected.record, self._open_engines())
        model, kind = selected.model, selected.record.facts.kind
        usual = [ReasoningMode(mode.option, {}) for mode in selected.modes[:1]]
        mode = next((mode for mode in selected.modes if mode.option.name == request.thinking), next(iter(usual), None))

        def answering(fitting: ChatRequest) -> RemoteAnswer:
            return RemoteAnswer(client, fitting, model.name, kind, model.n_ctx, mode)

        log.info("asking %s", KIND_NAMES[kind])
        for event in FittingAnswer(answering, request, model.n_ctx).events(lambda: queued.is_cancelled):
            queued.on_event(event)
