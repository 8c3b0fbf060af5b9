"""Reading in pieces gives what reading at once gives."""

from __future__ import annotations

import time

import pytest

from tests.ui.long_chats import KINDS, answer_of, history_of
from ui.markdown.blocks import READ_CHARS, BlockStream, MarkdownReading, Segment, plan_segments


def at_once(text: str, base: int = 0) -> list[Segment]:
    stream = BlockStream(base)
    return plan_segments(stream.feed(text) + stream.finish())


def in_pieces(text: str, base: int = 0) -> tuple[list[Segment], int]:
    reading, num = MarkdownReading(text, base), 1
    while (segments := reading.go_on()) is None:
        num += 1
    return segments, num


TEXTS = [answer_of(kind, 1_000) for kind in KINDS] + [view.text for view in history_of(3_000)]
TEXTS += ["", "One line", "```\nno end", "a\r\nb\r\n\r\nc\r\n" * 99, "\n" * 2_000, "- a\n\n" * 300, "x" * 5_000]


def plain(segments: list[Segment]) -> list[tuple[str, str, str, tuple[int, ...]]]:
    return [(one.html, one.code, one.language, tuple(one.source_map.places)) for one in segments]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("base", [0, 17])
def test_same_segments(text: str, base: int) -> None:
    assert plain(in_pieces(text, base)[0]) == plain(at_once(text, base))


def test_many_pieces() -> None:
    text = answer_of("mixed", 2_000)
    assert in_pieces(text)[1] >= len(text) // (2 * READ_CHARS) - 1


def test_what_never_closes_is_not_read_again_and_again() -> None:
    text = "> *a* quoted line\n" * 1_500
    begun = time.thread_time()
    at_once(text)
    once = time.thread_time() - begun
    begun = time.thread_time()
    in_pieces(text)
    assert time.thread_time() - begun < 6 * once
