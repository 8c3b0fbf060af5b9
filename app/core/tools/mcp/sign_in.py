"""Signs in to a server over HTTP by OAuth in the user's browser (RFC 8252), and stores the sign-in.

The MCP package implements OAuth: discovery (RFC 9728, RFC 8414), registration (RFC 7591), PKCE (RFC 7636) and the
exchange of tokens. This module adds the allowed addresses, the redirect port, and the storage of tokens. Only the user
starts a sign-in: a session with `StoredSignIn.auth` uses and renews existing tokens.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from pydantic import AnyUrl, ValidationError

from app.core.domain.engines import is_this_machine
from app.core.tools.interface import ToolServerError
from engine.sentences import i18n

MAX_SIGN_IN_S = 300.0  # time limit for the user to sign in
_HEAD_BYTES, _HEAD_S = 16_384, 10.0  # limits of the browser's request
_PATH = "/callback"
_ENDPOINTS = ("issuer", "authorization_endpoint", "token_endpoint")


class SecretStore(Protocol):
    """A secret in the system's keyring. Methods may block, and raise `AppError` without a keyring."""

    def find(self) -> str:
        """The secret; empty if none is stored."""

    def save(self, token: str) -> None: ...

    def forget(self) -> None: ...


def may_be_asked(url: str, server_url: str) -> bool:
    """True if a server may lead to an address: https, or this machine if the server is local."""
    try:
        to, own = urlsplit(url), urlsplit(server_url)
        is_here, _ = is_this_machine(to.hostname or ""), to.port
    except ValueError:
        return False
    if not to.hostname or to.username is not None or to.password is not None:
        return False
    if (to.scheme, to.netloc) == (own.scheme, own.netloc):
        return True
    return is_this_machine(own.hostname or "") if is_here else to.scheme == "https"


class StoredSignIn:
    """The stored sign-in of a server. Implements the package's `TokenStorage`."""

    def __init__(self, url: str, store: SecretStore) -> None:
        self._url, self._store = url, store
        self._stored: dict[str, Any] = {}
        self._provider: OAuthClientProvider | None = None

    async def load(self) -> bool:
        """Read the keyring; True if it has a sign-in."""
        text = await asyncio.to_thread(self._store.find)
        try:
            kept = json.loads(base64.b64decode(text, validate=True)) if text else {}
            self._stored = kept if isinstance(kept, dict) else {}
            return await self.get_tokens() is not None and await self.get_client_info() is not None
        except (ValueError, binascii.Error, RecursionError):
            self._stored = {}
            return False

    def auth(self) -> httpx2.Auth:
        """An authenticator that adds tokens to requests and renews them. Call `load` first."""
        provider = self.provider(None, None, "http://127.0.0.1/")
        try:
            provider.context.oauth_metadata = OAuthMetadata.model_validate(self._stored.get("endpoints"))
        except ValidationError:
            provider.context.oauth_metadata = None
        expires = self._stored.get("expires")
        provider.context.token_expiry_time = float(expires) if isinstance(expires, int | float) else None
        return provider

    def provider(
        self,
        open_page: Callable[[str], Awaitable[None]] | None,
        wait: Callable[[], Awaitable[AuthorizationCodeResult]] | None,
        redirect: str,
    ) -> OAuthClientProvider:
        """The MCP package's OAuth provider with this object as token storage."""
        metadata = OAuthClientMetadata(client_name="Paceline", redirect_uris=[AnyUrl(redirect)])
        metadata.token_endpoint_auth_method = "none"  # noqa: S105  (a program on a desktop keeps no secret of its own)
        self._provider = OAuthClientProvider(self._url, metadata, self, open_page, wait)
        return self._provider

    @property
    def token_address(self) -> str:
        """The address for renewing tokens; empty if unknown."""
        context = self._provider.context if self._provider is not None else None
        found = context.oauth_metadata if context is not None else None
        return "" if found is None else str(found.token_endpoint)

    def forget_loaded(self) -> None:
        """Forget the loaded sign-in, but keep it in the keyring: a new sign-in has another redirect address."""
        self._stored = {}

    async def get_tokens(self) -> OAuthToken | None:
        found = self._stored.get("tokens")
        return None if found is None else OAuthToken.model_validate(found)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Store the tokens with the data for renewing them."""
        context = self._provider.context if self._provider is not None else None
        found = context.oauth_metadata if context is not None else None
        if found is not None:
            self._stored["endpoints"] = found.model_dump(mode="json", include=set(_ENDPOINTS))
        self._stored["tokens"] = tokens.model_dump(mode="json", exclude_none=True)
        self._stored["expires"] = None if tokens.expires_in is None else time.time() + tokens.expires_in
        text = base64.b64encode(json.dumps(self._stored).encode()).decode()
        await asyncio.to_thread(self._store.save, text)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        found = self._stored.get("client")
        return None if found is None else OAuthClientInformationFull.model_validate(found)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Remember the data; `set_tokens` stores it."""
        self._stored["client"] = client_info.model_dump(mode="json", exclude_none=True)


class RedirectListener:
    """Receives the browser's redirect on a port of this machine that is open during the sign-in."""

    def __init__(self, words: str) -> None:
        """``words``: the text that the browser shows at the end."""
        self._words = words
        self._server: asyncio.Server | None = None
        self._received: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()
        self._state = ""
        self.url = ""

    async def __aenter__(self) -> RedirectListener:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0, limit=_HEAD_BYTES)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{_PATH}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        self._received.cancel()

    def expect(self, page: str) -> None:
        """Accept only redirects with the state parameter of this sign-in."""
        self._state = (parse_qs(urlsplit(page).query).get("state") or [""])[0]

    async def wait(self) -> AuthorizationCodeResult:
        """Wait for the browser's redirect; returns its result.

        Raises:
            ToolServerError: the server refused the sign-in.
        """
        return await self._received

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_S):
                head = await reader.readuntil(b"\r\n\r\n")
                status, words = self._parse_redirect(head.decode("latin-1"))
                body = words.encode()
                kind = (
                    f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
                )
                writer.write(kind.encode() + b"Cache-Control: no-store\r\nConnection: close\r\n\r\n" + body)
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    def _parse_redirect(self, head: str) -> tuple[str, str]:
        first, *lines = head.split("\r\n")
        method, _, rest = first.partition(" ")
        target = urlsplit(rest.rpartition(" ")[0])
        host = next((line.partition(":")[2].strip() for line in lines if line.lower().startswith("host:")), "")
        given = {name: values[0] for name, values in parse_qs(target.query).items()}
        is_ours = method == "GET" and target.path == _PATH and host == urlsplit(self.url).netloc
        if not is_ours or not self._state or given.get("state") != self._state or self._received.done():
            return "404 Not Found", ""
        if not given.get("code"):
            error = ToolServerError(i18n("the server refused to sign you in"), "")
            self._received.set_exception(error)
        else:
            self._received.set_result(
                AuthorizationCodeResult(code=given["code"], state=self._state, iss=given.get("iss"))
            )
        return "200 OK", self._words
