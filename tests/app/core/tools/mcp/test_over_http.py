"""Tests servers over HTTP: a single origin, limited answers, and a sentence for each failure."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from app.core.domain.tools.servers import Phase
from app.core.tools.mcp.entries import ServerEntry
from app.core.tools.mcp.limits import Limits
from app.core.tools.mcp.provider import McpTools
from tests.app.core.tools.mcp.test_hostile import call

Connect = Callable[..., McpTools]
LIMITS = Limits(start_s=20.0, call_s=20.0)


RESULTS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "x", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "said"}]},
}


ODD = '\ufeff{"id": ID, "result": {"content": "Grü\\ud83dße"}}'


class Handler(BaseHTTPRequestHandler):
    """Answers according to the server's ``kind``, and records the headers of requests."""

    disable_nagle_algorithm = True  # otherwise each body waits 40 ms for the delayed ACK of its headers
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.reply(405, b"")

    do_DELETE = do_GET  # noqa: N815 (the base class's names)

    def do_POST(self) -> None:
        self.server.headers.append(dict(self.headers))
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        kind, method = self.server.kind, request.get("method")
        refusals: dict[str, tuple[int, bytes, dict[str, str]]] = {
            "key": (401, b"", {}),
            "sign in": (401, b"", {"WWW-Authenticate": 'Bearer resource_metadata="http://127.0.0.1/x"'}),
            "many values": (200, b'{"jsonrpc": "2.0", "id": 1, "result": [' + b"1," * 30_000 + b"1]}", {}),
            "redirect": (307, b"", {"Location": self.server.elsewhere}),
            "compressed": (200, gzip.compress(b"0" * 50_000_000), {"Content-Encoding": "gzip"}),
        }
        if kind in refusals:
            status, body, headers = refusals[kind]
            self.reply(status, body, **headers)
        elif "id" not in request:
            self.reply(202, b"")
        elif method == "tools/call" and kind == "huge":
            self.huge()
        elif method == "tools/call" and kind in ("events", "odd events"):
            self.events(request["id"])
        elif method == "tools/call" and kind == "odd":
            self.reply(200, ODD.replace("ID", str(request["id"])).encode())
        elif method == "tools/call" and kind == "broken":
            self.reply(200, b'{"jsonrpc": "2.0", "id": %d, "result": {"content": [Sunny]}}' % request["id"])
        else:
            self.reply(200, json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": RESULTS[method]}).encode())

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def huge(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.write_on(b"[" + b" " * 1_000_000)

    def events(self, id_: int) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
        result = {"jsonrpc": "2.0", "id": id_, "result": {"content": [{"type": "text", "text": "by event"}]}}
        if self.server.kind == "odd events":
            result = {"id": id_, "result": "by event", "error": None}
        for message in (note, result):
            self.wfile.write(b"event: message\r\ndata: " + json.dumps(message).encode() + b"\r\n\r\n")

    def write_on(self, part: bytes) -> None:
        try:
            while True:
                self.wfile.write(part)
        except OSError:
            self.close_connection = True


class Server(ThreadingHTTPServer):
    """A server with its recorded requests."""

    daemon_threads = True

    def __init__(self, kind: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.kind, self.elsewhere = kind, ""
        self.headers: list[dict[str, str]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/mcp"


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    made: list[Server] = []
    yield made
    for server in made:
        server.shutdown()
        server.server_close()


@pytest.fixture
def connected(servers: list[Server]) -> Iterator[Connect]:
    made: list[McpTools] = []

    def connect(kind: str, elsewhere: str = "") -> McpTools:
        server = Server(kind)
        server.elsewhere = elsewhere
        servers.append(server)
        tools = McpTools([ServerEntry("x", url=server.url, headers=(("X-Key", "secret"),))], limits=LIMITS)
        made.append(tools)
        tools.start("x")
        tools.wait_until_started()
        return tools

    yield connect
    for tools in made:
        tools.close()


@pytest.mark.parametrize(
    ("kind", "text"), [("good", "said"), ("events", "by event"), ("odd events", "by event"), ("odd", "Grü�ße")]
)
def test_a_good_server_is_called_with_the_headers_of_its_entry(
    connected: Connect, servers: list[Server], kind: str, text: str
) -> None:
    tools = connected(kind)
    assert call(tools).text == text
    assert all(headers["x-key"] == "secret" for headers in map(lowered, servers[0].headers))
    assert all(headers["accept-encoding"] == "identity" for headers in map(lowered, servers[0].headers))


def lowered(headers: dict[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def test_no_other_host_is_sent_anything(connected: Connect, servers: list[Server]) -> None:
    other = Server("good")
    servers.append(other)
    tools = connected("redirect", other.url)
    (state,) = tools.states()
    assert state.phase is Phase.FAILED
    assert state.problem.startswith("Could not start “x”: ")
    assert "edirect" in state.problem
    assert other.headers == []


def test_an_answer_that_is_no_json_ends_its_call_with_its_words(connected: Connect) -> None:
    words = '{"jsonrpc": "2.0", "id": 3, "result": {"content": [Sunny]}}'
    assert call(connected("broken")).text == f"“x” did not answer: it sent something that is not JSON: “{words}”."


def test_answers_without_an_end_are_not_read_to_it(connected: Connect) -> None:
    result = call(connected("huge"))
    assert result.text == "“x” did not answer: it sent an answer of more than 17 MB."


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("compressed", "it sends compressed answers, though none were asked for"),
        ("key", "it asks for a key: put an Authorization header into its entry"),
        (
            "sign in",
            "it asks you to sign in: choose “Sign in” beside it on the Tools page of the settings, or put a token "
            "into “headers” of its entry as Authorization",
        ),
        ("many values", "it wrote a message with more than 20,000 values"),
    ],
)
def test_what_fails_at_the_start_is_one_sentence(connected: Connect, kind: str, words: str) -> None:
    (state,) = connected(kind).states()
    assert state.problem == f"Could not start “x”: {words}."


def test_nobody_there_is_told(servers: list[Server]) -> None:
    server = Server("good")
    url = server.url
    server.shutdown()
    server.server_close()
    tools = McpTools([ServerEntry("x", url=url)], limits=LIMITS)
    tools.start("x")
    tools.wait_until_started()
    assert "nothing listens at 127.0.0.1:" in tools.states()[0].problem
    tools.close()
