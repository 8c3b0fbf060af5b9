"""The thread that talks to engines of others: loading is asking whether a model is there, an answer is a stream.

Its events are those of the engine here, so whoever shows them need not know where they come from.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

from app.domain.engines import KIND_NAMES, EngineRecord, RemoteModel, split_remote
from app.remote.answer import RemoteAnswer
from app.remote.client import EngineClient
from app.remote.engines import Engines
from app.remote.errors import ModelGoneError, RemoteError, RemotePromptError
from app.remote.fitting import FittingAnswer
from app.remote.thinking import WayToThink, ways_to_think
from engine.errors import LoadCancelledError, PacelineError
from engine.records import (
    FROM_MODEL,
    ChatRequest,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    Mode,
    ModelInfo,
    Problem,
    RunStats,
    ThinkingOption,
)
from engine.sentences import said

log = logging.getLogger(__name__)

UNEXPECTED = Problem(
    "Something went wrong with the engine",
    "An unexpected error stopped this step; the log has the details.",
    "Try again; if it happens again, restart Paceline.",
)
NOT_HERE = said("The engine decides how it drafts; see the page Engines for what it tells.")


@dataclass(frozen=True, slots=True)
class _Load:
    path: str
    serial: int


@dataclass(frozen=True, slots=True)
class _Generate:
    request: ChatRequest
    serial: int


@dataclass(frozen=True, slots=True)
class _InUse:
    record: EngineRecord
    model: RemoteModel
    ways: tuple[WayToThink, ...] = ()


def model_info(
    record: EngineRecord, model: RemoteModel, path: str, thinking: tuple[ThinkingOption, ...] = ()
) -> ModelInfo:
    """What the window shows of a model that an engine of others has: its sizes are not known."""
    return ModelInfo(
        path=path,
        name=model.title,
        architecture=record.facts.title,
        num_params=0,
        size_bytes=0,
        n_vocab=0,
        n_ctx=model.n_ctx,
        n_ctx_train=model.n_ctx,
        threads=0,
        gpu_layers=0,
        template_name=FROM_MODEL,
        engine_url=record.url,
        opened_tag=thinking[0].opened_tag if thinking else "",
        thinking=thinking,
        sees=model.sees,
    )


class RemoteWorker:
    """Methods may be called from any thread and return at once. One answer at a time, in the order asked for."""

    def __init__(self, on_event: Callable[[Event], None], open_engines: Callable[[], Engines]) -> None:
        """``open_engines`` gives the list of engines; called on the worker's thread."""
        self._on_event = on_event
        self._open_engines = open_engines
        self._commands: queue.SimpleQueue[_Load | _Generate | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._num_loads = self._ended_through = 0
        self._num_answers = self._stopped_through = 0
        self._client: EngineClient | None = None  # of what runs
        self._runs: _Load | _Generate | None = None
        self._in_use: _InUse | None = None
        self._closing = False

    def load(self, path: str) -> None:
        """Use a model of an engine; answers with `EngineReady` or `EngineFailed`."""
        with self._lock:
            self._num_loads += 1
            self._put(_Load(path, self._num_loads))

    def generate(self, request: ChatRequest) -> None:
        """Make an answer with the model in use; ends with `Finished` or `EngineFailed`."""
        with self._lock:
            self._num_answers += 1
            self._put(_Generate(request, self._num_answers))

    def stop(self) -> None:
        """Stop every answer asked for so far."""
        with self._lock:
            self._stopped_through = self._num_answers
            client = self._client if isinstance(self._runs, _Generate) else None
        if client is not None:
            client.abort()

    def stop_loading(self) -> None:
        """End every load asked for so far."""
        with self._lock:
            self._ended_through = self._num_loads
            client = self._client if isinstance(self._runs, _Load) else None
        if client is not None:
            client.abort()

    def shutdown(self, timeout_s: float) -> bool:
        """End the thread; False if it did not end within ``timeout_s`` seconds."""
        self._closing = True
        self.stop()
        self.stop_loading()
        self._commands.put(None)
        thread = self._thread
        if thread is None:
            return True
        thread.join(timeout_s)
        return not thread.is_alive()

    def _put(self, command: _Load | _Generate) -> None:
        if self._thread is None:  # most people have no engine beside the one here
            self._thread = threading.Thread(target=self._run, name="remote engine", daemon=True)
            self._thread.start()
        self._commands.put(command)

    # ---- on its thread ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while (command := self._commands.get()) is not None:
            if self._closing:
                continue
            request_id = command.request.request_id if isinstance(command, _Generate) else 0
            try:
                if isinstance(command, _Load):
                    self._load(command)
                else:
                    self._answer(command)
            except RemotePromptError as error:
                self._on_event(EngineFailed(error.problem, request_id, error.num_tokens))
            except PacelineError as error:
                was_cancelled = isinstance(error, LoadCancelledError)
                self._on_event(EngineFailed(error.problem, request_id, was_cancelled=was_cancelled))
            except Exception:  # the thread must outlive every surprise, and the user must hear of it
                log.exception("unexpected error with an engine")
                self._on_event(EngineFailed(UNEXPECTED, request_id))
            finally:
                with self._lock:
                    self._client = self._runs = None

    def _begin(self, command: _Load | _Generate, record: EngineRecord, engines: Engines) -> EngineClient:
        client = engines.client(record)
        with self._lock:
            self._client, self._runs = client, command
        if self._is_ended(command):
            client.abort()
        return client

    def _is_ended(self, command: _Load | _Generate) -> bool:
        through = self._ended_through if isinstance(command, _Load) else self._stopped_through
        return self._closing or command.serial <= through

    def _load(self, command: _Load) -> None:
        """Ask the engine whether it has the model.

        Raises:
            RemoteError: it has not, or cannot be asked.
            LoadCancelledError: nobody waits for it any more.
        """
        url, name = split_remote(command.path)
        engines = self._open_engines()
        try:
            if self._is_ended(command):
                raise LoadCancelledError(said("Loading {path} was cancelled.", path=name))
            client = self._begin(command, engines.find(url), engines)
            record = engines.ask_again(url, client)
        except RemoteError:
            if self._is_ended(command):
                raise LoadCancelledError(said("Loading {path} was cancelled.", path=name)) from None
            raise
        model = next((model for model in record.facts.models if model.name == name), None)
        if model is None:
            raise ModelGoneError(said("{host} does not offer the model.", host=record.host))
        ways = ways_to_think(client, record.facts.kind, model.name)
        self._in_use = _InUse(record, model, ways)
        unavailable: dict[Mode, str] = {mode: NOT_HERE for mode in Mode if mode is not Mode.OFF}
        info = model_info(record, model, command.path, tuple(way.option for way in ways))
        self._on_event(EngineReady(info, unavailable=unavailable))

    def _answer(self, command: _Generate) -> None:
        """Make an answer.

        Raises:
            RemoteError: it cannot be made, or broke off.
        """
        request, used = command.request, self._in_use
        if used is None or self._is_ended(command):
            self._on_event(Finished(request.request_id, FinishReason.CANCELLED, RunStats()))
            return
        client = self._begin(command, used.record, self._open_engines())
        model, kind = used.model, used.record.facts.kind
        usual = [WayToThink(way.option, {}) for way in used.ways[:1]]
        way = next((way for way in used.ways if way.option.name == request.thinking), next(iter(usual), None))

        def answering(asked: ChatRequest) -> RemoteAnswer:
            return RemoteAnswer(client, asked, model.name, kind, model.n_ctx, way)

        log.info("asking %s", KIND_NAMES[kind])
        for event in FittingAnswer(answering, request, model.n_ctx).events(lambda: self._is_ended(command)):
            self._on_event(event)
