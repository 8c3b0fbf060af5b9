"""Tests reasoning, text, calls and the visible text of an answer in chunks of any size."""

import pytest

from app.core.tools.answer_parts import AnswerParts, Part, ReasoningPart, VisibleText
from app.core.tools.interface import ToolDefinition
from engine.records import Source, TextChunk, TokenSpan, ToolCall, ToolFormat


def read(
    text: str, size: int, start_tag: str = "", names: frozenset[str] = frozenset()
) -> tuple[AnswerParts, list[Part]]:
    """The parts of a text that arrives in chunks of ``size`` characters, each a token."""
    parts = AnswerParts(names)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    tags = [start_tag] + [""] * len(pieces)
    spans = [(TokenSpan(len(piece), Source.TARGET),) for piece in pieces]
    chunks = [TextChunk(0, *one) for one in zip(pieces, spans, [()] * len(pieces), tags, strict=False)]
    found = [part for chunk in chunks for part in parts.feed(chunk)]
    return parts, [*found, *parts.flush()]


def joined(found: list[Part]) -> tuple[str, str]:
    thought = "".join(part.text for part in found if isinstance(part, ReasoningPart))
    return thought, "".join(part for part in found if isinstance(part, str))


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize(
    ("text", "start_tag", "thought", "said"),
    [
        ("Good day.", "", "", "Good day."),
        ("<think>\nTwo and two.\n</think>\n\nFour.", "", "Two and two.", "Four."),
        ("Two and two.\n</think>\n\nFour.", "<think>\n", "Two and two.", "Four."),
        ("<think>Two.</think>Four.", "<think>\n", "Two.", "Four."),
        ("Two and", "<think>\n", "Two and", ""),
        ("A tag is <think>, they say.</think>", "", "", "A tag is <think>, they say.</think>"),
        ("<thin is no tag", "", "", "<thin is no tag"),
    ],
)
def test_reasoning_and_words_come_apart(text: str, start_tag: str, thought: str, said: str, size: int) -> None:
    assert joined(read(text, size, start_tag)[1]) == (thought, said)


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_calls_are_looked_for_in_the_words_alone(size: int) -> None:
    call = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'
    parts, found = read(f"<think>I could write {call}.</think>{call}", size, names=frozenset({"weather"}))
    (called,) = [part for part in found if isinstance(part, ToolCall)]
    assert (called.name, parts.num_calls) == ("weather", 1)
    assert "tool_call" in joined(found)[0]


def test_the_tokens_of_the_reasoning_are_counted() -> None:
    assert read("Good day.", 1)[0].num_reasoning_tokens == 0
    assert read("<think>ab</think>Four", 1)[0].num_reasoning_tokens == len("<think>ab</think>")
    assert read("ab</think>Four", 1, "<think>")[0].num_reasoning_tokens == len("ab</think>")
    assert read("ab", 1, "<think>")[0].num_reasoning_tokens == 2


TOOLS = (ToolDefinition("read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}}, "files"),)
CALL = '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>'


@pytest.mark.parametrize(
    ("words", "num_held"), [("Let me see. " + CALL, len(CALL)), ("1 < 2, and <b> is a tag.", 0)], ids=["call", "text"]
)
@pytest.mark.parametrize("size", [1, 3, 200])
def test_only_what_may_be_a_call_is_held_back_with_its_provenance(words: str, num_held: int, size: int) -> None:
    visible = VisibleText(TOOLS, ToolFormat.HERMES)
    pieces = [words[at : at + size] for at in range(0, len(words), size)]
    shown = [visible.feed(piece, [TokenSpan(1, Source.DRAFT)] * len(piece)) for piece in pieces]
    assert visible.num_held == num_held
    assert sum(len(spans) for _, spans in shown) == len("".join(text for text, _ in shown)) == len(words) - num_held


@pytest.mark.parametrize("size", [1, 7, 200])
@pytest.mark.parametrize("broken", ['<tool_call>\n{{"name": "read"}}\n</tool_call> and more', '{{"name": "read"}}'])
def test_what_begins_as_a_call_and_cannot_be_read_is_not_shown(broken: str, size: int) -> None:
    words = "" if broken.startswith("{") else "Reading. "
    visible = VisibleText(TOOLS, ToolFormat.HERMES)
    whole = words + broken
    shown = "".join(visible.feed(whole[at : at + size], ())[0] for at in range(0, len(whole), size))
    assert shown == words
    assert visible.rest_of(words) == ""
    assert visible.rest()[0] == broken  # the answer turns out to have no call
