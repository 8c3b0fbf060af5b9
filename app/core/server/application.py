"""The HTTP endpoints: health, models, chat and text completions, responses, embeddings, metrics."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from app.core.server.access import ENTRY, AccessControl, AllowedHosts
from app.core.server.answering import AnswerStream, cancel_on_disconnect, events_across_threads, respond
from app.core.server.anthropic.events import MessageBuilder
from app.core.server.anthropic.request import parse_messages_request
from app.core.server.embeddings import (
    Dialect,
    EmbeddingCall,
    EmbeddingSource,
    as_native,
    as_ollama,
    as_ollama_legacy,
    as_openai,
    as_ranked,
    no_embeddings_error,
    read_native,
    read_ollama,
    read_openai,
    read_rank,
)
from app.core.server.engine_job import SessionCall, SessionReply, unload
from app.core.server.errors import UNEXPECTED, ApiError, api_error, body_of
from app.core.server.fields import lenient, warnings_so_far
from app.core.server.library import ModelSwitch, NamedModels, file_of, no_such_model
from app.core.server.llama.events import CompletionBuilder
from app.core.server.llama.request import parse_infill_request, parse_native_request
from app.core.server.metrics import CONTENT_TYPE, Metrics
from app.core.server.ollama.events import LineBuilder, loaded
from app.core.server.ollama.request import (
    API_VERSION,
    is_load,
    list_models,
    name_of,
    parse_ollama_request,
    running,
    shown,
    wants_unload,
)
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request
from app.core.server.request_body import MAX_BODY_BYTES, MAX_BYTES_WITH_PICTURES, read_object
from app.core.server.request_log import RequestEntry
from app.core.server.response_events import ItemBuilder
from app.core.server.response_request import parse_response_request
from app.core.server.responses import AnswerBuilder, ResponseBuilder
from app.core.server.scheduler import JobEvent, Scheduler
from app.core.server.tokens import (
    BodyReader,
    read_count,
    read_detokenize,
    read_openai_count,
    read_template,
    read_tokenize,
)
from engine.errors import EngineError, GrammarError
from engine.pictures.side_file import find_side_file
from engine.records import ModelInfo
from engine.sandbox.grammar_check import check_grammar

_VERSION = "/v1"
MODELS, HEALTH, METRICS, RESPONSES = "/v1/models", "/health", "/metrics", "/v1/responses"
_BARE_COMPLETIONS, _BARE_EMBEDDINGS = "/completions", "/embeddings"
log = logging.getLogger(__name__)
CurrentModel = Callable[[], ServedModel]  # raises `ApiError` if no model is loaded
Read = Callable[[dict[str, object], ServedModel], tuple[CompletionRequest, AnswerBuilder]]
MAX_WARNINGS_LOGGED = 1000  # maximum number of different logged warnings
LOAD_WAIT_S = 300.0  # time limit for loading the model that a request names, including the wait for earlier requests


def _form(parse: Callable[..., Any], build: Callable[..., AnswerBuilder], **kind: bool) -> Read:
    """Combine a parser of requests and a builder of answers for one path."""

    def read(body: dict[str, object], model: ServedModel) -> tuple[CompletionRequest, AnswerBuilder]:
        made = parse(body, model, **kind)
        return made if isinstance(made, CompletionRequest) else made.asked, build(model.name, made)

    return read


_TEXT = _form(parse_request, ResponseBuilder, chat=False)
_NATIVE = _form(parse_native_request, CompletionBuilder)
# Each path also works without its version. `_READERS` are answered with text, `_SESSION_VALUES` with a session's value.
_READERS = {
    "/v1/chat/completions": _form(parse_request, ResponseBuilder, chat=True),
    RESPONSES: _form(parse_response_request, ItemBuilder),
    "/v1/messages": _form(parse_messages_request, MessageBuilder),
    "/v1/completion": _NATIVE,
    "/v1/infill": _form(parse_infill_request, CompletionBuilder),
}
_SESSION_VALUES: dict[str, BodyReader] = {
    "/v1/chat/completions/input_tokens": partial(read_openai_count, chat=True),
    f"{RESPONSES}/input_tokens": partial(read_openai_count, chat=False),
    "/v1/messages/count_tokens": read_count,
    "/v1/tokenize": read_tokenize,
    "/v1/detokenize": read_detokenize,
    "/v1/apply-template": read_template,
}
_NATIVE_EMBEDDINGS = (read_native, as_native)
_EMBEDDING_DIALECTS: dict[str, Dialect] = {
    "/v1/embedding": _NATIVE_EMBEDDINGS,
    "/v1/rerank": (read_rank, as_ranked),
    "/v1/reranking": (read_rank, as_ranked),
    "/api/embed": (read_ollama, as_ollama),
    "/api/embeddings": (read_ollama, as_ollama_legacy),
}
# Paths, and the methods that handle them.
_BY_PATH = {"/v1/completions": "completions", "/v1/embeddings": "embeddings", "/api/show": "api_show"}
_OLLAMA_PATHS = {"/api/chat": True, "/api/generate": False}  # True for a chat
_MODEL = f"{MODELS}/{{name:path}}"
_GET_HANDLERS = {
    "/": "root",
    HEALTH: "health",
    METRICS: "metrics",
    MODELS: "models",
    _MODEL: "model",
    "/api/version": "api_version",
    "/api/tags": "api_tags",
    "/api/ps": "api_ps",
}
ENDPOINTS = frozenset(
    {*_READERS, *_SESSION_VALUES, *_EMBEDDING_DIALECTS, *_OLLAMA_PATHS, *_BY_PATH, *_GET_HANDLERS} - {_MODEL, "/"}
)


def make_application(  # noqa: PLR0913  (what a server is made of)
    models: CurrentModel | NamedModels,
    scheduler: Scheduler,
    metrics: Metrics,
    key: str,
    hosts: AllowedHosts,
    *,
    strict: bool = False,
    embedder: EmbeddingSource | None = None,
    log_line: Callable[[str], None] | None = None,
) -> ASGIApp:
    """Make the ASGI application; `AccessControl` checks every request first.

    ``models`` returns the loaded model, or also loads models that requests name. ``strict``: unknown fields and model
    names are errors. ``embedder`` None: no embeddings. ``log_line`` gets a line for each finished request.
    """
    endpoints = Endpoints(models, scheduler, metrics, embedder, strict=strict)
    got = {path: getattr(endpoints, name) for path, name in _GET_HANDLERS.items()}
    routes = [
        Route(own, endpoint, methods=[method])
        for method, answering in (("GET", got), ("POST", endpoints.posted()))
        for path, endpoint in answering.items()
        for own in {path, path.removeprefix(_VERSION)}  # many programs omit the version
    ]
    handlers = {ApiError: _on_api_error, HTTPException: _on_http_error, Exception: _on_unexpected}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False

    def count(path: str, status: int) -> None:
        metrics.count_request(_endpoint(path), status)

    guarded = AccessControl(app, key, hosts, count, metrics.requests, log_line)
    if not hosts.origins:
        return guarded
    return CORSMiddleware(guarded, sorted(hosts.origins), allow_methods=["GET", "POST"], allow_headers=["*"])


def _endpoint(path: str) -> str:
    """The path for counting requests; ``other`` for unknown paths."""
    return next((known for known in (path, _VERSION + path) if known in ENDPOINTS), "other")


class Endpoints:
    def __init__(
        self,
        models: CurrentModel | NamedModels,
        scheduler: Scheduler,
        metrics: Metrics,
        embedder: EmbeddingSource | None,
        *,
        strict: bool,
    ) -> None:
        self._embedder = embedder
        self._is_strict = strict
        self._warned: set[str] = set()  # warnings that were already logged
        self._paths: dict[str, str] = {}  # files of models that are not loaded, by name
        self._unloaded: ServedModel | None = None  # the current model if a request unloaded it; else None
        self._switch = None if callable(models) else models
        self._current = models if callable(models) else models.current
        self._scheduler = scheduler
        self._metrics = metrics

    def posted(self) -> dict[str, Callable[[Request], Awaitable[Response]]]:
        """The handlers of POST requests, by path."""
        return {
            **{path: partial(self._answer, read=read) for path, read in _READERS.items()},
            **{path: partial(self._answer_value, read=read) for path, read in _SESSION_VALUES.items()},
            **{path: getattr(self, name) for path, name in _BY_PATH.items()},
            **{path: partial(self._embed, dialect=dialect) for path, dialect in _EMBEDDING_DIALECTS.items()},
            **{path: partial(self._answer_ollama, chat=chat) for path, chat in _OLLAMA_PATHS.items()},
        }

    async def health(self, _request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def root(self, _request: Request) -> Response:
        """Some programs check this path before their first request."""
        return PlainTextResponse("Paceline is running")

    async def models(self, _request: Request) -> Response:
        """The loaded model with its draft, and the names of other models; without file paths."""
        return JSONResponse({"object": "list", "data": await self._listed()})

    async def model(self, request: Request) -> Response:
        listed = await self._listed()
        found = next((one for one in listed if one["id"] == request.path_params["name"]), None)
        if found is None:
            raise no_such_model(str(listed[0]["id"]))
        return JSONResponse(found)

    async def _listed(self) -> list[dict[str, object]]:
        model = self._current()
        ready = model.ready
        facts = {
            "meta": _facts(ready.target),
            "draft": None if ready.draft is None else {"name": ready.draft.name, "meta": _facts(ready.draft)},
        }
        loaded: dict[str, object] = {
            "type": "vlm" if ready.target.has_vision else "llm",
            "state": self._state_of(model),
        }
        listed = [{**_model_entry(model.name, ready.target.path), **loaded, **facts}]
        if self._switch is not None:
            listed += await asyncio.to_thread(_other_models, model.name, self._switch, self._paths)
        if self._embedder is not None:
            name = (await asyncio.to_thread(self._embedder.model)).name
            listed.append({**_model_entry(name, ""), "type": "embeddings", "state": "loaded"})
        return listed

    def _state_of(self, model: ServedModel) -> str:
        return "not-loaded" if model is self._unloaded else "loaded"

    async def metrics(self, _request: Request) -> Response:
        activity = self._scheduler.activity
        text = self._metrics.render(activity)
        return PlainTextResponse(text, headers={"Content-Type": CONTENT_TYPE})

    async def completions(self, request: Request) -> Response:
        """Text completions of OpenAI's API.

        llama.cpp's own format is used if the path has no version and the request has no model name, which OpenAI's API
        requires.
        """
        body = await self._body(request)
        is_native = request.url.path == _BARE_COMPLETIONS and "model" not in body
        return await self._answer(request, _NATIVE if is_native else _TEXT, body)

    async def embeddings(self, request: Request) -> Response:
        """OpenAI's embeddings; llama.cpp's format if the path has no version and no model is named."""
        body = await read_object(request)
        is_native = request.url.path == _BARE_EMBEDDINGS and "model" not in body
        return await self._embed(request, _NATIVE_EMBEDDINGS if is_native else (read_openai, as_openai), body)

    async def _embed(self, request: Request, dialect: Dialect, body: dict[str, object] | None = None) -> Response:
        embedder, (read, tell) = self._embedder, dialect
        body = await read_object(request) if body is None else body
        if embedder is None:
            raise no_embeddings_error()
        try:
            model = await asyncio.to_thread(embedder.model)
        except EngineError as error:
            raise api_error(error, "model") from error
        with self._reading():
            asked = read(body, model)
            self._report(warnings_so_far())
        call = EmbeddingCall(asked, embedder, partial(tell, asked, model.name))
        return await self._run_call(request, "", call)

    async def api_version(self, _request: Request) -> Response:
        return JSONResponse({"version": API_VERSION})

    async def api_tags(self, _request: Request) -> Response:
        paths = {str(one["id"]): self._paths.get(str(one["id"]), "") for one in await self._listed()}
        return JSONResponse(await asyncio.to_thread(list_models, self._current(), paths))

    async def api_ps(self, _request: Request) -> Response:
        model = self._current()
        is_loaded = self._state_of(model) == "loaded"
        return JSONResponse(await asyncio.to_thread(running, model) if is_loaded else {"models": []})

    async def api_show(self, request: Request) -> Response:
        """Facts of a model; if no model is loaded, it is loaded first."""
        name = name_of(await read_object(request))
        model = await self._named(name)
        if name not in (None, model.name):
            raise no_such_model(model.name)
        return JSONResponse(await asyncio.to_thread(shown, model))

    async def _answer_ollama(self, request: Request, *, chat: bool) -> Response:
        body = await self._body(request)
        if is_load(body, chat=chat):
            if not wants_unload(body):
                model = await self._named(name_of(body))
                return JSONResponse(loaded(model.name, chat=chat))
            name = name_of(body) or self._current().name
            self._unload(name)
            return JSONResponse(loaded(str(name), chat=chat, reason="unload"))
        read = _form(parse_ollama_request, partial(LineBuilder, chat=chat), chat=chat)
        response = await self._answer(request, read, {**body, "model": name_of(body)})
        if wants_unload(body):
            self._unload(name_of(body))
        return response

    def _unload(self, name: object) -> None:
        """Unload the model if it has this name, after the running answers; the next request loads it again."""
        model = self._current()

        def note(event: JobEvent) -> None:
            if isinstance(event, SessionReply):
                self._unloaded = model

        if isinstance(self._switch, ModelSwitch) and name in (None, model.name):  # the window's models are not unloaded
            self._scheduler.submit(None, note, "", unload)

    async def _answer_value(self, request: Request, read: BodyReader) -> Response:
        """Queue a request whose result the session computes, and answer with the result."""
        body = await read_object(request)
        model = await self._named(body.get("model"))
        with self._reading():
            call = read(body, model)
            self._report(warnings_so_far())
        return await self._run_call(request, model.ready.target.path, call, model.name)

    async def _run_call(self, request: Request, target: str, call: SessionCall, name: str = "") -> Response:
        """Queue ``call`` as a request, and answer with its result."""
        entry: RequestEntry = request.scope[ENTRY]
        events, post = events_across_threads(entry.note_event)
        entry.note_queued(name)
        program = _program_of(request)
        job = self._scheduler.submit(None, post, target, call, on_turn=entry.note_turn, program=program)
        try:
            reply = await cancel_on_disconnect(request, events.get())
        finally:
            self._scheduler.cancel(job)
        if isinstance(reply, ApiError):
            raise reply
        assert isinstance(reply, SessionReply)  # noqa: S101  (nothing else comes)
        return JSONResponse(reply.value)

    def _reading(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if self._is_strict else lenient()

    def _report(self, warnings: Iterable[str]) -> None:
        """Log each warning once."""
        for warning in warnings:
            if warning not in self._warned and len(self._warned) < MAX_WARNINGS_LOGGED:
                self._warned.add(warning)
                log.info("a request: %s", warning)

    async def _body(self, request: Request) -> dict[str, object]:
        return await read_object(request, MAX_BYTES_WITH_PICTURES if self._current().picture_source else MAX_BODY_BYTES)

    async def _read(self, body: dict[str, object], read: Read) -> tuple[CompletionRequest, AnswerBuilder, ServedModel]:
        model = await self._named(body.get("model"))
        with self._reading():
            if model.picture_source is None:
                asked, builder = read(body, model)
            else:  # on a thread: decoding pictures takes time
                asked, builder = await asyncio.to_thread(read, body, model)
        self._report(asked.warnings)
        return asked, builder, model

    async def _answer(self, request: Request, read: Read, body: dict[str, object] | None = None) -> Response:
        """Answer a request. ``body``: if it was already read."""
        asked, builder, model = await self._read(await self._body(request) if body is None else body, read)
        if asked.is_grammar_typed:
            await asyncio.to_thread(_check_grammar, asked.request.grammar)
        entry: RequestEntry = request.scope[ENTRY]
        entry.note_queued(model.name)
        events, post = events_across_threads(entry.note_event)
        program, target = _program_of(request), model.ready.target.path
        job = self._scheduler.submit(
            asked.request, post, target, more=asked.more, on_turn=entry.note_turn, program=program
        )
        is_handed_on = False
        try:
            response = await cancel_on_disconnect(request, respond(asked, builder, events))
            if isinstance(response, AnswerStream):
                response.on_end = lambda: self._scheduler.cancel(job)
                is_handed_on = True
            return response
        finally:
            if not is_handed_on:
                self._scheduler.cancel(job)

    async def _named(self, name: object) -> ServedModel:
        """The model that a request names; a model that was never loaded is loaded first.

        Raises:
            ApiError: no model has this name, it cannot be loaded, or loading takes too long.
        """
        model = self._current()
        if self._switch is None or not isinstance(name, str) or name == model.name:
            return model
        known = self._switch.known(name)
        if known is not None:
            return known
        try:
            target = await asyncio.to_thread(self._switch.find, name)
        except ApiError:
            if self._is_strict:
                raise
            return model
        events, post = events_across_threads()
        job = self._scheduler.submit(None, post, target)
        try:
            async with asyncio.timeout(LOAD_WAIT_S):
                event = await events.get()
        except TimeoutError as error:
            message = f"The model could not be loaded within {LOAD_WAIT_S:.0f} seconds. Try again."
            raise ApiError(503, message, code="model_loading", headers={"Retry-After": "60"}) from error
        finally:
            self._scheduler.cancel(job)
        if isinstance(event, ApiError):
            raise event
        return self._switch.known(name) or self._current()


def _other_models(own: str, models: NamedModels, paths: dict[str, str]) -> list[dict[str, object]]:
    """List all models except ``own``; reads the disk. ``paths`` caches their files."""
    listed = list[dict[str, object]]()
    for name in models.names():
        with contextlib.suppress(ApiError):
            path = paths[name] if name in paths else paths.setdefault(name, models.find(name))
            if name != own:
                kind = "vlm" if find_side_file(Path(path)) is not None else "llm"
                listed.append({**_model_entry(name, path), "type": kind, "state": "not-loaded"})
    return listed


def _model_entry(name: str, path: str) -> dict[str, object]:
    file = file_of(path)
    created = 0 if file is None else int(file.modified)
    return {"id": name, "object": "model", "created": created, "owned_by": "paceline"}


def _program_of(request: Request) -> str:
    """A client's identity, by program and address; the scheduler alternates between clients."""
    entry: RequestEntry = request.scope[ENTRY]
    return f"{request.client.host if request.client is not None else ''} {entry.row.program}"


