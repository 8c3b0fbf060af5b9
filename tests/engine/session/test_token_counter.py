"""Counting tokens a slice at a time: the sums are right, the requests keep their order, no slice is long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.records import CountRequest, TokensCounted
from engine.session.token_counter import SLICE_CHARS, TokenCounter, slices


def work_off(counts: TokenCounter, count: object = len) -> list[TokensCounted]:
    done = []
    while counts.has_work:
        result = counts.work(count)  # type: ignore[arg-type]
        if result is not None:
            done.append(result)
    return done


def test_every_text_of_a_request_is_counted_and_requests_keep_their_order() -> None:
    counts = TokenCounter()
    counts.submit(CountRequest(1, ("abc", "", "x" * (3 * SLICE_CHARS + 1))))
    counts.submit(CountRequest(2, ()))
    counts.submit(CountRequest(3, ("ab",)))
    assert work_off(counts) == [
        TokensCounted(1, (3, 0, 3 * SLICE_CHARS + 1)),
        TokensCounted(2, ()),
        TokensCounted(3, (2,)),
    ]
    assert counts.work(len) is None


def test_a_picture_is_counted_by_its_size() -> None:
    counts = TokenCounter()
    counts.submit(CountRequest(1, ("abc", (30, 20), "ab")))
    assert work_off(counts, lambda one: len(one) if isinstance(one, str) else one[0] * one[1]) == [
        TokensCounted(1, (3, 600, 2))
    ]


def test_one_step_is_one_slice() -> None:
    seen: list[int] = []

    def count(text: str) -> int:
        seen.append(len(text))
        return 1

    counts = TokenCounter()
    counts.submit(CountRequest(1, ("line\n" * 20_000,)))
    assert counts.work(count) is None
    assert len(seen) == 1
    assert work_off(counts, count) == [TokensCounted(1, (len(seen),))]
    assert max(seen) <= SLICE_CHARS
    assert sum(seen) == 100_000


def test_without_a_vocabulary_the_answer_is_that_there_is_none() -> None:
    counts = TokenCounter()
    counts.submit(CountRequest(1, ("abc", "def")))
    counts.submit(CountRequest(2, ("abc",)))
    assert counts.work(lambda _text: None) == TokensCounted(1, None)
    assert counts.work(len) == TokensCounted(2, (3,))


@given(st.text(alphabet="ab\n\r\u2028é", max_size=200).map(lambda text: text * 400))
def test_slices_add_up_to_the_text(text: str) -> None:
    pieces = list(slices(text))
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= SLICE_CHARS for piece in pieces)
    assert all(piece.endswith("\n") for piece in pieces[:-1] if "\n" in piece)


def test_a_text_that_cannot_be_counted_is_answered_and_the_next_begins_anew() -> None:
    def fails(_text: str) -> int:
        raise RuntimeError("no such vocabulary")

    counts = TokenCounter()
    counts.submit(CountRequest(1, ("ab", "x" * (2 * SLICE_CHARS))))
    counts.submit(CountRequest(2, ("abc",)))
    assert counts.work(len) is None
    with pytest.raises(RuntimeError):
        counts.work(fails)
    assert counts.fail_current() == TokensCounted(1, None)
    assert work_off(counts) == [TokensCounted(2, (3,))]
