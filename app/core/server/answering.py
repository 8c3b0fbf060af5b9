"""Sends the engine's events to a client as one answer or as a stream, until the client disconnects."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.core.domain.local_server import GONE
from app.core.server.answers import AnswerBuilder
from app.core.server.engine_job import SessionReply
from app.core.server.errors import ApiError
from app.core.server.protocol import CompletionRequest
from app.core.server.scheduler import AnswerEvent, JobEvent
from engine.records import EngineReady, Finished, PrefillProgress, TextChunk

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


def events_across_threads(
    note: Callable[[JobEvent], None] = lambda _event: None,
) -> tuple[Events, Callable[[JobEvent], None]]:
    """Returns a queue for this event loop, and a thread-safe function to put events; ``note`` gets every event."""
    loop, events = asyncio.get_running_loop(), Events()

    def post(event: JobEvent) -> None:
        note(event)
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
