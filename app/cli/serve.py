"""`paceline serve`: models over HTTP, one loaded at a time, with OpenAI's API, until Ctrl+C."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.cli.layers import apply_layers
from app.cli.models.names import resolve_names
from app.cli.output import INTERRUPTED, fail, fail_with, notify
from app.cli.run import decoding_defaults, load_models, load_request, open_session
from app.core.domain.errors import AppError
from app.core.domain.model_name import printable
from app.core.hub.opening import open_library
from app.core.logs import RedactingFormatter
from app.core.paths import find_paths
from app.core.server.access import AllowedHosts, is_loopback
from app.core.server.api_key import find_key
from app.core.server.application import make_application
from app.core.server.library import LoadableModel, ModelSwitch, UnloadTimer
from app.core.server.listening import HttpServer, address_of, bind, ended_by_signals
from app.core.server.metrics import Metrics
from app.core.server.pictures import PictureSource
from app.core.server.protocol import ServedModel
from app.core.server.scheduler import Scheduler
from engine.embeddings import EmbeddingModel, Pooling
from engine.errors import EngineError
from engine.llama.library import library_notices
from engine.pictures.side_file import find_side_file
from engine.process.embedder import Embedder
from engine.records import ChatRequest, EngineReady, LoadRequest, Mode, ModelInfo, Problem
from engine.requests import RunJob
from engine.session.session import Session
from engine.session.worker import EngineWorker

ENGINE_ENDS_S = 10.0


def command(options: argparse.Namespace) -> int:
    """Serve until Ctrl+C; the exit code as `main` says."""
    library = LibraryModels(options)
    try:
        resolve_names(options)
        apply_layers(options)
        defaults = decoding_defaults(options)
        pictures, embedder = _pictures(options.media_path), _embedder(options)
        key = _key(options)
        listener = bind(options.host, options.port)
    except AppError as error:
        return fail(error.problem)
    except ValueError as error:
        return fail(Problem("This cannot be served", str(error), "See paceline serve --help."))
    with listener, _errors_on_stderr():
        session = open_session()
        try:
            ready = load_models(session, _load_request(options), for_another_thread=True)
            if ready is None:
                return INTERRUPTED
            for notice in (*ready.notices, *library_notices()):
                notify(notice)
            if (options.draft and ready.draft is None) or (options.mmproj and not ready.target.sees):
                return 1
            system, name = options.system or "", options.alias or ""
            served = partial(_served, defaults=defaults, system=system, name=name, pictures=pictures)
            first = LoadableModel(_load_request(options), served)
            if embedder is not None:
                notify(_embedding_notice(embedder.model()))
            return _serve(session, ModelSwitch(first, ready, library), listener, key, embedder, options)
        except EngineError as error:
            return fail_with(error)
        finally:
            session.close()
            if embedder is not None:
                embedder.close()


def _embedder(options: argparse.Namespace) -> Embedder | None:
    """What makes embeddings; None where no model for that was named.

    Raises:
        ValueError: there is none to be pooled.
    """
    if options.embedding_model is None:
        if options.pooling:
            raise ValueError("--pooling is for the vectors of an --embedding-model, and none was named.")
        return None
    pooling = Pooling(options.pooling) if options.pooling else None
    return Embedder(Path(options.embedding_model), options.threads, pooling)


def _embedding_notice(model: EmbeddingModel) -> str:
    pooled = "a vector for each token" if model.pooling is Pooling.NONE else f"pooled: {model.pooling.value}"
    return f"{model.name} makes embeddings: {model.width} numbers ({pooled}) of up to {model.n_ctx:,} tokens"


def _key(options: argparse.Namespace) -> str:
    """The key that requests must show; empty for none.

    Raises:
        ValueError: other machines could ask without one.
    """
    if options.no_key:
        if not is_loopback(options.host):
            raise ValueError(f"--no-key is for this machine alone, and other machines can reach {options.host}.")
        return ""
    file = find_paths().api_key_file
    key, is_new = find_key(options.key, os.environ, file)
    if is_new:
        notify(f"a key was made for this server; it is in {file}")
    return key


def _served(
    ready: EngineReady, defaults: ChatRequest, system: str, name: str = "", pictures: PictureSource | None = None
) -> ServedModel:
    return ServedModel(name or printable(Path(ready.target.path).stem), ready, defaults, system, pictures)


def _pictures(media_path: str | None) -> PictureSource:
    """What reads the pictures of requests.

    Raises:
        ValueError: there is no such folder.
    """
    if media_path is not None and not Path(media_path).is_dir():
        raise ValueError(f"--media-path names a folder, and {media_path} is none.")
    return PictureSource(None if media_path is None else Path(media_path))


def _load_request(options: argparse.Namespace) -> LoadRequest:
    """As `run` loads, with the side file beside the model where none was named."""
    request = load_request(options)
    found = find_side_file(Path(request.target)) if request.mmproj is None else None
    return request if found is None else replace(request, mmproj=str(found))


class LibraryModels:
    """Implements `app.core.server.library.ModelLibrary`, with the options of the command for each model."""

    def __init__(self, options: argparse.Namespace) -> None:
        """``options`` as they were given, before anything was filled in."""
        self._options = argparse.Namespace(**vars(options))

    def names(self) -> list[str]:
        """The models whose files are there."""
        return [model.name for model in open_library(find_paths()).models() if not model.missing]

    def find(self, name: str) -> LoadableModel | None:
        """A model by its name, with the draft that it is paired with."""
        library = open_library(find_paths())
        by_name = {model.name: model for model in library.models() if not model.missing}
        model = by_name.get(name)
        if model is None:
            return None
        draft = by_name.get(model.draft)
        options = argparse.Namespace(**vars(self._options))
        options.model, options.draft = str(model.path), None if draft is None else str(draft.path)
        options.mmproj = None  # what was named is the first model's
        if draft is None and options.mode == Mode.DRAFT:
            options.mode = None
        apply_layers(options)
        defaults = decoding_defaults(options)
        pictures = _pictures(options.media_path)
        served = partial(_served, defaults=defaults, system=options.system or "", name=name, pictures=pictures)
        return LoadableModel(_load_request(options), served)


def _serve(
    session: Session,
    models: ModelSwitch,
    listener: socket.socket,
    key: str,
    embedder: Embedder | None,
    options: argparse.Namespace,
) -> int:
    """Answer requests. A signal ends it, as an exception of this thread."""
    metrics, worker = Metrics(), EngineWorker(lambda _event: None, lambda: session)
    scheduler = Scheduler(worker, options.queue)
    scheduler.on_answer, scheduler.on_pass = metrics.count_answer, metrics.count_pass
    scheduler.load_for, scheduler.on_loaded = models.load_for, models.note_loaded
    hosts = AllowedHosts(options.host, frozenset(options.allow_origin), frozenset(options.allow_host))
    log_line = notify if options.log_requests else None
    app = make_application(
        models, scheduler, metrics, key, hosts, strict=options.strict, embedder=embedder, log_line=log_line
    )
    worker.start()
    free = [session.unload, *([] if embedder is None else [embedder.close])]
    with ended_by_signals(), _unloading(session, free, worker, scheduler, options.idle_unload):
        try:
            model = models.current()
            sees = ", sees pictures" if model.ready.target.sees else ""
            about = f"{sees}{_drafted_by(model.ready)}{_at_once(model.ready.target)}"
            notify(f"{model.name}{about}, at {address_of(listener)}/v1; Ctrl+C ends it")
            if not is_loopback(options.host):
                notify(f"other machines can reach {options.host}, and the key goes over the network as it is")
            HttpServer(app, scheduler.close).run([listener])
        finally:
            scheduler.close()
            # What the session holds is freed next, which must not happen under a pass. A second Ctrl+C changes nothing.
            while not worker.close(ENGINE_ENDS_S):
                notify("waiting for the engine to end a pass")
    return 0


def _at_once(target: ModelInfo) -> str:
    return f", up to {target.parallel} answers at once" if target.parallel > 1 else ""


def _drafted_by(ready: EngineReady) -> str:
    if ready.draft is not None:
        return f", drafted by {ready.draft.name}"
    return "" if ready.own_head is None else f", drafted by its own head ({ready.own_head.head})"


@contextlib.contextmanager
def _unloading(
    session: Session, free: list[Callable[[], None]], worker: EngineWorker, scheduler: Scheduler, minutes: float | None
) -> Iterator[None]:
    """Unload the models after ``minutes`` without a request; the next request loads them again."""
    if minutes is None:
        yield
        return

    class Unload:
        """Implements `engine.requests.Job`."""

        def run(self, *_: object) -> None:
            activity = scheduler.activity
            if not activity.num_waiting and not activity.num_running and session.is_loaded:
                for each in free:
                    each()
                notify("the models are unloaded; the next request loads them again")

    timer = UnloadTimer(minutes * 60.0, lambda: worker.submit(RunJob(Unload(), background=True)))
    scheduler.on_change = timer.restart
    timer.restart()
    try:
        yield
    finally:
        scheduler.on_change = lambda: None
        timer.stop()


@contextlib.contextmanager
def _errors_on_stderr() -> Iterator[None]:
    """Show what goes wrong, without the messages of unknown exceptions, which may quote a prompt."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(RedactingFormatter())
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
