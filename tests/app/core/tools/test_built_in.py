"""Tests the built-in tools, and several providers combined."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo

import pytest

from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.tools.built_in import ATTACHMENT_PART_CHARS, MAX_HITS, NAMES, BuiltInSources, BuiltInTools, ChatHit
from app.core.tools.interface import Providers, ToolDefinition, ToolProvider, ToolResult
from app.core.tools.policy import ALWAYS_ALLOWED_TOOLS
from engine.records import ToolCall

Make = Callable[..., BuiltInTools]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[BuiltInTools] = []

    def begin(*names: str, **others: object) -> BuiltInTools:
        made.append(BuiltInTools(names or NAMES, **others))  # type: ignore[arg-type]
        return made[-1]

    yield begin
    for tools in made:
        tools.close()


def call(tools: ToolProvider, tool: str, /, **arguments: object) -> ToolResult:
    got: list[ToolResult] = []
    is_there = threading.Event()
    tools.call(ToolCall("1", tool, json.dumps(arguments)), lambda result: (got.append(result), is_there.set())[0])
    assert is_there.wait(30)
    return got[0]


def at_noon(zone: tzinfo | None) -> datetime:
    return datetime(2026, 2, 28, 12, 0, 5, tzinfo=UTC).astimezone(zone or UTC)


def attached(name: str, text: str) -> Attachment:
    return Attachment(1, name, AttachmentKind.TEXT, len(text), text)


def test_two_are_on_and_they_are_the_harmless_ones(make: Make) -> None:
    tools = BuiltInTools()
    assert {one.name for one in tools.definitions()} == {one.name for one in ALWAYS_ALLOWED_TOOLS}
    assert all(one.server == "Built in" for one in make().definitions())
    assert call(tools, "search_chats", words="x").is_error
    tools.close()


def test_the_clock_tells_day_time_and_zone(make: Make) -> None:
    tools = make("current_time", now=at_noon)
    assert call(tools, "current_time").text == "Saturday, 2026-02-28 12:00:05, UTC+00:00 (UTC)"
    tokyo = call(tools, "current_time", time_zone="Asia/Tokyo").text
    assert tokyo == "Saturday, 2026-02-28 21:00:05, UTC+09:00 (Asia/Tokyo)"
    for wrong in ("Mars/Phobos", "../../etc/passwd", "/etc/passwd", "\0"):
        result = call(tools, "current_time", time_zone=wrong)
        assert (result.is_error, result.text.startswith("There is no time zone")) == (True, True)


def test_the_calculator_answers_and_complains_in_a_sentence(make: Make) -> None:
    assert call(make(), "calculate", expression="6 * 7").text == "42"
    assert call(make(), "calculate", expression=5).text == "5"
    wrong = call(make(), "calculate", expression="1/0")
    assert (wrong.text, wrong.is_error) == ("Division by zero.", True)
    assert call(make(), "calculate").text == "expression must be a text."
    assert call(make(), "calculate", expression=["1"]).is_error


def test_attached_files_are_read_by_piece(make: Make) -> None:
    text = "".join(f"line {number}\n" for number in range(2_000))
    tools = make(sources=BuiltInSources(files=lambda: (attached("a.txt", text), attached("b.md", "short"))))
    assert call(tools, "read_attachment").text == f"a.txt: {len(text):,} characters\nb.md: 5 characters"
    first = call(tools, "read_attachment", name="a.txt").text
    assert first.endswith("\n\n" + text[:ATTACHMENT_PART_CHARS])
    assert f"Go on with start={ATTACHMENT_PART_CHARS}." in first
    next_piece = call(tools, "read_attachment", name="a.txt", start=ATTACHMENT_PART_CHARS).text
    assert next_piece.endswith("\n\n" + text[ATTACHMENT_PART_CHARS : 2 * ATTACHMENT_PART_CHARS])
    found = call(tools, "read_attachment", name="a.txt", find="LINE 1500").text
    assert "line 1500\n" in found
    assert call(tools, "read_attachment", name="b.md", start="2").text.endswith("This is its end.\n\nort")
    for wrong in (
        {"name": "c"},
        {"name": "b.md", "start": 9},
        {"name": "b.md", "start": -1},
        {"name": "b.md", "find": "x"},
    ):
        assert call(tools, "read_attachment", **wrong).is_error
    assert call(make(), "read_attachment").text == "No file is attached to this chat."


def test_past_chats_are_searched_and_bounded(make: Make) -> None:
    asked: list[str] = []

    def search(words: str, most: int) -> Sequence[ChatHit]:
        asked.append(words)
        return [ChatHit(f"Chat {number}", "2026-01-01", "x" * 10_000) for number in range(3 * most)]

    tools = make(sources=BuiltInSources(search=search))
    text = call(tools, "search_chats", words=" pasta ").text
    assert asked == ["pasta"]
    assert text.count("“Chat") == MAX_HITS
    assert len(text) < 6_000
    assert call(tools, "search_chats", words=" ").is_error
    assert call(make(), "search_chats", words="a").text == "No past chat contains these words."


def test_a_source_that_fails_costs_its_own_call(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> Sequence[Attachment]:
        raise OSError("no disk")

    result = call(make(sources=BuiltInSources(files=fail)), "read_attachment")
    assert (result.text, result.is_error) == ("The tool failed.", True)
    assert "a built-in tool failed" in caplog.text


class One:
    """A provider with one tool."""

    def __init__(self, name: str, server: str) -> None:
        self.definition = ToolDefinition(name, "", {}, server)
        self.is_closed = False

    def definitions(self) -> tuple[ToolDefinition, ...]:
        return (self.definition,)

    def call(self, call: ToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        done(ToolResult(call.call_id, self.definition.server))
        return lambda: None

    def close(self) -> None:
        self.is_closed = True


def test_several_providers_are_one(make: Make) -> None:
    first, second, third = One("a", "first"), One("b", "second"), One("a", "third")
    tools = Providers(first, second, third)
    assert [(one.name, one.server) for one in tools.definitions()] == [("a", "first"), ("b", "second")]
    assert call(tools, "a").text == "first"
    assert call(tools, "b").text == "second"
    assert call(tools, "c").is_error
    tools.close()
    assert first.is_closed
    assert third.is_closed
