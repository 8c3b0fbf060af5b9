"""`paceline serve`: serves models over HTTP with OpenAI's API until Ctrl+C; one model is loaded at a time."""

import argparse
import contextlib
import logging
import os
import queue
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.cli.interrupts import ended_by_signals, stop_on_interrupt
from app.cli.layers import apply_layers
from app.cli.models.names import resolve_names
from app.cli.output import INTERRUPTED, notify, option_errors, print_notices
from app.cli.run import decoding_defaults, load_request
from app.core.domain.engines import is_this_machine
from app.core.domain.model_name import printable
from app.core.hub.library.library import open_library
from app.core.logs import RedactingFormatter
from app.core.paths import builtin_target, find_paths
from app.core.server.access import AllowedHosts
from app.core.server.api_key import find_key
from app.core.server.application import make_application
from app.core.server.engine_job import CallJob, EngineJob, unload
from app.core.server.library import LoadableModel, ModelSwitch
from app.core.server.listening import HttpServer, address_of, bind
from app.core.server.pictures import PictureSource
from app.core.server.protocol import ServedModel
from app.core.server.scheduler import Scheduler
from engine.embeddings import EmbeddingModel, Pooling
from engine.errors import EngineError, ModelLoadError
from engine.pictures.side_file import find_side_file
from engine.process.client import EngineClient
from engine.process.embedder import Embedder
from engine.records import EngineEnded, EngineFailed, EngineReady, Event, LoadRequest, Mode
from engine.requests import JobEnded, RunJob
from engine.session.worker import probing_session

ENGINE_EXIT_S = 10.0  # then the engine's process is killed
POLL_S = 0.02
CRASH_LOGGER = "engine.process.process"  # the logger that reports the engine's stderr after a crash


def command(options: argparse.Namespace) -> int:
    """Load the models in the engine's process, and serve them until Ctrl+C; returns the exit code (see `main`).

    Raises:
        EngineError: the models cannot be loaded.
    """
    library = LibraryModels(options)
    with option_errors("This cannot be served", "See paceline serve --help."):
        resolve_names(options)
        first = library.loadable(options, options.alias or "")
        embedder, key = _embedder(options), _key(options)
        listener = bind(options.host, options.port)
    make_session = partial(probing_session, find_paths().cache, builtin_target(), keeps_chats=False)
    is_serving = threading.Event()
    with listener, _errors_on_stderr():
        engine = EngineClient(partial(_report_crash, is_serving), make_session, formatter=RedactingFormatter())
        engine.start()
        try:
            ready = _load(engine, first.request)
            if ready is None:
                return INTERRUPTED
            print_notices(ready)
            if (options.draft and ready.draft is None) or (options.mmproj and not ready.target.has_vision):
                return 1
            if embedder is not None:
                notify(_embedding_notice(embedder.model()))
                embedder.close()  # the engine's process loads its own
            is_serving.set()
            library.begin(first, ready)
            return _serve(engine, library, listener, key, embedder, options)
        finally:
            engine.close(ENGINE_EXIT_S)


def _report_crash(is_serving: threading.Event, event: Event) -> None:
    if isinstance(event, EngineEnded) and is_serving.is_set():
        notify(f"the engine ended unexpectedly ({event.reason}); the next request starts it again")


def _load(engine: EngineClient, request: LoadRequest) -> EngineReady | None:
    """Load the models through the engine; None after Ctrl+C.

    Raises:
        EngineError: loading failed or crashed the engine.
    """
    job = RunJob(EngineJob(None, load=request))
    ended: queue.SimpleQueue[JobEnded | EngineFailed] = queue.SimpleQueue()
    with stop_on_interrupt() as interrupted:
        engine.submit(job, lambda event: ended.put(event) if isinstance(event, JobEnded | EngineFailed) else None)
        while ended.empty() and not interrupted.wait(POLL_S):
            pass
        if interrupted.is_set():
            engine.cancel(job.request_id)
        event = ended.get()
        if interrupted.is_set():
            return None
    if isinstance(event, EngineFailed):
        raise ModelLoadError(event.problem.message, event.problem.advice)
    if isinstance(event.value, EngineReady):
        return event.value
    raise event.value if isinstance(event.value, EngineError) else ModelLoadError("Nothing was loaded.")


def _embedder(options: argparse.Namespace) -> Embedder | None:
    """The embedding model that the options name; None without one.

    Raises:
        ValueError: the model does not make embeddings.
    """
    if options.embedding_model is None:
        return None
    return Embedder(Path(options.embedding_model), options.threads)


def _embedding_notice(model: EmbeddingModel) -> str:
    pooled = "a vector for each token" if model.pooling is Pooling.NONE else f"pooled: {model.pooling.value}"
    return f"{model.name} makes embeddings: {model.width} numbers ({pooled}) of up to {model.n_ctx:,} tokens"


