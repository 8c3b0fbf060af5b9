"""The endpoints: health, models, chat and text completions, responses, metrics."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from app.core.server.access import ENTRY, AccessControl, AllowedHosts
from app.core.server.answering import AnswerStream, Builder, events_across_threads, respond, unless_gone
from app.core.server.anthropic.events import MessageBuilder
from app.core.server.anthropic.request import parse_messages_request
from app.core.server.embeddings import (
    EmbeddingRequest,
    EmbeddingSource,
    as_native,
    as_ollama,
    as_openai,
    asking,
    no_embeddings,
    read_native,
    read_ollama,
    read_openai,
)
from app.core.server.error_forms import body_of
from app.core.server.errors import UNEXPECTED, ApiError, api_error
from app.core.server.fields import passing_over, warnings_so_far
from app.core.server.library import NamedModels, no_such_model
from app.core.server.llama.events import CompletionBuilder
from app.core.server.llama.request import parse_infill_request, parse_native_request
from app.core.server.metrics import CONTENT_TYPE, Metrics
from app.core.server.ollama.events import LineBuilder, loaded
from app.core.server.ollama.models import API_VERSION, running, shown, tags
from app.core.server.ollama.request import is_load, name_of, parse_ollama_request
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request
from app.core.server.request_body import MAX_BODY_BYTES, MAX_BYTES_WITH_PICTURES, read_object
from app.core.server.request_log import RequestEntry
from app.core.server.response_events import ItemBuilder
from app.core.server.response_request import parse_response_request
from app.core.server.responses import ResponseBuilder
from app.core.server.scheduler import Scheduler
from app.core.server.tokens import (
    Question,
    read_chat_count,
    read_count,
    read_detokenize,
    read_response_count,
    read_template,
    read_tokenize,
)
from app.core.server.turn import Ask, Told
from engine.embeddings import Embedded, EmbeddingModel
from engine.errors import EngineError, GrammarError
from engine.records import ModelInfo
from engine.sandbox.grammar_check import check_grammar

_VERSION = "/v1"
MODELS, HEALTH, METRICS, RESPONSES = "/v1/models", "/health", "/metrics", "/v1/responses"
_BARE_COMPLETIONS, _BARE_EMBEDDINGS = "/completions", "/embeddings"
# The names of the methods that answer, by paths that may be given without their first part, too.
_POSTED = {
    "/v1/chat/completions": "chat",
    "/v1/chat/completions/input_tokens": "count_chat",
    "/v1/completions": "completions",
    RESPONSES: "responses",
    f"{RESPONSES}/input_tokens": "count_response",
    "/v1/messages": "messages",
    "/v1/messages/count_tokens": "count_tokens",
    "/v1/completion": "completion",
    "/v1/infill": "infill",
    "/v1/embeddings": "embeddings",
    "/v1/embedding": "embedding",
    "/v1/tokenize": "tokenize",
    "/v1/detokenize": "detokenize",
    "/v1/apply-template": "apply_template",
}
_OLLAMA_GOT = {"/api/version": "api_version", "/api/tags": "api_tags", "/api/ps": "api_ps"}
_OLLAMA_POSTED = {
    "/api/show": "api_show",
    "/api/chat": "api_chat",
    "/api/generate": "api_generate",
    "/api/embed": "api_embed",
    "/api/embeddings": "api_embeddings",
}
ENDPOINTS = frozenset({*_POSTED, *_OLLAMA_GOT, *_OLLAMA_POSTED, MODELS, HEALTH, METRICS})
log = logging.getLogger(__name__)
CurrentModel = Callable[[], ServedModel]  # raises `ApiError` where none is loaded just now
Read = Callable[[dict[str, object], ServedModel], tuple[CompletionRequest, Builder]]
MAX_REPORTED = 1000  # different ones
LOAD_WAIT_S = 300.0  # for a model that a request names, behind the requests before it


def make_application(  # noqa: PLR0913  (what a server is made of)
    models: CurrentModel | NamedModels,
    scheduler: Scheduler,
    metrics: Metrics,
    key: str,
    hosts: AllowedHosts,
    *,
    strict: bool = False,
    embedder: EmbeddingSource | None = None,
) -> ASGIApp:
    """Make the application; every request passes `AccessControl` first.

    ``models`` gives the model that is loaded, or has the one loaded that a request names. ``strict`` refuses fields
    and names of models that nobody knows. Without an ``embedder`` there are no embeddings.
    """
    endpoints = Endpoints(models, scheduler, metrics, embedder, strict=strict)
    got = {HEALTH: "health", METRICS: "metrics", **_OLLAMA_GOT}
    posted = dict(_OLLAMA_POSTED)
    for prefix in (_VERSION, ""):  # many programs are given an address without it
        models_path = prefix + MODELS.removeprefix(_VERSION)
        got |= {models_path: "models", f"{models_path}/{{name:path}}": "model"}
        posted |= {prefix + path.removeprefix(_VERSION): name for path, name in _POSTED.items()}
    routes = [Route(path, getattr(endpoints, name), methods=["GET"]) for path, name in got.items()]
    routes += [Route(path, getattr(endpoints, name), methods=["POST"]) for path, name in posted.items()]
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
        if self._embedder is not None:
            others = [*others, (await asyncio.to_thread(self._embedder.model)).name]
        names = list(dict.fromkeys([model.name, *others]))
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "paceline"} for name in names]
        listed[0] |= facts
        return listed

    async def metrics(self, _request: Request) -> Response:
        """Counters for Prometheus."""
        activity = self._scheduler.activity
        text = self._metrics.render(activity)
        return PlainTextResponse(text, headers={"Content-Type": CONTENT_TYPE})

    async def chat(self, request: Request) -> Response:
        """The answer to a conversation."""
        return await self._answer(request, _read_chat)

    async def completions(self, request: Request) -> Response:
        """How a text goes on, as OpenAI's API has it.

        llama.cpp's server answers in its own way where the path has no version. That is done for requests that name
        no model: OpenAI's API demands one.
        """
        body = await self._body(request)
        is_native = request.url.path == _BARE_COMPLETIONS and "model" not in body
        return await self._answer(request, _read_native if is_native else _read_text, body)

    async def completion(self, request: Request) -> Response:
        """How a text goes on, as llama.cpp's own API has it."""
        return await self._answer(request, _read_native)

    async def infill(self, request: Request) -> Response:
        """What stands in a gap, as llama.cpp's own API has it."""
        return await self._answer(request, _read_infill)

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

    async def count_chat(self, request: Request) -> Response:
        """How many tokens a chat has."""
        return await self._tell(request, read_chat_count)

    async def count_response(self, request: Request) -> Response:
        """How many tokens the input of a response has."""
        return await self._tell(request, read_response_count)

    async def count_tokens(self, request: Request) -> Response:
        """How many tokens a conversation has, as Anthropic's API asks it."""
        return await self._tell(request, read_count)

    async def embeddings(self, request: Request) -> Response:
        """Vectors of texts; as llama.cpp's own API has them where the path has no version and no model is named."""
        body = await read_object(request)
        if request.url.path == _BARE_EMBEDDINGS and "model" not in body:
            return await self._embedded(body, request, read_native, lambda asked, _name, found: as_native(asked, found))
        return await self._embedded(body, request, read_openai, as_openai)

    async def embedding(self, request: Request) -> Response:
        """Vectors of texts, as llama.cpp's own API has them."""
        body = await read_object(request)
        return await self._embedded(body, request, read_native, lambda asked, _name, found: as_native(asked, found))

    async def api_embed(self, request: Request) -> Response:
        """Vectors of texts, as Ollama's API has them."""
        return await self._embedded(await read_object(request), request, read_ollama, as_ollama)

    async def api_embeddings(self, request: Request) -> Response:
        """The vector of a text, as Ollama's API had it first."""

        def tell(_asked: EmbeddingRequest, _name: str, found: list[Embedded]) -> object:
            return {"embedding": found[0].vectors[0].tolist()}

        return await self._embedded(await read_object(request), request, read_ollama, tell)

    async def _embedded(
        self,
        body: dict[str, object],
        request: Request,
        read: Callable[[dict[str, object], EmbeddingModel], EmbeddingRequest],
        tell: Callable[[EmbeddingRequest, str, list[Embedded]], object],
    ) -> Response:
        embedder = self._embedder
        if embedder is None:
            raise no_embeddings()
        try:
            model = await asyncio.to_thread(embedder.model)
        except EngineError as error:
            raise api_error(error, "model") from error
        with self._reading():
            asked = read(body, model)
            self._report(warnings_so_far())
        ask = asking(asked, embedder, lambda found: tell(asked, model.name, found))
        return await self._told(request, "", ask)

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
        return await self._told(request, model.ready.target.path, ask, model.name)

    async def _told(self, request: Request, target: str, ask: Ask, name: str = "") -> Response:
        """Do in its turn what the session, or something beside it, is asked."""
        entry: RequestEntry = request.scope[ENTRY]
        events, post = events_across_threads(entry.note_event)
        entry.note_queued(name)
        program = _program_of(request)
        job = self._scheduler.submit(None, post, target, ask, on_turn=entry.note_turn, program=program)
        try:
            told = await unless_gone(request, events.get())
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
        events, post = events_across_threads(entry.note_event)
        program, target = _program_of(request), model.ready.target.path
        job = self._scheduler.submit(
            asked.request, post, target, more=asked.more, on_turn=entry.note_turn, program=program
        )
        is_handed_on = False
        try:
            response = await unless_gone(request, respond(asked, builder, events))
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


def _program_of(request: Request) -> str:
    """Who asks, by which programs take turns: what it calls itself, and where it runs."""
    entry: RequestEntry = request.scope[ENTRY]
    return f"{request.client.host if request.client is not None else ''} {entry.row.program}"


def _read_chat(body: dict[str, object], model: ServedModel) -> tuple[CompletionRequest, Builder]:
    asked = parse_request(body, model, chat=True)
    return asked, ResponseBuilder(model.name, asked)


def _read_text(body: dict[str, object], model: ServedModel) -> tuple[CompletionRequest, Builder]:
    asked = parse_request(body, model, chat=False)
    return asked, ResponseBuilder(model.name, asked)


def _read_native(body: dict[str, object], model: ServedModel) -> tuple[CompletionRequest, Builder]:
    made = parse_native_request(body, model)
    return made.asked, CompletionBuilder(model.name, made)


def _read_infill(body: dict[str, object], model: ServedModel) -> tuple[CompletionRequest, Builder]:
    made = parse_infill_request(body, model)
    return made.asked, CompletionBuilder(model.name, made)


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
