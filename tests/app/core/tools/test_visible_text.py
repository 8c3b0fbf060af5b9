"""Tests the visible text of a streamed answer with calls, and the number of tokens of each call."""

from __future__ import annotations

import pytest

from app.core.domain.tools.calls import CallTokens
from app.core.tools.interface import ToolDefinition
from app.core.tools.visible_text import VisibleText
from engine.records import Source, TokenSpan, ToolFormat

TOOLS = (ToolDefinition("read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}}, "files"),)
FIRST = '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>'
SECOND = '\n<tool_call>\n{"name": "read", "arguments": {"path": "bbb"}}\n</tool_call>'


def fed(*texts: str, size: int) -> VisibleText:
    """The texts in chunks of ``size`` characters, each a token; all but the last of a chunk are drafted."""
    visible = VisibleText(TOOLS, ToolFormat.HERMES)
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
    written = visible.tokens_of(0)
    assert written.tokens == len(FIRST)
    every = [place % size != size - 1 for place in range(len(words) + len(FIRST))]
    every[-1] = False  # the last chunk may be shorter
    assert written.drafted == sum(every[len(words) :])
    assert written.passes == len(FIRST) - written.drafted  # each pass gave one token that was not drafted
    assert written.forced == 0


def test_each_of_two_calls_has_its_own_tokens() -> None:
    visible = fed(FIRST, SECOND, size=1)
    counts = [visible.tokens_of(number).tokens for number in (0, 1)]
    assert sum(counts) == len(FIRST + SECOND)
    assert counts[0] == len(FIRST) - len("\n</tool_call>")  # complete before its end tag


def test_a_call_counts_forced_tokens_and_its_shared_last_pass() -> None:
    visible = VisibleText(TOOLS, ToolFormat.HERMES)
    head, rest = FIRST[:30], FIRST[30:]
    forced = [TokenSpan(1, Source.NGRAM, is_forced=True)] * 9
    visible.feed(head, [*forced, *[TokenSpan(1, Source.DRAFT)] * 20, TokenSpan(1, Source.BONUS)])
    visible.feed(rest + "\n", [*[TokenSpan(1, Source.NGRAM)] * len(rest), TokenSpan(1, Source.BONUS)])
    assert visible.tokens_of(0) == CallTokens(len(FIRST) + 1, len(FIRST) - 1, 9, 2)
    visible = VisibleText(TOOLS, ToolFormat.HERMES)
    visible.feed(
        FIRST, [TokenSpan(1, Source.NGRAM)] * len(FIRST)
    )  # the pass ended with the token that ended the answer
    assert visible.tokens_of(0) == CallTokens(len(FIRST), len(FIRST), 0, 1)


def test_what_is_no_call_is_held_no_longer() -> None:
    visible = fed("1 < 2, and <b> is a tag.", size=3)
    assert visible.num_held == 0


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
