"""Calls of tools are found in an answer however it is cut into pieces, and what is none is text."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.server.tool_output import Called, ToolOutput

NAMES = frozenset({"weather", "time"})
ROME = '{"name": "weather", "arguments": {"city": "Rome"}}'
UNKNOWN = '<tool_call>{"name": "fly", "arguments": {}}</tool_call>'
CASES = [
    ("Hello there.", "Hello there.", []),
    (f"<tool_call>\n{ROME}\n</tool_call>", "", [("weather", {"city": "Rome"})]),
    (f"Let me see.\n<tool_call>\n{ROME}\n</tool_call>", "Let me see.\n", [("weather", {"city": "Rome"})]),
    (
        f'<tool_call>{ROME}</tool_call>\n<tool_call>{{"name": "time", "arguments": {{}}}}</tool_call>',
        "",
        [("weather", {"city": "Rome"}), ("time", {})],
    ),
    (f"<tool_call>\n{ROME}\n", "", [("weather", {"city": "Rome"})]),  # ended by its length
    (f"[TOOL_CALLS][{ROME}]", "", [("weather", {"city": "Rome"})]),
    ('[TOOL_CALLS]weather[ARGS]{"city": "Rome"}', "", [("weather", {"city": "Rome"})]),
    ('[TOOL_CALLS]weather[CALL_ID]abc[ARGS]{"city": "Rome"}', "", [("weather", {"city": "Rome"})]),
    ('{"name": "weather", "parameters": {"city": "Rome"}}', "", [("weather", {"city": "Rome"})]),
    ('<|python_tag|>{"name": "time", "parameters": {}}', "", [("time", {})]),
    (f"```json\n{ROME}\n```", "", [("weather", {"city": "Rome"})]),
    ('{"name": "Ann", "age": 3}', '{"name": "Ann", "age": 3}', []),
    ("```json\n[1, 2]\n```", "```json\n[1, 2]\n```", []),
    (UNKNOWN, UNKNOWN, []),
    ('<tool_call>{"name": "weather", "argum', '<tool_call>{"name": "weather", "argum', []),
    ("a < b and [TOOL", "a < b and [TOOL", []),
    ("{", "{", []),
    ("", "", []),
]  # fmt: skip


def read(pieces: list[str]) -> tuple[str, list[tuple[str, object]]]:
    output = ToolOutput(NAMES)
    parts = [part for piece in pieces for part in output.feed(piece)] + output.flush()
    calls = [part for part in parts if isinstance(part, Called)]
    assert output.num_calls == len(calls)
    assert len({call.call_id for call in calls}) == len(calls)
    said = "".join(part for part in parts if isinstance(part, str))
    return said, [(call.name, json.loads(call.arguments)) for call in calls]


@pytest.mark.parametrize(("text", "said", "calls"), CASES)
def test_calls_are_found(text: str, said: str, calls: list[tuple[str, object]]) -> None:
    assert read([text]) == (said, calls)
    assert read(list(text)) == (said, calls)


def test_a_line_end_before_the_first_call_is_kept_wherever_pieces_end() -> None:
    call = '<tool_call>{"name": "weather", "arguments": {}}</tool_call>'
    for pieces in (["Let me see.\n" + call], ["Let me see.", "\n" + call], ["Let me see.", "\n", call]):
        said, calls = read(pieces)
        assert (said, len(calls)) == ("Let me see.\n", 1)


@given(case=st.sampled_from(CASES), cuts=st.lists(st.integers(0, 200), max_size=6))
def test_pieces_do_not_matter(case: tuple[str, str, list[tuple[str, object]]], cuts: list[int]) -> None:
    text, said, calls = case
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    assert read([text[i:j] for i, j in itertools.pairwise(places)]) == (said, calls)


@given(st.text(alphabet='{}[]"name: weather,<tool_call>/`json\n', max_size=80))
def test_nothing_is_lost_where_nothing_is_called(text: str) -> None:
    said, calls = read(list(text))
    assert calls or said == text


def test_text_that_can_be_no_call_is_not_held_back() -> None:
    output = ToolOutput(NAMES)
    assert output.feed("Once upon") == ["Once upon"]
    assert output.feed(" a <") == [" a "]
    assert output.feed("b") == ["<b"]
