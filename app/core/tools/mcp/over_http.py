"""Connects to an MCP server over HTTP: one host, one message at a time, no redirects to other hosts.

The MCP package follows redirects within the origin only (`mcp.shared._httpx_utils.stream_within_origin`), and limits
the size of an event. This module adds limits for whole answers, for the reading speed, and for the addresses of
requests.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx2
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError
from mcp.client.streamable_http import streamable_http_client
from pydantic import ValidationError

from app.core.domain.errors import AppError
from app.core.tools.interface import ToolServerError
from app.core.tools.mcp.entries import ServerEntry, with_variables
from app.core.tools.mcp.limits import MESSAGE_BYTES, MESSAGE_VALUES, JsonValueCounter, Limits, RateLimiter
from app.core.tools.mcp.results import repaired_message, too_many_values
from app.core.tools.mcp.sign_in import MAX_SIGN_IN_S, RedirectListener, SecretStore, StoredSignIn, may_be_asked
from engine.sentences import Sentence, i18n, size_of

_CONNECT_S, _READ_S = 15.0, 300.0
_PING_LINE = {"jsonrpc": "2.0", "id": 1, "method": "ping"}  # the answer names the sign-in server


class RefusedError(httpx2.TransportError):
    """The server did something that is not allowed, which the message names."""

    def __init__(self, sentence: Sentence) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class HttpStatusRecorder:
    """What was observed of a server: the last HTTP error status and the last failure.

    After a ``refusal`` the connection ends.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        self.wants_sign_in = False  # the server requires OAuth (RFC 9728)
        self.is_signed_in = False  # requests carry an OAuth token
        self.failure: Exception | None = None
        self.refusal: Sentence | None = None

    def refused(self, sentence: Sentence) -> RefusedError:
        """Record a refusal and return it as an error."""
        self.refusal = sentence
        return RefusedError(sentence)


class _Transport(httpx2.AsyncBaseTransport):
    """Sends requests to allowed addresses only, and limits the answers."""

    def __init__(
        self, may_be_asked: Callable[[str], bool], throttle: RateLimiter, observed: HttpStatusRecorder
    ) -> None:
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False)
        self._may_be_asked = may_be_asked
        self._throttle, self._observed = throttle, observed

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self._observed.is_signed_in and self._observed.wants_sign_in:  # only the user starts a sign-in
            raise self._observed.refused(
                i18n("the sign-in has ended: sign in again, on the Tools page of the settings")
            )
        if not self._may_be_asked(str(request.url)):
            raise self._observed.refused(i18n("it redirects requests to another address"))
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.HTTPError as error:
            self._observed.failure = error
            raise
        if response.status_code >= 400:
            self._observed.status = response.status_code
            asks = response.headers.get("www-authenticate", "").lower()
            self._observed.wants_sign_in = "resource_metadata" in asks or (
                self._observed.is_signed_in and (response.status_code == 401 or "insufficient_scope" in asks)
            )
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            await response.aclose()
            raise self._observed.refused(i18n("it sends compressed answers, though none were asked for"))
        is_stream = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        response.stream = _LimitedBody(response, self._throttle, self._observed, None if is_stream else MESSAGE_BYTES)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _LimitedBody(httpx2.AsyncByteStream):
    """The body of an answer, throttled and limited to ``most_bytes``."""

    def __init__(
        self, response: httpx2.Response, throttle: RateLimiter, observed: HttpStatusRecorder, most_bytes: int | None
    ) -> None:
        self._stream = response.stream
        self._throttle, self._observed, self._most_bytes = throttle, observed, most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the lines of an event stream, or the whole body, with repaired messages."""
        values, size, rest, is_stream = JsonValueCounter(), 0, bytearray(), self._most_bytes is None
        assert isinstance(self._stream, httpx2.AsyncByteStream)  # noqa: S101  (of an asynchronous transport)
        async for chunk in self._stream:
            size += len(chunk)
            if (len(rest) if is_stream else size) > (self._most_bytes or MESSAGE_BYTES):
                raise self._observed.refused(i18n("it sent an answer of more than {size}", size=size_of(MESSAGE_BYTES)))
            *lines, last = chunk.split(b"\n") if is_stream else [chunk]
            for line in lines:  # each line is one event, so the count restarts
                self._count(values, line)
                values = JsonValueCounter()
                yield _repaired_event(bytes(rest + line)) + b"\n"
                rest.clear()
            self._count(values, last)
            rest += last
            await self._throttle.take(len(chunk))
        yield bytes(rest) if is_stream else repaired_message(bytes(rest))

    def _count(self, values: JsonValueCounter, piece: bytes) -> None:
        values.feed(piece)
        if values.num_values > MESSAGE_VALUES:
            raise self._observed.refused(too_many_values())

    async def aclose(self) -> None:
        assert isinstance(self._stream, httpx2.AsyncByteStream)  # noqa: S101
        await self._stream.aclose()


def _repaired_event(line: bytes) -> bytes:
    """A line of an event stream with its message repaired."""
    said_there = line.removeprefix(b"data:").strip()
    is_message = line.startswith(b"data:") and said_there.endswith(b"}")
    return b"data: " + repaired_message(said_there) if is_message else line


def has_own_key(entry: ServerEntry) -> bool:
    """True if the entry sets its own Authorization header; OAuth is skipped then."""
    return any(name.lower() == "authorization" for name, _ in entry.headers)


def _client(
    entry: ServerEntry,
    limits: Limits,
    observed: HttpStatusRecorder,
    may_be_asked: Callable[[str], bool],
    auth: httpx2.Auth | None,
) -> httpx2.AsyncClient:
    """``may_be_asked`` decides which addresses get requests. The entry's headers are for its own origin only."""

    async def add_headers(request: httpx2.Request) -> None:
        if _same_origin(str(request.url), entry.url):
            request.headers.update(dict(entry.headers))

    return httpx2.AsyncClient(
        transport=_Transport(may_be_asked, RateLimiter(limits.burst, limits.messages_per_s), observed),
        headers={"accept-encoding": "identity"},
        auth=auth,
        event_hooks={"request": [add_headers]},
        timeout=httpx2.Timeout(_CONNECT_S, read=_READ_S),
        follow_redirects=False,
        trust_env=False,  # no proxy and no .netrc
    )