def _key(options: argparse.Namespace) -> str:
    """The API key of the server; empty if it has none.

    Raises:
        ValueError: other machines could use the server without a key.
    """
    if options.no_key:
        if not is_this_machine(options.host.lower()):
            raise ValueError(f"--no-key is for this machine alone, and other machines can reach {options.host}.")
        return ""
    file = find_paths().api_key_file
    key, is_new = find_key(options.key, os.environ, file)
    if is_new:
        notify(f"a key was made for this server; it is in {file}")
    return key


class LibraryModels(ModelSwitch):
    """The library's models; each is loaded with the command's options."""

    def __init__(self, options: argparse.Namespace) -> None:
        """``options``: as given on the command line, before defaults are filled in."""
        super().__init__()
        self._options = argparse.Namespace(**vars(options))

    def others(self) -> list[str]:
        return [*self._known, *(model.name for model in open_library(find_paths()).models() if not model.missing)]

    def _find(self, name: str) -> LoadableModel | None:
        """The model of this name, with its paired draft; None if the library has no such model."""
        by_name = {model.name: model for model in open_library(find_paths()).models() if not model.missing}
        model = by_name.get(name)
        if model is None:
            return None
        draft = by_name.get(model.draft)
        options = argparse.Namespace(**vars(self._options))
        options.model, options.draft = str(model.path), None if draft is None else str(draft.path)
        options.mmproj = None  # --mmproj is for the model of the command line only
        if draft is None and options.mode == Mode.DRAFT:
            options.mode = None
        return self.loadable(options, name)

    def loadable(self, options: argparse.Namespace, name: str) -> LoadableModel:
        """The models of the options, by default also with the vision file beside the target.

        ``name``: for requests; if it is empty, the file's name is used.

        Raises:
            ValueError: an option is invalid.
        """
        apply_layers(options)
        defaults, system = decoding_defaults(options), options.system or ""
        pictures = PictureSource()

        def served(ready: EngineReady) -> ServedModel:
            shown = name or printable(Path(ready.target.path).stem)
            return ServedModel(shown, ready, defaults, system, pictures)

        request = load_request(options)
        found = find_side_file(Path(request.target)) if request.mmproj is None else None
        return LoadableModel(request if found is None else replace(request, mmproj=str(found)), served)


def _serve(
    engine: EngineClient,
    models: ModelSwitch,
    listener: socket.socket,
    key: str,
    embedder: Embedder | None,
    options: argparse.Namespace,
) -> int:
    """Serve until a signal raises an exception in this thread."""
    scheduler = Scheduler(engine, models, max_waiting=options.queue)
    hosts = AllowedHosts(options.host, frozenset(options.allow_host), frozenset(options.allow_origin))
    app = make_application(scheduler, key, hosts, embedder=embedder)
    with ended_by_signals(), _unload_when_idle(engine, scheduler, options.idle_unload):
        try:
            model = models.current()
            notify(f"{model.name}{_about(model.ready)}, at {address_of(listener)}/v1; Ctrl+C ends it")
            if not is_this_machine(options.host.lower()):
                notify(f"other machines can reach {options.host}, and the key is sent over the network unencrypted")
            HttpServer(app, scheduler.close).run([listener])
        finally:
            scheduler.close()
            engine.close(ENGINE_EXIT_S)  # a second Ctrl+C does not interrupt this
    return 0


def _about(ready: EngineReady) -> str:
    target, draft, head = ready.target, ready.draft, ready.own_head
    words = ", sees pictures" if target.has_vision else ""
    if draft is not None:
        words += f", drafted by {draft.name}"
    elif head is not None:
        words += f", drafted by its own head ({head.head_method})"
    return words + (f", up to {target.parallel} answers at once" if target.parallel > 1 else "")


@contextlib.contextmanager
def _unload_when_idle(engine: EngineClient, scheduler: Scheduler, minutes: float | None) -> Iterator[None]:
    """Unload the models after ``minutes`` without a request; the next request loads them again."""
    changed, is_over, seconds = threading.Event(), threading.Event(), 60.0 * (minutes or 0.0)

    def on_event(event: Event) -> None:
        if isinstance(event, JobEnded) and event.value:
            notify("the models are unloaded; the next request loads them again")

    def watch() -> None:
        while not is_over.is_set():
            if changed.wait(seconds):
                changed.clear()
            elif (activity := scheduler.activity).num_waiting == activity.num_running == 0:
                engine.submit(RunJob(CallJob(unload), background=True), on_event)

    if minutes is not None:
        scheduler.on_change = changed.set
        threading.Thread(target=watch, name="idle", daemon=True).start()
    try:
        yield
    finally:
        is_over.set()
        changed.set()


@contextlib.contextmanager
def _errors_on_stderr() -> Iterator[None]:
    """Log errors to stderr. Messages of unexpected exceptions are omitted, since they may quote a prompt."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(RedactingFormatter())
    handler.addFilter(lambda record: record.name != CRASH_LOGGER)  # `_report_crash` reports it
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
