"""Tests connections over a real socket: their limits, the end of the server, and its address."""

import asyncio
import contextlib
import http.client
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.domain.errors import AppError, PortTakenError
from app.core.server import listening
from app.core.server.listening import HttpServer, address_of, bind
from tests.app.core.server.scripted_session import CHAT, PATIENCE_S
from tests.waiting import wait_for

LOCAL = "127.0.0.1"


async def answer_nothing(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


@contextmanager
def plain_server(app: ASGIApp = answer_nothing) -> Iterator[int]:
    """The port of a server without an engine."""
    with bind(LOCAL, 0) as listener:
        server = HttpServer(app, lambda: None)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def test_a_header_without_end_and_an_odd_request_are_refused() -> None:
    begun = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: "
    with plain_server() as port:
        for raw, status in (
            (begun + b"x" * 200_000 + b"\r\n\r\n", b"400"),
            (begun + b"x" * 20_000 + b"\r\n\r\n", b"4"),  # 431 if it arrives in one piece
            (b"\x16\x03\x01\r\n\r\n", b"400"),
        ):
            with socket.create_connection((LOCAL, port), timeout=PATIENCE_S) as link:
                try:
                    link.sendall(raw)
                    answer = b"".join(iter(lambda: link.recv(4096), b""))
                except ConnectionError:  # the server closed the connection before all was sent
                    continue
                head, _, body = answer.partition(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 " + status)
                error = json.loads(body)["error"]
                assert error["type"] == "invalid_request_error"
                assert error["code"] in ("invalid_http", "head_too_long")


def test_a_connection_without_a_request_is_closed_and_one_that_asks_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "REQUEST_S", 0.5)

    async def answer_slowly(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/slow":
            await asyncio.sleep(1.0)  # longer than a request may take
        await answer_nothing(scope, receive, send)

    with plain_server(answer_slowly) as port:
        for begun in (b"", b"GET / HTTP/1.1\r\nHost: local", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET"):
            with socket.create_connection((LOCAL, port), timeout=PATIENCE_S) as link:
                link.sendall(begun)
                while link.recv(1000):
                    pass
        connection = http.client.HTTPConnection(LOCAL, port, timeout=PATIENCE_S)
        connection.request("GET", "/slow")
        assert connection.getresponse().status == 200
        connection.close()


class CaughtServer(HttpServer):
    """Gives access to its event loop."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.loop = asyncio.get_running_loop()
        await super().startup(sockets)


def test_who_connects_in_the_very_moment_of_the_end_is_not_left_waiting() -> None:
    ends, link = threading.Event(), socket.socket()
    link.settimeout(PATIENCE_S)

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 503, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    def connect_in_the_loop() -> None:
        """In one iteration the loop finds a new connection and the request to stop."""
        link.connect(listener.getsockname())
        link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        ends.set()
        time.sleep(0.2)

    def on_shutdown() -> None:
        server.loop.call_soon_threadsafe(connect_in_the_loop)
        assert ends.wait(PATIENCE_S)

    with bind(LOCAL, 0) as listener, link:
        server = CaughtServer(app, on_shutdown)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        server.should_exit = True
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
        with contextlib.suppress(ConnectionResetError):  # as good as an answer
            assert link.recv(100).startswith(b"HTTP/1.1 503") or not link.recv(100)


@pytest.mark.parametrize(
    ("path", "read"),
    [
        (
            CHAT,
            lambda body: body["error"]["code"] == "too_many_connections" and body["error"]["type"] == "server_error",
        ),
        ("/v1/messages", lambda body: body["type"] == "error"),
        ("/api/chat", lambda body: "connections" in body["error"]),
    ],
)
def test_one_connection_too_many_is_told_so_in_the_form_of_its_api(
    path: str, read: Callable[[Any], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "MAX_CONNECTIONS", 1)
    with plain_server() as port:
        first, second = (http.client.HTTPConnection(LOCAL, port, timeout=PATIENCE_S) for _ in range(2))
        with contextlib.closing(first), contextlib.closing(second):
            first.request("GET", "/")
            assert first.getresponse().status == 200
            second.request("POST", path, "{}")
            refused = second.getresponse()
            assert (refused.status, refused.headers["content-type"]) == (503, "application/json")
            assert read(json.loads(refused.read()))
            assert refused.headers["retry-after"]


def test_connections_far_over_the_limit_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "MAX_CONNECTIONS", 4)
    monkeypatch.setattr(listening, "MAX_REFUSED_CONNECTIONS", 2)
    with plain_server() as port, contextlib.ExitStack() as links:

        def connect() -> socket.socket:
            return links.enter_context(socket.create_connection((LOCAL, port), timeout=PATIENCE_S))

        kept = [connect() for _ in range(6)]
        for link in [connect() for _ in range(40)]:
            with contextlib.suppress(ConnectionError):
                assert link.recv(100) == b""
        for number, link in enumerate(kept):
            link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert link.recv(12) == (b"HTTP/1.1 503" if number < 2 else b"HTTP/1.1 200")
            if number < 2:
                assert link.makefile("rb").read().endswith(b"}")  # the connection is closed then


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_a_server_may_have_as_many_files_as_the_system_lets_it() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        with plain_server():
            wait_for(lambda: resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(listening.OPEN_FILES_LIMIT, hard))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_an_address_that_is_taken_or_elsewhere_is_reported() -> None:
    with bind(LOCAL, 0) as listener:
        port = listener.getsockname()[1]
        assert address_of(listener) == f"http://127.0.0.1:{port}"
        with pytest.raises(PortTakenError, match=f"Another program uses port {port} of {LOCAL}"):
            bind(LOCAL, port)
    with pytest.raises(AppError, match="There is no address"):
        bind("", 0)
    with pytest.raises(AppError, match=r"192\.0\.2\.1 cannot be listened on at port \d+: [^()]+\.$"):
        bind("192.0.2.1", 0)