def _same_origin(one: str, other: str) -> bool:
    first, second = httpx2.URL(one), httpx2.URL(other)
    return (first.scheme, first.host, first.port) == (second.scheme, second.host, second.port)


@asynccontextmanager
async def http_streams(
    entry: ServerEntry, limits: Limits, observed: HttpStatusRecorder, secrets: SecretStore | None = None
) -> AsyncIterator[object]:
    """The message streams from and to a server. The entry's headers are sent to its own origin only.

    With a sign-in in ``secrets``, requests have its token, which the token server may renew.
    """
    auth, renewed_at = None, ""
    if secrets is not None and not has_own_key(entry):
        kept = StoredSignIn(entry.url, secrets)
        observed.is_signed_in = await kept.load()
        if observed.is_signed_in:
            auth, renewed_at = kept.auth(), kept.token_address

    def may_ask(url: str) -> bool:
        return _same_origin(url, entry.url) or (url == renewed_at and may_be_asked(url, entry.url))

    client = _client(entry, limits, observed, may_ask, auth)
    async with (
        client,
        streamable_http_client(entry.url, http_client=client, max_sse_event_size=MESSAGE_BYTES) as streams,
    ):
        yield streams


async def sign_in(
    entry: ServerEntry, limits: Limits, secrets: SecretStore, open_page: Callable[[str], None], words: str
) -> None:
    """Let the user sign in to a server. ``open_page`` opens an address in the browser, which finally shows ``words``.

    Raises:
        ToolServerError: the sign-in failed; the message says why.
    """
    observed, (entry, _) = HttpStatusRecorder(), with_variables(entry)
    kept = StoredSignIn(entry.url, secrets)
    kept.forget_loaded()
    async with RedirectListener(words) as place:

        async def show(page: str) -> None:
            if not may_be_asked(page, entry.url):
                raise observed.refused(i18n("its sign-in page is at an address that is not allowed"))
            place.expect(page)
            open_page(page)

        auth = kept.provider(show, place.wait, place.url)
        client = _client(entry, limits, observed, lambda url: may_be_asked(url, entry.url), auth)
        try:
            async with asyncio.timeout(MAX_SIGN_IN_S), client:
                await client.post(entry.url, json=_PING_LINE, headers={"accept": "application/json, text/event-stream"})
        except (httpx2.HTTPError, OAuthFlowError, TimeoutError, ValidationError, AppError) as error:
            raise _sign_in_error(entry, observed, error) from error
        if await kept.get_tokens() is None:
            raise ToolServerError(i18n("“{name}” does not offer a sign-in.", name=entry.name), "")


def _sign_in_error(entry: ServerEntry, observed: HttpStatusRecorder, error: Exception) -> ToolServerError:
    if isinstance(error, AppError):
        why: str = error.message
    elif observed.refusal is not None:
        why = observed.refusal
    elif isinstance(error, TimeoutError):
        why = i18n("it took longer than {seconds:,.0f} seconds", seconds=MAX_SIGN_IN_S)
    elif isinstance(error, OAuthRegistrationError):
        why = i18n("its sign-in server accepts only programs that it knows")
    elif isinstance(error, httpx2.HTTPError):
        why = i18n("the connection to {host} failed", host=entry.place)
    else:  # do not show other errors of the package: they may contain tokens
        why = i18n("its answer is not an OAuth sign-in")
    return ToolServerError(i18n("You are not signed in to “{name}”: {why}.", name=entry.name, why=why.rstrip(".")), "")
