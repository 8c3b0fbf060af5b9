"""Tests slightly broken servers: each broken part fails alone, and an answer ends its call at once."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from app.core.domain.tools.servers import Phase
from app.core.tools.interface import ToolResult
from app.core.tools.mcp.entries import ServerEntry
from app.core.tools.mcp.limits import Limits
from app.core.tools.mcp.process import ServerProcess
from app.core.tools.mcp.server import McpServer

Json = dict[str, Any]
Answer = Callable[[Json], list[bytes]]
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
OBJECT = {"type": "object"}
WORDS = {"content": [{"type": "text", "text": "KEEP"}]}


def message(request: Json, result: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}, ensure_ascii=False).encode() + b"\n"


class Program:
    """Replaces a program: requests are answered by functions, selected by method."""

    returncode = pid = stderr = None

    def __init__(self, answers: dict[str, Answer]) -> None:
        self._answers = {
            "initialize": lambda request: [message(request, HELLO)],
            "tools/list": lambda request: [message(request, {"tools": [{"name": "a", "inputSchema": OBJECT}]})],
            "tools/call": lambda request: [message(request, WORDS)],
            **answers,
        }
        self._written: asyncio.Queue[bytes] = asyncio.Queue()
        self.stdin = self.stdout = self
        self.sent: list[Json] = []

    async def send(self, data: bytes) -> None:
        request = json.loads(data)
        self.sent.append(request)
        if "id" in request and request.get("method") in self._answers:
            for piece in self._answers[request["method"]](request):
                await self._written.put(piece)

    async def receive(self, _most: int) -> bytes:
        piece = await self._written.get()
        if not piece:
            raise anyio.EndOfStream
        return piece

    async def aclose(self) -> None:
        await self._written.put(b"")

    async def wait(self) -> int:
        return 0


def run(
    monkeypatch: pytest.MonkeyPatch,
    answers: dict[str, Answer],
    *calls: str,
    limits: Limits | None = None,
    entry: ServerEntry | None = None,
) -> tuple[McpServer, list[ToolResult], list[Json], str]:
    """Start a server with these answers and call some tools; returns the server, the results, and what it was sent."""
    program: list[Program] = []

    async def start(process: ServerProcess, _path: str) -> None:
        program.append(Program(answers))
        process._process = program[0]

    monkeypatch.setattr(ServerProcess, "_start", start)
    monkeypatch.setattr(ServerProcess, "_kill", lambda _process: None)
    monkeypatch.setattr("app.core.tools.mcp.process.find_command", lambda entry: entry.command)

    async def live() -> tuple[McpServer, list[ToolResult], list[Json], str]:
        limits_here = limits or Limits(start_s=20, call_s=20, kill_after_s=0.1)
        server = McpServer(entry or ServerEntry("x", "program"), limits_here, lambda: None)
        running = asyncio.create_task(server.run())
        while server.phase in (Phase.OFF, Phase.STARTING):
            await asyncio.sleep(0.001)
        tools, problem = dict(server.tools), server.problem
        results = [await server.call("1", tools[name], {}) for name in calls]
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        server.tools = tools
        return server, results, program[0].sent, problem

    return asyncio.run(live())


def listing(*tools: object, **others: object) -> dict[str, Answer]:
    return {"tools/list": lambda request: [message(request, {"tools": list(tools), **others})]}


GOOD = {"name": "good", "inputSchema": OBJECT}


@pytest.mark.parametrize(
    ("odd", "is_usable"),
    [
        ({"name": "odd"}, True),
        ({"name": "odd", "inputSchema": None}, True),
        ({"name": "odd", "inputSchema": {"$ref": "#/definitions/a", "definitions": {"a": OBJECT}}}, True),
        ({"name": "odd", "inputSchema": OBJECT, "description": ["words"]}, True),
        ({"name": "odd", "inputSchema": OBJECT, "title": 5, "annotations": "read only"}, True),
        ({"name": "odd", "inputSchema": OBJECT, "annotations": {"title": None, "destructiveHint": "no"}}, True),
        ({"name": "odd", "inputSchema": OBJECT, "outputSchema": "string", "icons": {"src": 1}}, True),
        ({"name": "odd", "inputSchema": OBJECT, "_meta": [], "execution": {"taskSupport": 3}}, True),
        ({"name": "odd", "inputSchema": {"type": "object", "properties": None, "required": {}}}, True),
        ({"name": "odd", "inputSchema": {"type": "array"}}, False),
        ({"name": "", "inputSchema": OBJECT}, False),
        ({"name": ["odd"], "inputSchema": OBJECT}, False),
        ({"inputSchema": OBJECT}, False),
        ("odd", False),
        (None, False),
    ],
)
def test_an_odd_tool_costs_its_neighbours_nothing(
    monkeypatch: pytest.MonkeyPatch, odd: object, is_usable: bool
) -> None:
    server, (result,), _, _ = run(monkeypatch, listing(GOOD, odd, {**GOOD, "name": "last"}), "good")
    assert list(server.tools) == ["good", "last", "odd"][: 3 if is_usable else 2]
    assert ("is left out: it" in server.notice) is not is_usable
    assert result.text == "KEEP"


def listed_oddly(pages: list[Json]) -> dict[str, Answer]:
    left = iter(pages)
    return {"tools/list": lambda request: [message(request, next(left))]}


@pytest.mark.parametrize(
    ("pages", "names", "notice"),
    [
        ([{"tools": [GOOD], "nextCursor": "1"}, {"tools": [GOOD], "nextCursor": "1"}], ["good"], ""),
        ([{"tools": [GOOD], "nextCursor": ""}], ["good"], ""),
        ([{"tools": [GOOD], "nextCursor": None, "_meta": None}], ["good"], ""),
        ([{"tools": [GOOD], "nextCursor": 2}, {"tools": [{**GOOD, "name": "b"}]}], ["b", "good"], ""),
        ([{"tools": [GOOD, GOOD]}], ["good"], ""),
        ([{"tools": None}], [], ""),
        ([{}], [], ""),
        ([{"tools": {"good": GOOD}}], [], ""),
        ([{"tools": [{**GOOD, "name": "获取"}, {**GOOD, "name": "获得"}]}], None, ""),
    ],
)
def test_odd_lists_are_read_as_far_as_they_go(
    monkeypatch: pytest.MonkeyPatch, pages: list[Json], names: list[str] | None, notice: str
) -> None:
    server, _, _, problem = run(monkeypatch, listed_oddly(pages))
    assert (problem, server.notice) == ("", notice)
    assert list(server.tools) == names if names is not None else len(server.tools) == 2
    if names is None:
        assert {one.title for one in server.definitions.values()} == {"获取", "获得"}
        assert {one.description for one in server.definitions.values()} == {"获取: ", "获得: "}


def test_a_server_without_tools_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = raw('{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"Method not found"}}')
    server, _, _, problem = run(monkeypatch, {"tools/list": refused})
    assert (problem, server.tools, server.notice) == ("", {}, "")


@pytest.mark.parametrize(
    "hello",
    [
        {},
        {**HELLO, "protocolVersion": "2031-01-01"},
        {**HELLO, "protocolVersion": None, "serverInfo": "a server"},
        {**HELLO, "serverInfo": {"name": "x"}, "instructions": ["words"]},
        {**HELLO, "capabilities": {"tools": True, "logging": None, "prompts": []}},
        {**HELLO, "capabilities": None, "serverInfo": {"name": 1, "version": 2.0}},
    ],
)
def test_a_server_that_introduces_itself_oddly_is_used(monkeypatch: pytest.MonkeyPatch, hello: Json) -> None:
    server, (result,), _, problem = run(monkeypatch, {"initialize": lambda request: [message(request, hello)]}, "a")
    assert (problem, list(server.tools), result.text) == ("", ["a"], "KEEP")


def text(value: object) -> Json:
    return {"type": "text", "text": value}


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"structuredContent": {"n": 1}}, '{"n": 1}'),
        ({"content": [], "structuredContent": [1, "ü"]}, '[1, "ü"]'),
        ({"content": None, "structuredContent": "words"}, "words"),
        ({"content": "words"}, "words"),
        ({"content": text("words")}, "words"),
        ({"content": ["one", text("two")]}, "one\ntwo"),
        ({"content": [text("one"), {"type": "video", "data": "x"}]}, "one\n[video, which cannot be read here]"),
        ({"content": [text("one"), {"kind": "odd"}, None]}, "one\n[None, which cannot be read here]"),
        ({"content": [{"type": "json", "text": "words"}]}, "words"),
        ({"content": [text(42), text({"a": 1}), text(None), {"type": "text"}]}, '42\n{"a": 1}'),
        ({"content": [{"type": "resource", "resource": {"text": "words"}}]}, "words"),
        ({"content": [{"type": "resource", "resource": "words"}]}, "[resource, which cannot be read here]"),
        ({"content": [{"type": "resource_link", "uri": 5}]}, "[a link to : 5]"),
        (
            {"content": [{"type": "audio", "data": "QUJD"}]},
            "[a sound, of unknown type, 3 bytes; only text can be shown to the model]",
        ),
        ({"content": [{**text("words"), "annotations": {"priority": 9}, "_meta": None}], "isError": None}, "words"),
        ({"toolResult": {"a": 1}}, '{"a": 1}'),
        ({"answer": 42, "_meta": {"b": 1}}, '{"answer": 42}'),
        ("words", "words"),
        (["one", "two"], "one\ntwo"),
        (42, "42"),
        (None, "(The tool gave nothing.)"),
        ({"content": None}, "(The tool gave nothing.)"),
    ],
)
def test_what_can_be_read_of_a_result_reaches_the_model(
    monkeypatch: pytest.MonkeyPatch, result: object, words: str
) -> None:
    _, (given,), _, _ = run(monkeypatch, {"tools/call": lambda request: [message(request, result)]}, "a")
    assert (given.text, given.is_error) == (words, False)


def test_a_result_that_is_an_error_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    result = {**WORDS, "isError": True}
    _, (given,), _, _ = run(monkeypatch, {"tools/call": lambda request: [message(request, result)]}, "a")
    assert (given.text, given.is_error) == ("KEEP", True)


def raw(template: str, coding: str = "utf-8") -> Answer:
    return lambda request: [(template.replace("ID", str(request["id"])) + "\n").encode(coding)]


RESULT = '"result":{"content":[{"type":"text","text":"Grüße \\ud83d"}]}'
PRETTY = '{\n  "jsonrpc": "2.0",\n  "id": ID,\n  "result": {\n    "content": [\n      "Grüße"\n    ]\n  }\n}'


@pytest.mark.parametrize(
    ("answer", "words", "is_error"),
    [
        (raw('\ufeff{"jsonrpc":"2.0","id":ID,' + RESULT + "}"), "Grüße �", False),
        (raw('{"id":ID,' + RESULT + "}"), "Grüße �", False),
        (raw('{"id":"ID",' + RESULT + "}"), "Grüße �", False),
        (raw('{"id":ID.0,' + RESULT + "}"), "Grüße �", False),
        (raw('{"jsonrpc":"1.0","id":ID,' + RESULT + ',"error":null}'), "Grüße �", False),
        (raw('{"jsonrpc":"2.0","id":ID,' + RESULT + "}", "latin-1"), "Grüße �", False),
        (raw('{"jsonrpc":"2.0","id":ID,"result":{"content":["a\tb"],"x":NaN}}'), "a\tb", False),
        (raw(PRETTY), "Grüße", False),
        (raw("{\nnoise\n" + PRETTY), "Grüße", False),
        (raw("{\nDebug: on\n" + '{"jsonrpc":"2.0","id":ID,' + RESULT + "}"), "Grüße �", False),
        (raw('{"jsonrpc":"2.0","id":ID,"error":"it broke"}'), "it says “it broke”", True),
        (raw('{"jsonrpc":"2.0","id":ID,"error":{"code":"ENOENT","message":"no file"}}'), "“ENOENT: no file”", True),
        (raw('{"jsonrpc":"2.0","id":ID,"error":{"code":5}}'), 'it says “{"code": 5}”', True),
        (raw('{"jsonrpc":"2.0","id":ID,"error":[1]}'), "it says “[1]”", True),
        (
            raw('{"jsonrpc":"2.0","id":ID,"result":{"content":[{"text": Sunny}]}}'),
            "it sent something that is not JSON: “{",
            True,
        ),
        (raw('{"jsonrpc":"2.0","id":ID,"result":{\'content\':[]}}'), "it sent something that is not JSON: “{", True),
        (
            raw('{"jsonrpc":"2.0","result":{"id":7,"x":"cut off,"id":ID}'),
            "it sent something that is not JSON: “{",
            True,
        ),
        (
            raw('Answer: {"id":ID\n{"id":ID,"method":"echo", x}\n{"jsonrpc":"2.0","id":ID,' + RESULT + "}"),
            "Grüße �",
            False,
        ),
    ],
)
def test_an_answer_that_is_a_little_off_ends_its_call_at_once(
    monkeypatch: pytest.MonkeyPatch, answer: Answer, words: str, is_error: bool
) -> None:
    _, (given,), _, _ = run(monkeypatch, {"tools/call": answer}, "a")
    assert given.is_error is is_error
    assert words in given.text
    assert is_error or given.text == words


def progress(token: object) -> bytes:
    return (
        json.dumps(
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}}
        ).encode()
        + b"\n"
    )


def slowly(number: int) -> Answer:
    """An answer after this number of progress messages."""

    def answer(request: Json) -> list[bytes]:
        token = request["params"]["_meta"]["progressToken"]
        return [*[progress(token)] * number, message(request, WORDS)] if number else []

    return answer


@pytest.mark.parametrize(("number", "is_answered"), [(6, True), (0, False)])
def test_progress_extends_a_call(monkeypatch: pytest.MonkeyPatch, number: int, is_answered: bool) -> None:
    """The call takes more than twice as long as a call without progress may."""
    receive = Program.receive

    async def slow(program: Program, most: int) -> bytes:
        piece = await receive(program, most)
        if any(one.get("method") == "tools/call" for one in program.sent):
            await asyncio.sleep(0.4)
        return piece

    monkeypatch.setattr(Program, "receive", slow)
    entry = ServerEntry("x", "program", extra=(("timeout", 2),))
    _, (given,), sent, _ = run(monkeypatch, {"tools/call": slowly(number)}, "a", entry=entry)
    assert given.text == ("KEEP" if is_answered else "“x” did not answer: it took longer than 2 seconds.")
    assert any(one.get("method") == "notifications/cancelled" for one in sent) is not is_answered


def test_a_variable_that_is_not_set_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GONE", raising=False)

    async def live() -> str:
        server = McpServer(ServerEntry("x", "program", args=("${GONE}",)), Limits(), lambda: None)
        await server.run()
        return server.problem

    assert asyncio.run(live()).startswith("“x” is not used: ${GONE} is not set in the environment.")