def _check_grammar(text: str) -> None:
    try:
        check_grammar(text)
    except GrammarError as error:
        text = f"{error.message} {error.advice}".strip()
        raise ApiError(400, text, param="grammar", code="invalid_value") from error


def _facts(info: ModelInfo) -> dict[str, object]:
    """Facts of a model, with the names of llama.cpp's server."""
    return {
        "n_vocab": info.n_vocab,
        "n_ctx": info.n_ctx,
        "n_ctx_train": info.n_ctx_train,
        "n_params": info.num_params,
        "size": info.size_bytes,
    }


async def _on_api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)  # noqa: S101  (for the type checker)
    if error.param == "messages" and request.url.path.removeprefix(_VERSION) == RESPONSES.removeprefix(_VERSION):
        error = ApiError(error.status, error.message, param="input", code=error.code)  # the field's name in this API
    return JSONResponse(body_of(error, request.url.path), error.status, error.headers)


def _no_such_path(path: str) -> str:
    if path.startswith(f"{RESPONSES}/"):
        return "No answers are kept here: there is nothing to look up, to cancel or to delete."
    return f"There is no such path here; this server has {', '.join(sorted(ENDPOINTS))}."


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  (for the type checker)
    message = _no_such_path(request.url.path) if error.status_code == 404 else f"{error.detail}."
    refusal = ApiError(error.status_code, message, headers=error.headers)
    return JSONResponse(body_of(refusal, request.url.path), refusal.status, refusal.headers)


async def _on_unexpected(request: Request, _error: Exception) -> Response:
    return JSONResponse(body_of(ApiError(500, UNEXPECTED), request.url.path), 500)
