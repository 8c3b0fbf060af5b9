"""The HTTP endpoints: health, models, chat and text completions, responses, embeddings."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.domain.local_server import GONE
from app.core.server.access import AccessControl, AllowedHosts
from app.core.server.answers import AnswerBuilder, Json, ResponseBuilder
from app.core.server.anthropic_api import MessageBuilder, parse_messages_request
from app.core.server.embeddings import DIALECTS, EmbeddingCall, EmbeddingSource, ParsedRequest, no_embeddings_error
from app.core.server.engine_job import EngineJob, SessionCall, SessionReply
from app.core.server.errors import UNEXPECTED, ApiError, api_error, error_body
from app.core.server.fields import MAX_BODY_BYTES, MAX_BYTES_WITH_PICTURES, read_object
from app.core.server.library import model_not_found_error
from app.core.server.llama_api import READERS, BodyReader, CompletionBuilder, parse_infill_request, parse_native_request
from app.core.server.ollama_api import (
    API_VERSION,
    LineBuilder,
    file_of,
    is_load,
    list_models,
    list_running,
    load_response,
    name_of,
    parse_ollama_request,
    show_model,
)
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request
from app.core.server.responses_api import ItemBuilder, parse_response_request
from app.core.server.scheduler import AnswerEvent, JobEvent, Scheduler, ServerJob
from engine.embeddings import EmbeddingModel
from engine.errors import EngineError, GrammarError
from engine.grammar.constraint import check_grammar
from engine.pictures.side_file import find_side_file
from engine.records import EngineReady, Finished, ModelInfo, PrefillProgress, TextChunk

# ---- sending an answer ----------------------------------------------------------------------------------------------


Events = asyncio.Queue[JobEvent]
EARLY_FAILURE_S = 1.0  # a stream that fails within this time gets an HTTP error status
KEEP_ALIVE_S = 10.0  # interval of keep-alive messages
_T = TypeVar("_T")


async def respond(asked: CompletionRequest, builder: AnswerBuilder, events: Events) -> Response:
    """Make the response of an answer, whose ``events`` arrive.

    A stream waits until its prompt is tokenized, so that earlier errors set the HTTP status.
    """
    if asked.stream:
        first = await next_event(events, EARLY_FAILURE_S)
        return AnswerStream(_chunks(builder, first, events), builder.media_type)
    chunks: list[TextChunk] = []
    while not isinstance(event := await next_event(events), Finished):
        chunks += [event] if isinstance(event, TextChunk) else []
    return JSONResponse(builder.whole(chunks, event))


async def _chunks(builder: AnswerBuilder, event: AnswerEvent | None, events: Events) -> AsyncIterator[bytes]:
    """Yield the chunks of the answer; ``event`` is the first event, if it has arrived.

    Programs and proxies disconnect after a minute of silence. So comments or the API's own keep-alive messages are sent
    while a request waits or a prompt is processed.
    """
    is_begun = False
    try:
        while True:
            event = event or await next_event(events, KEEP_ALIVE_S)
            if event is None:
                yield builder.keep_alive(is_begun=is_begun)
                continue
            for chunk in _chunks_of(builder, event, is_begun=is_begun):
                yield chunk
            if isinstance(event, Finished):
                return
            event, is_begun = None, True
    except ApiError as error:  # the HTTP status was already sent
        for chunk in builder.failed_chunks(error):
            yield chunk


def _chunks_of(builder: AnswerBuilder, event: AnswerEvent, *, is_begun: bool) -> list[bytes]:
    number = event.total if isinstance(event, PrefillProgress) else None
    head = [] if is_begun else builder.first_chunks(number)
    if isinstance(event, PrefillProgress):
        return head
    return [*head, *(builder.last_chunks(event) if isinstance(event, Finished) else builder.text_chunks(event))]


async def next_event(events: Events, seconds: float | None = None) -> AnswerEvent | None:
    """Wait for the next event of an answer: prompt tokenized, text, end; None if none arrives in time.

    Raises:
        ApiError: the answer failed or was stopped.
    """
    try:
        async with asyncio.timeout(seconds):
            event = await events.get()
    except TimeoutError:
        return None
    if isinstance(event, ApiError):
        raise event
    assert not isinstance(event, EngineReady | SessionReply)  # noqa: S101  (of a load, or a call, alone)
    return event


class AnswerStream(StreamingResponse):
    """A response of server-sent events. ``on_end`` is called when all are sent or the client has disconnected."""

    def __init__(self, chunks: AsyncIterator[bytes], media_type: str) -> None:
        super().__init__(chunks, headers={"Cache-Control": "no-store"}, media_type=media_type)
        self.on_end: Callable[[], None] = lambda: None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.on_end()


def events_across_threads() -> tuple[Events, Callable[[JobEvent], None]]:
    """Returns a queue for this event loop, and a thread-safe function to put events."""
    loop, events = asyncio.get_running_loop(), Events()

    def post(event: JobEvent) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, so the queue is not read
            loop.call_soon_threadsafe(events.put_nowait, event)

    return events, post


async def cancel_on_disconnect(request: Request, answer: Awaitable[_T]) -> _T:
    """Wait for an answer, or cancel it if the client disconnects.

    Raises:
        ApiError: the client disconnected.
    """
    tasks = waiting, _gone = asyncio.ensure_future(answer), asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        raise ApiError(GONE, "The client went away.")
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


# ---- endpoints ------------------------------------------------------------------------------------------------------


_VERSION = "/v1"
MODELS, HEALTH, RESPONSES = "/v1/models", "/health", "/v1/responses"
Read = Callable[[Json, ServedModel], tuple[CompletionRequest, AnswerBuilder]]
LOAD_WAIT_S = 300.0  # time limit for loading the model that a request names, including the wait for earlier requests


def _form(parse: Callable[..., CompletionRequest], build: Callable[..., AnswerBuilder], **kind: bool) -> Read:
    """Combine a parser of requests and a builder of answers for one path."""

    def read(body: Json, model: ServedModel) -> tuple[CompletionRequest, AnswerBuilder]:
        asked = parse(body, model, **kind)
        return asked, build(model.name, asked)

    return read


_TEXT = _form(parse_request, ResponseBuilder, chat=False)
_NATIVE = _form(parse_native_request, CompletionBuilder)
# Paths that are answered with text. Each path also works without its version.
_READERS: dict[str, Read] = {
    "/v1/chat/completions": _form(parse_request, ResponseBuilder, chat=True),
    "/v1/completions": _TEXT,
    # llama.cpp's own format if the request has no model name, which OpenAI's API requires.
    "/completions": lambda body, model: (_TEXT if "model" in body else _NATIVE)(body, model),
    RESPONSES: _form(parse_response_request, ItemBuilder),
    "/v1/messages": _form(parse_messages_request, MessageBuilder),
    "/v1/completion": _NATIVE,
    "/v1/infill": _form(parse_infill_request, CompletionBuilder),
}
_MODEL = f"{MODELS}/{{name:path}}"
_GET_HANDLERS = {
    "/": "root",
    HEALTH: "health",
    MODELS: "models",
    _MODEL: "model",
    "/api/version": "api_version",
    "/api/tags": "api_tags",
    "/api/ps": "api_ps",
}


def make_application(
    scheduler: Scheduler, key: str, hosts: AllowedHosts, *, embedder: EmbeddingSource | None = None
) -> ASGIApp:
    """Make the ASGI application; `AccessControl` checks every request first.

    ``embedder`` None: no embeddings.
    """
    endpoints = Endpoints(scheduler, embedder)
    got = {path: getattr(endpoints, name) for path, name in _GET_HANDLERS.items()}
    routes = [
        Route(own, endpoint, methods=[method])
        for method, answering in (("GET", got), ("POST", endpoints.post_handlers()))
        for path, endpoint in answering.items()
        for own in {path, path.removeprefix(_VERSION)}  # many programs omit the version
        if own == path or own not in answering
    ]
    handlers = {ApiError: _on_api_error, HTTPException: _on_http_error, Exception: _on_unexpected}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    guarded = AccessControl(app, key, hosts)
    if not hosts.origins:
        return guarded
    return CORSMiddleware(guarded, sorted(hosts.origins), allow_methods=["GET", "POST"], allow_headers=["*"])


class Endpoints:
    def __init__(self, scheduler: Scheduler, embedder: EmbeddingSource | None) -> None:
        self._models, self._scheduler = scheduler.models, scheduler
        self._embedder = embedder
        self._paths: dict[str, str] = {}  # files of models that are not loaded, by name

    def post_handlers(self) -> dict[str, Callable[[Request], Awaitable[Response]]]:
        """The handlers of POST requests, by path."""
        return {
            **{path: partial(self._answer, read=read) for path, read in _READERS.items()},
            **{path: partial(self._answer_value, read=read) for path, read in READERS.items()},
            **{path: partial(self._embed, read=read) for path, read in DIALECTS.items()},
            "/api/chat": partial(self._answer_ollama, chat=True),
            "/api/generate": partial(self._answer_ollama, chat=False),
            "/api/show": self.api_show,
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
            raise model_not_found_error(str(listed[0]["id"]))
        return JSONResponse(found)

    async def _listed(self) -> list[Json]:
        model = self._models.current()
        ready = model.ready
        facts = {
            "meta": _facts(ready.target),
            "draft": None if ready.draft is None else {"name": ready.draft.name, "meta": _facts(ready.draft)},
        }
        kind = "vlm" if ready.target.has_vision else "llm"
        listed = [{**_model_entry(model.name, ready.target.path, kind, "loaded"), **facts}]
        listed += await asyncio.to_thread(self._list_others, model.name)
        if self._embedder is not None:
            name = (await asyncio.to_thread(self._embedder.model)).name
            listed.append(_model_entry(name, "", "embeddings", "loaded"))
        return listed

    def _list_others(self, own: str) -> list[Json]:
        """List all models except ``own``; reads the disk."""
        listed = list[Json]()
        for name in self._models.names():
            path = self._paths.get(name) or self._models.find(name)
            if path is not None:
                self._paths[name] = path
                if name != own:
                    kind = "vlm" if find_side_file(Path(path)) is not None else "llm"
                    listed.append(_model_entry(name, path, kind, "not-loaded"))
        return listed

    async def _embed(self, request: Request, read: Callable[[Json, EmbeddingModel], ParsedRequest]) -> Response:
        body, embedder = await read_object(request), self._embedder
        if embedder is None:
            raise no_embeddings_error()
        try:
            model = await asyncio.to_thread(embedder.model)
        except EngineError as error:
            raise api_error(error, "model") from error
        inputs, form, build = read(body, model)
        return JSONResponse(build(await self._run_call(request, "", EmbeddingCall(embedder, inputs, form))))

    async def api_version(self, _request: Request) -> Response:
        return JSONResponse({"version": API_VERSION})

    async def api_tags(self, _request: Request) -> Response:
        paths = {str(one["id"]): self._paths.get(str(one["id"]), "") for one in await self._listed()}
        return JSONResponse(await asyncio.to_thread(list_models, self._models.current(), paths))

    async def api_ps(self, _request: Request) -> Response:
        return JSONResponse(await asyncio.to_thread(list_running, self._models.current()))

    async def api_show(self, request: Request) -> Response:
        """Facts of a model; if no model is loaded, it is loaded first."""
        name = name_of(await read_object(request))
        model = await self._named(name)
        if name not in (None, model.name):
            raise model_not_found_error(model.name)
        return JSONResponse(await asyncio.to_thread(show_model, model))

    async def _answer_ollama(self, request: Request, *, chat: bool) -> Response:
        body = await self._body(request)
        if is_load(body, chat=chat):
            return JSONResponse(load_response((await self._named(name_of(body))).name, chat=chat))
        read = _form(parse_ollama_request, partial(LineBuilder, chat=chat), chat=chat)
        return await self._answer(request, read, {**body, "model": name_of(body)})

    async def _answer_value(self, request: Request, read: BodyReader) -> Response:
        """Queue a request whose result the session computes, and answer with the result."""
        body = await read_object(request)
        model = await self._named(body.get("model"))
        call = read(body, model)
        return JSONResponse(await self._run_call(request, model.ready.target.path, call))

    async def _run_call(self, request: Request, target: str, call: SessionCall) -> Any:  # noqa: ANN401
        """Queue ``call`` as a request; returns its result."""
        job, events = _job(request, EngineJob(None, target, call))
        self._scheduler.submit(job)
        try:
            reply = await cancel_on_disconnect(request, events.get())
        finally:
            self._scheduler.cancel(job)
        if isinstance(reply, ApiError):
            raise reply
        assert isinstance(reply, SessionReply)  # noqa: S101  (nothing else comes)
        return reply.value

    async def _body(self, request: Request) -> Json:
        return await read_object(
            request, MAX_BYTES_WITH_PICTURES if self._models.current().picture_source else MAX_BODY_BYTES
        )

    async def _answer(self, request: Request, read: Read, body: Json | None = None) -> Response:
        """Answer a request. ``body``: if it was already read."""
        body = await self._body(request) if body is None else body
        model = await self._named(body.get("model"))
        if model.picture_source is None:
            asked, builder = read(body, model)
        else:
            asked, builder = await asyncio.to_thread(read, body, model)  # decoding pictures takes time
        if asked.has_client_grammar:
            try:
                await asyncio.to_thread(check_grammar, asked.request.grammar)
            except GrammarError as error:
                text = f"{error.message} {error.advice}".strip()
                raise ApiError(400, text, param="grammar", code="invalid_value") from error
        target = model.ready.target.path
        job, events = _job(request, EngineJob(asked.request, target))
        self._scheduler.submit(job)
        is_streaming = False
        try:
            response = await cancel_on_disconnect(request, respond(asked, builder, events))
            if isinstance(response, AnswerStream):
                response.on_end = lambda: self._scheduler.cancel(job)
                is_streaming = True
            return response
        finally:
            if not is_streaming:
                self._scheduler.cancel(job)

    async def _named(self, name: object) -> ServedModel:
        """The model that a request names, else the current one; a model that was never loaded is loaded first.

        Raises:
            ApiError: it cannot be loaded, or loading takes too long.
        """
        model = self._models.current()
        if not isinstance(name, str) or name == model.name:
            return model
        known = self._models.is_known(name)
        if known is not None:
            return known
        target = await asyncio.to_thread(self._models.find, name)
        if target is None:
            return model
        events, post = events_across_threads()
        job = ServerJob(EngineJob(None, target), post)
        self._scheduler.submit(job)
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
        return self._models.is_known(name) or self._models.current()


def _job(request: Request, asked: EngineJob) -> tuple[ServerJob, Events]:
    """A job of an HTTP request, and its events. A program and its address identify a client."""
    events, post = events_across_threads()
    host = request.client.host if request.client is not None else ""
    return ServerJob(asked, post, program=f"{host} {request.headers.get('user-agent', '')}"), events


def _model_entry(name: str, path: str, kind: str, state: str) -> Json:
    file = file_of(path)
    created = 0 if file is None else int(file.st_mtime)
    return {"id": name, "object": "model", "created": created, "owned_by": "paceline", "type": kind, "state": state}


def _facts(info: ModelInfo) -> Json:
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
    return JSONResponse(error_body(error, request.url.path), error.status, error.headers)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  (for the type checker)
    message = f"{error.detail}."
    if error.status_code == 404:
        paths = {route.path for route in request.app.routes} - {_MODEL, "/"}
        named = ", ".join(sorted(path for path in paths if _VERSION + path not in paths))
        message = f"There is no such path here; this server has {named}. No answers are kept."
    refusal = ApiError(error.status_code, message, headers=error.headers)
    return JSONResponse(error_body(refusal, request.url.path), refusal.status, refusal.headers)


async def _on_unexpected(request: Request, _error: Exception) -> Response:
    return JSONResponse(error_body(ApiError(500, UNEXPECTED), request.url.path), 500)
