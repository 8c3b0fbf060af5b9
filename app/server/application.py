"""The endpoints: health, models, chat and text completions, responses, metrics."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.server.access import ENTRY, AccessControl, AllowedHosts
from app.server.anthropic.events import MessageBuilder
from app.server.anthropic.request import parse_messages_request
from app.server.error_forms import body_of
from app.server.errors import UNEXPECTED, ApiError
from app.server.fields import passing_over, warnings_so_far
from app.server.library import NamedModels, no_such_model
from app.server.metrics import CONTENT_TYPE, Metrics
from app.server.ollama.events import LineBuilder, loaded
from app.server.ollama.models import API_VERSION, running, shown, tags
from app.server.ollama.request import is_load, name_of, parse_ollama_request
from app.server.protocol import CompletionRequest, ServedModel, parse_request
from app.server.request_body import CLIENT_GONE, MAX_BODY_BYTES, MAX_BYTES_WITH_PICTURES, read_object
from app.server.request_log import RequestEntry
from app.server.response_events import ItemBuilder
from app.server.response_request import parse_response_request
from app.server.responses import ResponseBuilder
from app.server.scheduler import JobEvent, Scheduler
from app.server.tokens import Question, read_count, read_detokenize, read_template, read_tokenize
from app.server.turn import Told
from engine.errors import GrammarError
from engine.records import EngineReady, Finished, ModelInfo, TextChunk
from engine.sandbox.grammar_check import check_grammar

_VERSION = "/v1"
CHAT, COMPLETIONS, RESPONSES = "/v1/chat/completions", "/v1/completions", "/v1/responses"
MESSAGES, COUNT_TOKENS = "/v1/messages", "/v1/messages/count_tokens"
TOKENIZE, DETOKENIZE, TEMPLATE = "/v1/tokenize", "/v1/detokenize", "/v1/apply-template"
MODELS, HEALTH, METRICS = "/v1/models", "/health", "/metrics"
_ANSWERED = (  # in the order of their methods
    CHAT, COMPLETIONS, RESPONSES, MESSAGES, COUNT_TOKENS, TOKENIZE, DETOKENIZE, TEMPLATE,
)  # fmt: skip
OLLAMA = tuple(f"/api/{name}" for name in ("version", "tags", "ps", "show", "chat", "generate"))
ENDPOINTS = frozenset({*_ANSWERED, *OLLAMA, MODELS, HEALTH, METRICS})
Events = asyncio.Queue[JobEvent]
_T = TypeVar("_T")


log = logging.getLogger(__name__)
CurrentModel = Callable[[], ServedModel]  # raises `ApiError` where none is loaded just now
Builder = ResponseBuilder | ItemBuilder | MessageBuilder | LineBuilder
Read = Callable[[dict[str, object], ServedModel], tuple[CompletionRequest, Builder]]
_EMBEDDINGS = ("/embeddings", "/embedding", "/api/embed", "/api/embeddings")  # not here
MAX_REPORTED = 1000  # different ones
LOAD_WAIT_S = 300.0  # for a model that a request names, behind the requests before it


def make_application(
    models: CurrentModel | NamedModels,
    scheduler: Scheduler,
    metrics: Metrics,
    key: str,
    hosts: AllowedHosts,
    *,
    strict: bool = False,
) -> ASGIApp:
    """Make the application; every request passes `AccessControl` first.

    ``models`` gives the model that is loaded, or has the one loaded that a request names. ``strict`` refuses fields
    and names of models that nobody knows.
    """
    endpoints = Endpoints(models, scheduler, metrics, strict=strict)
    routes = [
        Route(HEALTH, endpoints.health, methods=["GET"]),
        Route(METRICS, endpoints.metrics, methods=["GET"]),
    ]
    for prefix in (_VERSION, ""):  # many programs are given an address without it
        models_path, *others = (prefix + path.removeprefix(_VERSION) for path in (MODELS, *_ANSWERED))
        routes += [
            Route(models_path, endpoints.models, methods=["GET"]),
            Route(f"{models_path}/{{name:path}}", endpoints.model, methods=["GET"]),
        ]
        answers = (
            endpoints.chat, endpoints.completions, endpoints.responses, endpoints.messages, endpoints.count_tokens,
            endpoints.tokenize, endpoints.detokenize, endpoints.apply_template,
        )  # fmt: skip
        routes += [Route(path, answer, methods=["POST"]) for path, answer in zip(others, answers, strict=True)]
    of_ollama = (
        endpoints.api_version, endpoints.api_tags, endpoints.api_ps,
        endpoints.api_show, endpoints.api_chat, endpoints.api_generate,
    )  # fmt: skip
    for number, (path, answer) in enumerate(zip(OLLAMA, of_ollama, strict=True)):
        routes.append(Route(path, answer, methods=["GET" if number < 3 else "POST"]))
    handlers = {ApiError: _on_api_error, HTTPException: _on_http_error, Exception: _on_surprise}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False

    def count(path: str, status: int) -> None:
        metrics.count_request(_endpoint(path), status)

    guarded = AccessControl(app, key, hosts, count, metrics.requests)
    if not hosts.origins:
        return guarded
    return CORSMiddleware(guarded, sorted(hosts.origins), allow_methods=["GET", "POST"], allow_headers=["*"])


def _endpoint(path: str) -> str:
    """The endpoint of a path, by which requests are counted."""
    return next((known for known in (path, _VERSION + path) if known in ENDPOINTS), "other")


class Endpoints:
    """What each path answers."""

    def __init__(
        self, models: CurrentModel | NamedModels, scheduler: Scheduler, metrics: Metrics, *, strict: bool
    ) -> None:
        self._is_strict = strict
        self._reported: set[str] = set()  # warnings that are in the log
        self._switch = None if callable(models) else models
        self._current = models if callable(models) else models.current
        self._scheduler = scheduler
        self._metrics = metrics

    async def health(self, _request: Request) -> Response:
        """Whether the server runs."""
        return JSONResponse({"status": "ok"})

    async def models(self, _request: Request) -> Response:
        """The model that is loaded, what drafts for it, and the names of others that a request may ask for; no path."""
        return JSONResponse({"object": "list", "data": await self._listed()})

    async def model(self, request: Request) -> Response:
        """One of them."""
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
        others = [] if self._switch is None else await asyncio.to_thread(self._switch.names)
        names = [model.name, *(name for name in others if name != model.name)]
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "paceline"} for name in names]
        listed[0] |= facts
        return listed

    async def metrics(self, _request: Request) -> Response:
        """Counters for Prometheus."""
        activity = self._scheduler.activity
        text = self._metrics.render(activity.num_waiting, activity.num_running)
        return PlainTextResponse(text, headers={"Content-Type": CONTENT_TYPE})

    async def chat(self, request: Request) -> Response:
        """The answer to a conversation."""
        return await self._answer(request, _read_chat)

    async def completions(self, request: Request) -> Response:
        """How a text goes on."""
        return await self._answer(request, _read_text)

    async def responses(self, request: Request) -> Response:
        """The answer to a conversation, in items."""
        try:
            return await self._answer(request, _read_response)
        except ApiError as error:
            if error.param != "messages":  # as the engine's failures name what the prompt was made of
                raise
            raise ApiError(error.status, error.message, param="input", code=error.code) from error

    async def messages(self, request: Request) -> Response:
        """The answer to a conversation, as Anthropic's API has it."""
        return await self._answer(request, _read_message)

    async def count_tokens(self, request: Request) -> Response:
        """How many tokens a conversation has, as Anthropic's API asks it."""
        return await self._tell(request, read_count)

    async def tokenize(self, request: Request) -> Response:
        """The tokens of a text."""
        return await self._tell(request, read_tokenize)

    async def detokenize(self, request: Request) -> Response:
        """The text of tokens."""
        return await self._tell(request, read_detokenize)

    async def apply_template(self, request: Request) -> Response:
        """The prompt of a conversation, as text."""
        return await self._tell(request, read_template)

    async def api_version(self, _request: Request) -> Response:
        """The version of Ollama whose API this is."""
        return JSONResponse({"version": API_VERSION})

    async def api_tags(self, _request: Request) -> Response:
        """The models, as Ollama's API has them."""
        names = [str(one["id"]) for one in await self._listed()]
        return JSONResponse(tags(self._current(), names))

    async def api_ps(self, _request: Request) -> Response:
        """The model in memory."""
        return JSONResponse(running(self._current()))

    async def api_show(self, request: Request) -> Response:
        """What is known of a model; it is loaded for that where nothing is."""
        name = name_of(await read_object(request))
        model = await self._named(name)
        if name not in (None, model.name):
            raise no_such_model(model.name)
        return JSONResponse(shown(model))

    async def api_chat(self, request: Request) -> Response:
        """The answer to a conversation, as Ollama's API has it."""
        return await self._answer_ollama(request, _read_ollama_chat, chat=True)

    async def api_generate(self, request: Request) -> Response:
        """The answer to a prompt, as Ollama's API has it."""
        return await self._answer_ollama(request, _read_ollama_text, chat=False)

    async def _answer_ollama(self, request: Request, read: Read, *, chat: bool) -> Response:
        body = await self._body(request)
        if is_load(body, chat=chat):
            model = await self._named(name_of(body))
            return JSONResponse(loaded(model.name, chat=chat))
        return await self._answer(request, read, {**body, "model": name_of(body)})

    async def _tell(self, request: Request, read: Question) -> Response:
        """Ask the session something in its turn, and answer with what it says."""
        body = await read_object(request)
        model = await self._named(body.get("model"))
        with self._reading():
            ask = read(body, model)
            self._report(warnings_so_far())
        entry: RequestEntry = request.scope[ENTRY]
        events, post = _events_across_threads(entry.note_event)
        entry.note_queued(model.name)
        job = self._scheduler.submit(None, post, model.ready.target.path, ask, on_turn=entry.note_turn)
        try:
            told = await _unless_gone(request, events.get())
        finally:
            self._scheduler.cancel(job)
        if isinstance(told, ApiError):
            raise told
        assert isinstance(told, Told)  # noqa: S101  (nothing else comes)
        return JSONResponse(told.value)

    def _reading(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if self._is_strict else passing_over()

    def _report(self, warnings: Iterable[str]) -> None:
        """Have the log say once what was passed over."""
        for warning in warnings:
            if warning not in self._reported and len(self._reported) < MAX_REPORTED:
                self._reported.add(warning)
                log.info("a request: %s", warning)

    async def _body(self, request: Request) -> dict[str, object]:
        return await read_object(request, MAX_BYTES_WITH_PICTURES if self._current().seen else MAX_BODY_BYTES)

    async def _read(self, body: dict[str, object], read: Read) -> tuple[CompletionRequest, Builder, ServedModel]:
        model = await self._named(body.get("model"))
        with self._reading():
            if model.seen is None:
                asked, builder = read(body, model)
            else:  # decoding takes a while
                asked, builder = await asyncio.to_thread(read, body, model)
        self._report(asked.warnings)
        return asked, builder, model

    async def _answer(self, request: Request, read: Read, body: dict[str, object] | None = None) -> Response:
        """Answer a request; ``body`` is its object where it was read before."""
        asked, builder, model = await self._read(await self._body(request) if body is None else body, read)
        if asked.is_grammar_typed:
            await asyncio.to_thread(_check_grammar, asked.request.grammar)
        entry: RequestEntry = request.scope[ENTRY]
        entry.note_queued(model.name)
        events, post = _events_across_threads(entry.note_event)
        job = self._scheduler.submit(
            asked.request, post, model.ready.target.path, more=asked.more, on_turn=entry.note_turn
        )
        is_handed_on = False
        try:
            response = await _unless_gone(request, _respond(asked, builder, events))
            if isinstance(response, AnswerStream):
                response.on_end = lambda: self._scheduler.cancel(job)
                is_handed_on = True
            return response
        finally:
            if not is_handed_on:
                self._scheduler.cancel(job)

    async def _named(self, name: object) -> ServedModel:
        """The model that a request names; it is loaded first where nothing is known of it.

        Raises:
            ApiError: there is none, it cannot be loaded, or that takes too long.
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
        events, post = _events_across_threads()
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


def _read_chat(body: dict[str, object], model: ServedModel) -> tuple[CompletionRequest, Builder]:
    asked = parse_request(body, model, chat=True)
    return asked, ResponseBuilder(model.name, asked)


def _read_text(body: dict[str, object], model: ServedModel) -> tuple[CompletionRequest, Builder]:
    asked = parse_request(body, model, chat=False)
    return asked, ResponseBuilder(model.name, asked)


def _read_response(body: dict[str, object], model: ServedModel) -> tuple[CompletionRequest, Builder]:
    made = parse_response_request(body, model)
    return made.asked, ItemBuilder(model.name, made)


def _read_message(body: dict[str, object], model: ServedModel) -> tuple[CompletionRequest, Builder]:
    asked = parse_messages_request(body, model)
    return asked, MessageBuilder(model.name, asked)


def _read_ollama_chat(body: dict[str, object], model: ServedModel) -> tuple[CompletionRequest, Builder]:
    asked = parse_ollama_request(body, model, chat=True)
    return asked, LineBuilder(model.name, asked, chat=True)


def _read_ollama_text(body: dict[str, object], model: ServedModel) -> tuple[CompletionRequest, Builder]:
    asked = parse_ollama_request(body, model, chat=False)
    return asked, LineBuilder(model.name, asked, chat=False)


def _check_grammar(text: str) -> None:
    try:
        check_grammar(text)
    except GrammarError as error:
        text = f"{error.message} {error.advice}".strip()
        raise ApiError(400, text, param="grammar", code="invalid_value") from error


async def _respond(asked: CompletionRequest, builder: Builder, events: Events) -> Response:
    """Wait for the whole answer, or for its first piece: until then a failure can have a status of its own."""
    if asked.stream:
        stream = AnswerStream(_chunks(builder, await _next(events), events, len(asked.more)))
        if isinstance(builder, LineBuilder):
            stream.headers["Content-Type"] = "application/x-ndjson"
        return stream
    answers = list[dict[str, object]]()
    for _ in range(len(asked.more) + 1):
        chunks: list[TextChunk] = []
        while isinstance(event := await _next(events), TextChunk):
            chunks.append(event)
        answers.append(builder.whole(chunks, event))
    return JSONResponse(builder.together(answers) if isinstance(builder, ResponseBuilder) else answers[0])


async def _chunks(builder: Builder, first: TextChunk | Finished, events: Events, num_more: int) -> AsyncIterator[bytes]:
    """The chunks of an answer that has begun, and of so many more."""
    event = first
    try:
        for is_next in range(num_more + 1):
            event = await _next(events) if is_next else event
            for chunk in builder.first_chunks():
                yield chunk
            while isinstance(event, TextChunk):
                for chunk in builder.text_chunks(event):
                    yield chunk
                event = await _next(events)
            for chunk in builder.last_chunks(event):
                yield chunk
    except ApiError as error:  # the status is sent already
        for chunk in builder.failed_chunks(error):
            yield chunk


async def _next(events: Events) -> TextChunk | Finished:
    """Wait for the next piece or the end.

    Raises:
        ApiError: the answer failed, or was ended here.
    """
    event = await events.get()
    if isinstance(event, ApiError):
        raise event
    assert not isinstance(event, EngineReady | Told)  # noqa: S101  (of a load, or a question, alone)
    return event


class AnswerStream(StreamingResponse):
    """Server-sent events; ``on_end`` is called once they are sent, or nobody is there to read them."""

    media_type = "text/event-stream"

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        super().__init__(chunks, headers={"Cache-Control": "no-store"})
        self.on_end: Callable[[], None] = lambda: None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.on_end()


def _events_across_threads(
    note: Callable[[JobEvent], None] = lambda _event: None,
) -> tuple[Events, Callable[[JobEvent], None]]:
    """A queue of this thread's loop, and what puts something into it from another thread; ``note`` hears of all."""
    loop, events = asyncio.get_running_loop(), Events()

    def post(event: JobEvent) -> None:
        note(event)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(events.put_nowait, event)

    return events, post


async def _unless_gone(request: Request, answer: Awaitable[_T]) -> _T:
    """Wait for an answer, unless the client goes away.

    Raises:
        ApiError: it went away.
    """
    waiting = asyncio.ensure_future(answer)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({waiting, gone}, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        raise ApiError(CLIENT_GONE, "The client went away.")
    finally:
        await _cancel((waiting, gone))


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _cancel(tasks: Iterable[asyncio.Future[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _facts(info: ModelInfo) -> dict[str, object]:
    """A model's facts, by the names of llama.cpp's server."""
    return {
        "n_vocab": info.n_vocab,
        "n_ctx": info.n_ctx,
        "n_ctx_train": info.n_ctx_train,
        "n_params": info.num_params,
        "size": info.size_bytes,
    }


async def _on_api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)  # noqa: S101  (for the type checker)
    return JSONResponse(body_of(error, request.url.path), error.status, error.headers)


def _no_such_path(path: str) -> str:
    if path.removeprefix("/v1") in _EMBEDDINGS:
        return "This server makes no embeddings; it has chat and text completions, and responses."
    if path.startswith(f"{RESPONSES}/"):
        return "No answers are kept here: there is nothing to look up, to cancel or to delete."
    return f"There is no such path here; this server has {', '.join(sorted(ENDPOINTS))}."


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  (for the type checker)
    message = _no_such_path(request.url.path) if error.status_code == 404 else f"{error.detail}."
    refusal = ApiError(error.status_code, message, headers=error.headers)
    return JSONResponse(body_of(refusal, request.url.path), refusal.status, refusal.headers)


async def _on_surprise(request: Request, _error: Exception) -> Response:
    return JSONResponse(body_of(ApiError(500, UNEXPECTED), request.url.path), 500)
