"""Opens the server's socket and runs uvicorn on it. Only this module listens on the network."""

import asyncio
import contextlib
import errno
import itertools
import json
import logging
import socket
from collections.abc import Callable

import uvicorn
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.core.domain.errors import AppError, PortTakenError
from app.core.server.errors import ApiError, error_body

log = logging.getLogger(__name__)

BACKLOG = 128  # maximum number of connections that are not accepted yet
MAX_CONNECTIONS = 256  # further connections get status 503
MAX_REFUSED_CONNECTIONS = 64  # maximum number of connections that get a 503; further ones are closed unread
OPEN_FILES_LIMIT = 4096  # requested limit of open files: each connection uses one
MAX_HEADER_BYTES = 16_384
KEEP_ALIVE_S = 15
REQUEST_S = 30.0  # maximum time for a request's head to arrive
SHUTDOWN_S = 5  # time for stopped answers to reach their clients
_TOO_MANY = f"This server has {MAX_CONNECTIONS} connections, which is its limit. Close some, or try again later."
_WINDOWS_IN_USE = 10048


def bind(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 means any free port.

    Raises:
        PortTakenError: the port is taken.
        AppError: the address is invalid or belongs to another machine.
    """
    if not host:
        raise AppError("There is no address to listen on.", "Give one with --host.")
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, _WINDOWS_IN_USE):
            message = f"Another program uses port {port} of {host}."
            raise PortTakenError(message, "Choose another --port, or end that program.") from error
        reason = str(error.strerror or error).partition(" (")[0]  # Python repeats the address in brackets
        message = f"{host} cannot be listened on at port {port}: {reason}."
        raise AppError(message, "Choose another --host or --port.") from error


def address_of(listener: socket.socket) -> str:
    """The address for clients, such as ``http://127.0.0.1:8080``."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class TimedProtocol(H11Protocol):
    """Closes a connection that sends no complete request head within `REQUEST_S`.

    uvicorn itself waits for ever, so a few idle connections could lock out other clients.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout; close connections far beyond the limit."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS + MAX_REFUSED_CONNECTIONS:
            transport.abort()
        else:
            self._watch()

    def handle_events(self) -> None:
        super().handle_events()
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_timer()

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP with an error in OpenAI's format; within an answer, close the connection."""
        if self.cycle is None or self.cycle.response_complete:
            error = ApiError(400, f"This is no request that can be read: {msg}", code="invalid_http")
            body = json.dumps(error.body).encode()
            head = f"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            self.transport.write(head.encode() + b"Connection: close\r\n\r\n" + body)
        self.transport.close()

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timer()
        elif self._timer is None and not self.transport.is_closing():
            self._timer = self.loop.call_later(REQUEST_S, self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class HttpServer(uvicorn.Server):
    """A uvicorn server that stops running answers at shutdown instead of waiting for their end."""

    def __init__(self, app: ASGIApp, on_shutdown: Callable[[], None], shutdown_s: int = SHUTDOWN_S) -> None:
        config = uvicorn.Config(
            self._limit_connections(app),
            http=TimedProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=shutdown_s,
            h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        )
        # Raise the limit of open files to `OPEN_FILES_LIMIT` if the system allows; the default is often 256 or 1,024.
        with contextlib.suppress(ImportError, OSError, ValueError):  # Windows, or a lower limit of the system
            import resource  # noqa: PLC0415

            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            if resource.RLIM_INFINITY != soft < OPEN_FILES_LIMIT:
                wanted = OPEN_FILES_LIMIT if hard == resource.RLIM_INFINITY else min(OPEN_FILES_LIMIT, hard)
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        super().__init__(config)
        self._on_shutdown = on_shutdown

    def _limit_connections(self, app: ASGIApp) -> ASGIApp:
        """Refuse requests beyond the connection limit, in the format of their API; uvicorn would answer with text.

        Also refuse heads that are too long: the HTTP library only limits heads that arrive in several chunks.
        """

        async def limited(scope: Scope, receive: Receive, send: Send) -> None:
            headers = {"Connection": "close"}
            parts = [scope["raw_path"], scope["query_string"], *itertools.chain(*scope["headers"])]
            if sum(map(len, parts)) > MAX_HEADER_BYTES:
                message = f"The head of this request is longer than {MAX_HEADER_BYTES:,} bytes."
                error = ApiError(431, message, code="head_too_long", headers=headers)
            elif len(self.server_state.connections) <= MAX_CONNECTIONS:
                await app(scope, receive, send)
                return
            else:
                error = ApiError(503, _TOO_MANY, code="too_many_connections", headers=headers | {"Retry-After": "1"})
            response = JSONResponse(error_body(error, scope["path"]), error.status, error.headers)
            await response(scope, receive, send)

        return limited

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop the answers and wait until their clients have received the end."""
        await asyncio.to_thread(self._on_shutdown)
        await self._stop_accepting()
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):  # clients that do not read, or connected just now
            connection.transport.abort()
        await asyncio.sleep(0)  # connections close in the next iteration of the event loop

    async def _stop_accepting(self) -> None:
        """Stop accepting connections; register connections that were just accepted, so that they are closed, too.

        asyncio's server forgets a connection that it accepts in the loop iteration in which it is closed; that client
        would wait for ever.
        """
        loop = asyncio.get_running_loop()
        for server in self.servers:
            for listener in server.sockets:
                with contextlib.suppress(NotImplementedError):  # Windows' event loop lacks remove_reader
                    loop.remove_reader(listener.fileno())
        await asyncio.sleep(0)
