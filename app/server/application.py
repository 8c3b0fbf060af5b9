"""The endpoints: health, models, chat and text completions, metrics."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.server.access import AccessControl, AllowedHosts
from app.server.errors import UNEXPECTED, ApiError, api_error
from app.server.library import ModelSwitch
from app.server.metrics import CONTENT_TYPE, Metrics
from app.server.protocol import CompletionRequest, ServedModel, parse_request
from app.server.request_body import CLIENT_GONE, read_object
from app.server.responses import ResponseBuilder, sse
from app.server.scheduler import JobEvent, Scheduler
from engine.errors import GrammarError
from engine.records import EngineReady, Finished, ModelInfo, TextChunk
from engine.sandbox.grammar_check import check_grammar

CHAT, COMPLETIONS, MODELS = "/v1/chat/completions", "/v1/completions", "/v1/models"
HEALTH, METRICS = "/health", "/metrics"
ENDPOINTS = frozenset({CHAT, COMPLETIONS, MODELS, HEALTH, METRICS})
Events = asyncio.Queue[JobEvent]
_T = TypeVar("_T")


CurrentModel = Callable[[], ServedModel]  # raises `ApiError` where none is loaded just now
LOAD_WAIT_S = 300.0  # for a model that a request names, behind the requests before it


def make_application(
    models: CurrentModel | ModelSwitch, scheduler: Scheduler, metrics: Metrics, key: str, hosts: AllowedHosts
) -> ASGIApp:
    """Make the application; every request passes `AccessControl` first.

    ``models`` gives the model that is loaded, or has the one loaded that a request names.
    """
    endpoints = Endpoints(models, scheduler, metrics)
    routes = [
        Route(HEALTH, endpoints.health, methods=["GET"]),
        Route(MODELS, endpoints.models, methods=["GET"]),
        Route(METRICS, endpoints.metrics, methods=["GET"]),
        Route(CHAT, endpoints.chat, methods=["POST"]),
        Route(COMPLETIONS, endpoints.completions, methods=["POST"]),
    ]
    handlers = {ApiError: _on_api_error, HTTPException: _on_http_error, Exception: _on_surprise}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return AccessControl(
        app, key, hosts, lambda path, status: metrics.count_request(path if path in ENDPOINTS else "other", status)
    )


class Endpoints:
    """What each path answers."""

    def __init__(self, models: CurrentModel | ModelSwitch, scheduler: Scheduler, metrics: Metrics) -> None:
        self._switch = models if isinstance(models, ModelSwitch) else None
        self._current = models.current if isinstance(models, ModelSwitch) else models
        self._scheduler = scheduler
        self._metrics = metrics

    async def health(self, _request: Request) -> Response:
        """Whether the server runs."""
        return JSONResponse({"status": "ok"})

    async def models(self, _request: Request) -> Response:
        """The model that is loaded, what drafts for it, and the names of others that a request may ask for; no path."""
        model = self._current()
        ready = model.ready
        one: dict[str, object] = {
            "id": model.name,
            "object": "model",
            "created": 0,
            "owned_by": "paceline",
            "meta": _facts(ready.target),
            "draft": None if ready.draft is None else {"name": ready.draft.name, "meta": _facts(ready.draft)},
        }
        others = [] if self._switch is None else await asyncio.to_thread(self._switch.names)
        more = [
            {"id": name, "object": "model", "created": 0, "owned_by": "paceline"}
            for name in others
            if name != model.name
        ]
        return JSONResponse({"object": "list", "data": [one, *more]})

    async def metrics(self, _request: Request) -> Response:
        """Counters for Prometheus."""
        activity = self._scheduler.activity
        text = self._metrics.render(activity.num_waiting, activity.num_running)
        return PlainTextResponse(text, headers={"Content-Type": CONTENT_TYPE})

    async def chat(self, request: Request) -> Response:
        """The answer to a conversation."""
        return await self._answer(request, chat=True)

    async def completions(self, request: Request) -> Response:
        """How a text goes on."""
        return await self._answer(request, chat=False)

    async def _answer(self, request: Request, *, chat: bool) -> Response:
        body = await read_object(request)
        model = await self._named(body.get("model"))
        asked = parse_request(body, model, chat=chat)
        if asked.is_grammar_typed:
            await asyncio.to_thread(_check_grammar, asked.request.grammar)
        builder = ResponseBuilder(model.name, asked)
        events, post = _events_across_threads()
        job = self._scheduler.submit(asked.request, post, model.ready.target.path)
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
        target = await asyncio.to_thread(self._switch.find, name)
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


def _check_grammar(text: str) -> None:
    try:
        check_grammar(text)
    except GrammarError as error:
        raise api_error(error, "grammar") from error


async def _respond(asked: CompletionRequest, builder: ResponseBuilder, events: Events) -> Response:
    """Wait for the whole answer, or for its first piece: until then a failure can have a status of its own."""
    if asked.stream:
        return AnswerStream(_chunks(builder, await _next(events), events))
    chunks: list[TextChunk] = []
    while isinstance(event := await _next(events), TextChunk):
        chunks.append(event)
    return JSONResponse(builder.whole(chunks, event))


async def _chunks(builder: ResponseBuilder, first: TextChunk | Finished, events: Events) -> AsyncIterator[bytes]:
    for chunk in builder.first_chunks():
        yield chunk
    event = first
    try:
        while isinstance(event, TextChunk):
            for chunk in builder.text_chunks(event):
                yield chunk
            event = await _next(events)
    except ApiError as error:  # the status is sent already
        yield sse(error.body)
        return
    for chunk in builder.last_chunks(event):
        yield chunk


async def _next(events: Events) -> TextChunk | Finished:
    """Wait for the next piece or the end.

    Raises:
        ApiError: the answer failed, or was ended here.
    """
    event = await events.get()
    if isinstance(event, ApiError):
        raise event
    assert not isinstance(event, EngineReady)  # noqa: S101  (of a load alone)
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


def _events_across_threads() -> tuple[Events, Callable[[JobEvent], None]]:
    """A queue of this thread's loop, and what puts something into it from another thread."""
    loop, events = asyncio.get_running_loop(), Events()

    def post(event: JobEvent) -> None:
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


async def _on_api_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)  # noqa: S101  (for the type checker)
    return JSONResponse(error.body, error.status, error.headers)


async def _on_http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  (for the type checker)
    refusal = ApiError(error.status_code, f"{error.detail}.", headers=error.headers)
    return JSONResponse(refusal.body, refusal.status, refusal.headers)


async def _on_surprise(_request: Request, _error: Exception) -> Response:
    return JSONResponse(ApiError(500, UNEXPECTED).body, 500)
