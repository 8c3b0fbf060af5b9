"""Answers on their way: events from the engine's thread, whole or as a stream, for as long as the client is there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.core.server.anthropic.events import MessageBuilder
from app.core.server.errors import ApiError
from app.core.server.llama.events import CompletionBuilder
from app.core.server.ollama.events import LineBuilder
from app.core.server.protocol import CompletionRequest
from app.core.server.request_body import CLIENT_GONE
from app.core.server.response_events import ItemBuilder
from app.core.server.responses import ResponseBuilder
from app.core.server.scheduler import JobEvent
from app.core.server.turn import Told
from engine.records import EngineReady, Finished, TextChunk

Events = asyncio.Queue[JobEvent]
Builder = ResponseBuilder | ItemBuilder | MessageBuilder | LineBuilder | CompletionBuilder
_T = TypeVar("_T")


async def respond(asked: CompletionRequest, builder: Builder, events: Events) -> Response:
    """Wait for the whole answer, or for its first piece: until then a failure can have a status of its own."""
    if asked.stream:
        stream = AnswerStream(_chunks(builder, await next_event(events), events, len(asked.more)))
        if isinstance(builder, LineBuilder):
            stream.headers["Content-Type"] = "application/x-ndjson"
        return stream
    answers = list[dict[str, object]]()
    for _ in range(len(asked.more) + 1):
        chunks: list[TextChunk] = []
        while isinstance(event := await next_event(events), TextChunk):
            chunks.append(event)
        answers.append(builder.whole(chunks, event))
    if isinstance(builder, ResponseBuilder | CompletionBuilder):
        return JSONResponse(builder.together(answers))
    return JSONResponse(answers[0])


async def _chunks(builder: Builder, first: TextChunk | Finished, events: Events, num_more: int) -> AsyncIterator[bytes]:
    """Yield the chunks of an answer that has begun and of the ``more`` that follow it."""
    event = first
    try:
        for is_next in range(num_more + 1):
            event = await next_event(events) if is_next else event
            for chunk in builder.first_chunks():
                yield chunk
            while isinstance(event, TextChunk):
                for chunk in builder.text_chunks(event):
                    yield chunk
                event = await next_event(events)
            for chunk in builder.last_chunks(event):
                yield chunk
    except ApiError as error:  # the status is sent already
        for chunk in builder.failed_chunks(error):
            yield chunk


async def next_event(events: Events) -> TextChunk | Finished:
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


def events_across_threads(
    note: Callable[[JobEvent], None] = lambda _event: None,
) -> tuple[Events, Callable[[JobEvent], None]]:
    """Return a queue of this thread's event loop and a thread-safe put; ``note`` is called with every item."""
    loop, events = asyncio.get_running_loop(), Events()

    def post(event: JobEvent) -> None:
        note(event)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(events.put_nowait, event)

    return events, post


async def unless_gone(request: Request, answer: Awaitable[_T]) -> _T:
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
