"""Tests the built-in tools, and several providers combined."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo

import pytest

from app.core.domain.projects import SEARCH_TOOL, Passage
from app.core.tools.built_in import NAMES, BuiltInTools
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


def test_the_harmless_ones_are_on(make: Make) -> None:
    tools = BuiltInTools()
    assert {one.name for one in tools.definitions()} == {one.name for one in ALWAYS_ALLOWED_TOOLS}
    assert all(one.server == "Built in" for one in make().definitions())
    assert call(tools, SEARCH_TOOL, question="x").is_error
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


def test_a_source_that_fails_costs_its_own_call(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_question: str) -> Sequence[Passage]:
        raise OSError("no disk")

    result = call(make(SEARCH_TOOL, search=fail), SEARCH_TOOL, question="x")
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
