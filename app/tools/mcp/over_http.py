"""A server that is reached over HTTP: one host, no more than a message at once, and nothing followed elsewhere.

The package itself follows a redirect within the origin only (`mcp.shared._httpx_utils.stream_within_origin`), and
bounds an event; this adds a bound for whole answers, for how fast they are read, and for where requests may go.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp.client.streamable_http import streamable_http_client

from app.tools.mcp.entries import ServerEntry
from app.tools.mcp.limits import MESSAGE_BYTES, MESSAGE_VALUES, Limits, Throttle, ValueCounter
from app.tools.mcp.results import too_many_values
from engine.sentences import Sentence, said, size_of

_CONNECT_S, _READ_S = 15.0, 300.0


class RefusedError(httpx2.TransportError):
    """What a server does that is not let happen; the sentence says what."""

    def __init__(self, sentence: Sentence) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Seen:
    """What was seen of a server beside its messages: the last HTTP status that was an error, and the last failure.

    A ``refusal`` ends the connection.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        self.wants_sign_in = False  # by OAuth (RFC 9728), says that one
        self.failure: Exception | None = None
        self.refusal: Sentence | None = None

    def refused(self, sentence: Sentence) -> RefusedError:
        """Keep what is not let happen, and give it as an error."""
        self.refusal = sentence
        return RefusedError(sentence)


class _Transport(httpx2.AsyncBaseTransport):
    """Sends to one origin alone, and bounds what comes back."""

    def __init__(self, origin: httpx2.URL, throttle: Throttle, seen: Seen) -> None:
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False)
        self._origin = (origin.scheme, origin.host, origin.port)
        self._throttle, self._seen = throttle, seen

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it, and give the answer with a bounded body."""
        to = (request.url.scheme, request.url.host, request.url.port)
        if to != self._origin:
            raise self._seen.refused(said("it sends requests on to another address"))
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.HTTPError as error:
            self._seen.failure = error
            raise
        if response.status_code >= 400:
            self._seen.status = response.status_code
            self._seen.wants_sign_in = "resource_metadata" in response.headers.get("www-authenticate", "")
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            await response.aclose()
            raise self._seen.refused(said("it sends compressed answers, though none were asked for"))
        is_stream = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        response.stream = _Body(response, self._throttle, self._seen, None if is_stream else MESSAGE_BYTES)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _Body(httpx2.AsyncByteStream):
    """The body of an answer, read no faster than the throttle lets, and no further than ``most_bytes``."""

    def __init__(self, response: httpx2.Response, throttle: Throttle, seen: Seen, most_bytes: int | None) -> None:
        self._stream = response.stream
        self._throttle, self._seen, self._most_bytes = throttle, seen, most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Its chunks."""
        size, values = 0, ValueCounter()
        assert isinstance(self._stream, httpx2.AsyncByteStream)  # noqa: S101  (of an asynchronous transport)
        async for chunk in self._stream:
            size += len(chunk)
            if self._most_bytes is not None and size > self._most_bytes:
                raise self._seen.refused(said("it sent an answer of more than {size}", size=size_of(MESSAGE_BYTES)))
            *lines, rest = chunk.split(b"\n") if self._most_bytes is None else [chunk]
            for line in lines:  # of a stream: an event is one, so another one begins behind it
                self._count(values, line)
                values = ValueCounter()
            self._count(values, rest)
            await self._throttle.take(len(chunk))
            yield chunk

    def _count(self, values: ValueCounter, piece: bytes) -> None:
        values.feed(piece)
        if values.num_values > MESSAGE_VALUES:
            raise self._seen.refused(too_many_values())

    async def aclose(self) -> None:
        """Leave the rest."""
        assert isinstance(self._stream, httpx2.AsyncByteStream)  # noqa: S101
        await self._stream.aclose()


@asynccontextmanager
async def http_streams(entry: ServerEntry, limits: Limits, seen: Seen) -> AsyncIterator[object]:
    """The streams of messages from and to a server; the entry's headers go to its own origin alone."""
    transport = _Transport(httpx2.URL(entry.url), Throttle(limits.burst, limits.per_s), seen)
    client = httpx2.AsyncClient(
        transport=transport,
        headers={"accept-encoding": "identity", **dict(entry.headers)},
        timeout=httpx2.Timeout(_CONNECT_S, read=_READ_S),
        follow_redirects=False,
        trust_env=False,  # no proxy is told of it, and no .netrc read
    )
    async with (
        client,
        streamable_http_client(entry.url, http_client=client, max_sse_event_size=MESSAGE_BYTES) as streams,
    ):
        yield streams
