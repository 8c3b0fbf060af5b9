"""Tool calls without their values: the text between two values is what a model would write there."""

import json
from typing import Any

import pytest

from engine.records import ToolFormat
from engine.tools.outlines import MAX_KEYS, MAX_TOOLS, call_outlines


def tool(name: str, **properties: object) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}


READ = tool("read", path={"type": "string"}, lines={"type": "integer"}, mode={"enum": ["a", "b"]})
CALL = {"name": "read", "arguments": {"path": "notes.txt", "lines": 20, "mode": "a"}}


@pytest.mark.parametrize("text", [json.dumps(CALL), json.dumps(CALL, indent=2) + "\n```"])
def test_a_call_is_its_pieces_with_the_values_between(text: str) -> None:
    pieces = list(call_outlines(ToolFormat.HERMES, [READ]))
    assert len(pieces) == 2 * 4
    place, found = 0, 0
    for piece in pieces:
        at = text.find(piece, place)
        if at >= 0:
            place, found = at + len(piece), found + 1
    assert found == 4
    assert place == len(text)
    for value in ("notes.txt", "20", '"a"'):
        assert not any(value in piece for piece in pieces)


def test_a_form_has_its_own_names_of_keys() -> None:
    (first, *_) = call_outlines(ToolFormat.LLAMA, [READ])
    assert first == '{"name": "read", "parameters": {"path": "'


@pytest.mark.parametrize(
    "tool_format", [ToolFormat.NONE, ToolFormat.GEMMA, ToolFormat.FUNCTION, ToolFormat.MISTRAL_ARGS]
)
def test_a_form_that_is_no_object_has_none(tool_format: ToolFormat) -> None:
    assert list(call_outlines(tool_format, [READ])) == []


def test_a_tool_without_arguments_is_one_piece() -> None:
    for given in (tool("now"), {"type": "function", "function": {"name": "now"}}):
        one_line, _ = call_outlines(ToolFormat.HERMES, [given])
        assert json.loads(one_line) == {"name": "now", "arguments": {}}


def test_what_is_outlined_is_bounded() -> None:
    many = tool("many", **{f"key_{number}": {} for number in range(1_000)})
    assert len(list(call_outlines(ToolFormat.HERMES, [many] * 1_000))) == 2 * MAX_TOOLS * (MAX_KEYS + 1)
