"""Access control: checks the key, the Host header, and that no page of another site sent the request.

A page in a browser can send requests to this machine: under a host name that resolves to 127.0.0.1 (DNS rebinding),
which the Host header shows, or cross-origin, which the Origin header shows.
"""

import hmac
import ipaddress
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.server.errors import ApiError, error_body

OPEN_PATHS = {"/health", "/"}  # paths that need no key


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The hosts that a request may name in its Host header: loopback names and the bound address.

    If the server is bound to all addresses, any IP address is allowed, but no other name. ``names``: additional names
    of this server, such as ``host.docker.internal``. ``origins``: other sites whose pages may send requests.
    """

    bound: str
    names: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()

    def allows(self, header: str) -> bool:
        """True if a Host header names this server; the port is ignored."""
        name = _name_of(header)
        if name in {"localhost", self.bound.lower(), *self.names}:
            return bool(name)
        address, bound = _address(name), _address(self.bound)
        if address is None or address.is_unspecified:
            return False
        return address.is_loopback or (bound is not None and bound.is_unspecified)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _name_of(header: str) -> str:
    """A Host header without its port and the brackets of an IPv6 address; empty if the header is malformed."""
    text = header.strip().lower()
    if text.startswith("["):
        name, bracket, rest = text[1:].partition("]")
        return name if bracket and (not rest or rest.startswith(":")) else ""
    name, _, port = text.partition(":")
    return "" if ":" in port else name


def _normalized(path: str) -> str:
    """Remove double slashes and a repeated version from a path, which some programs send."""
    plain = "/" + "/".join(part for part in path.split("/") if part)
    return plain.removeprefix("/v1") if plain.startswith(("/v1/v1/", "/v1/api/")) else plain


class AccessControl:
    """ASGI middleware: answers 403 for a forbidden host or origin, 401 for a missing or wrong key.

    With an empty ``key`` no key is needed.
    """

    def __init__(self, app: ASGIApp, key: str, hosts: AllowedHosts) -> None:
        self._app = app
        self._key = key.encode("ascii")
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # only the lifespan: WebSockets are disabled in uvicorn
            await self._app(scope, receive, send)
            return

        scope = {**scope, "path": _normalized(scope["path"])}
        refusal = self._refusal(Headers(scope=scope), scope["path"])
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            response = JSONResponse(error_body(refusal, scope["path"]), refusal.status, refusal.headers)
            await response(scope, receive, send)

    def _refusal(self, headers: Headers, path: str) -> ApiError | None:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._hosts.allows(hosts[0]):
            message = "The Host header must name this server: its address, or localhost."
            return ApiError(403, message, code="host_not_allowed")
        if not {origin.lower() for origin in origins} <= {f"http://{hosts[0].lower()}", *self._hosts.origins}:
            return ApiError(403, "Requests of other sites' pages are refused.", code="origin_not_allowed")
        if not origins and headers.get("sec-fetch-site") in ("cross-site", "same-site"):  # another site's page
            return ApiError(403, "Requests of other sites' pages are refused.", code="origin_not_allowed")
        if self._key and path not in OPEN_PATHS and not self._has_key(headers):
            message = "The key is missing or wrong; give it as `Authorization: Bearer KEY`, or as `x-api-key: KEY`."
            return ApiError(401, message, code="invalid_api_key", headers={"WWW-Authenticate": "Bearer"})
        return None

    def _has_key(self, headers: Headers) -> bool:
        bearers, plain = headers.getlist("authorization"), headers.getlist("x-api-key")
        scheme, _, key = bearers[0].partition(" ") if len(bearers) == 1 else ("", "", "")
        if not bearers and len(plain) == 1:  # Anthropic's clients send the key without "Bearer"
            scheme, key = "bearer", plain[0]
        is_right = hmac.compare_digest(key.strip().encode("latin-1", "replace"), self._key)
        return is_right and scheme.lower() == "bearer"
