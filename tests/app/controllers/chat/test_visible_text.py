"""What of an answer with calls is shown while it is written, and with how many tokens a call was written."""

from __future__ import annotations

import pytest

from app.controllers.chat.visible_text import VisibleText
from app.tools.interface import ToolDefinition
from engine.records import Source, TokenSpan

TOOLS = (ToolDefinition("read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}}, "files"),)
FIRST = '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>'
SECOND = '\n<tool_call>\n{"name": "read", "arguments": {"path": "bbb"}}\n</tool_call>'


def fed(*texts: str, size: int) -> VisibleText:
    """The texts in pieces of ``size`` characters: tokens of one character, of each piece all but the last drafted."""
    visible = VisibleText(TOOLS)
    whole = "".join(texts)
    for start in range(0, len(whole), size):
        piece = whole[start : start + size]
        visible.feed(piece, [TokenSpan(1, Source.DRAFT)] * (len(piece) - 1) + [TokenSpan(1, Source.BONUS)])
    return visible


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_call_counts_its_tokens_and_not_those_of_the_words_before_it(size: int) -> None:
    words = "Let me see. "
    visible = fed(words, FIRST, size=size)
    assert visible.num_held == len(FIRST)
    tokens, drafted = visible.tokens_of(0)
    assert tokens == len(FIRST)
    every = [place % size != size - 1 for place in range(len(words) + len(FIRST))]
    every[-1] = False  # of the last piece, which may be shorter
    assert drafted == sum(every[len(words) :])


def test_each_of_two_calls_has_its_own_tokens() -> None:
    visible = fed(FIRST, SECOND, size=1)
    counts = [visible.tokens_of(number)[0] for number in (0, 1)]
    assert sum(counts) == len(FIRST + SECOND)
    assert counts[0] == len(FIRST) - len("\n</tool_call>")  # it is whole before


def test_what_is_no_call_is_held_no_longer() -> None:
    visible = fed("1 < 2, and <b> is a tag.", size=3)
    assert visible.num_held == 0
