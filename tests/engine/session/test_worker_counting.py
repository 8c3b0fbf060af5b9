"""Tests counting tokens in slices: correct sums, the order of requests, no long slice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.records import CountRequest, TokensCounted
from engine.session.worker import SLICE_CHARS, TokenCounter, slices


def work_off(counts: TokenCounter, *requests: CountRequest, count: object = len) -> list[TokensCounted]:
    done = []
    for request in requests:
        while (result := counts.count_slice(request, count)) is None:  # type: ignore[arg-type]
            pass
        done.append(result)
    return done


def test_every_text_of_a_request_is_counted_and_requests_keep_their_order() -> None:
    first = CountRequest(1, ("abc", "", "x" * (3 * SLICE_CHARS + 1)))
    assert work_off(TokenCounter(), first, CountRequest(2, ()), CountRequest(3, ("ab",))) == [
        TokensCounted(1, (3, 0, 3 * SLICE_CHARS + 1)),
        TokensCounted(2, ()),
        TokensCounted(3, (2,)),
    ]


def test_one_step_is_one_slice() -> None:
    seen: list[int] = []

    def count(text: str) -> int:
        seen.append(len(text))
        return 1

    counts, request = TokenCounter(), CountRequest(1, ("line\n" * 20_000,))
    assert counts.count_slice(request, count) is None
    assert len(seen) == 1
    assert work_off(counts, request, count=count) == [TokensCounted(1, (len(seen),))]
    assert max(seen) <= SLICE_CHARS
    assert sum(seen) == 100_000


@given(st.text(alphabet="ab\n\r\u2028é", max_size=200).map(lambda text: text * 400))
def test_slices_add_up_to_the_text(text: str) -> None:
    pieces = list(slices(text))
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= SLICE_CHARS for piece in pieces)
    assert all(piece.endswith("\n") for piece in pieces[:-1] if "\n" in piece)


def test_an_uncountable_text_is_answered_and_the_next_counted() -> None:
    def fails(_text: str) -> int:
        raise RuntimeError("no such vocabulary")

    counts, request = TokenCounter(), CountRequest(1, ("ab", "x" * (2 * SLICE_CHARS)))
    assert counts.count_slice(request, len) is None
    with pytest.raises(RuntimeError):
        counts.count_slice(request, fails)
    assert counts.give_up(request) == TokensCounted(1, None)
    assert work_off(counts, CountRequest(2, ("abc",))) == [TokensCounted(2, (3,))]
