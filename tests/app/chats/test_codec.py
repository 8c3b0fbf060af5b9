"""Figures and provenance as text and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.codec import MAX_REJECTED_CHARS, spans_from_text, spans_to_text
from engine.records import Source, TokenSpan

SPANS = st.lists(
    st.builds(TokenSpan, st.integers(0, 40), st.sampled_from(Source), st.just("") | st.text(max_size=30)), max_size=30
)


@given(SPANS)
def test_provenance_is_read_back_as_written(spans: list[TokenSpan]) -> None:
    assert list(spans_from_text(spans_to_text(spans))) == spans


def test_what_was_rejected_is_kept_in_bounds() -> None:
    text = spans_to_text([TokenSpan(1, Source.RECOVERED, "x" * 10_000)])
    assert len(text) < MAX_REJECTED_CHARS + 50
    assert spans_from_text('["target",5,3,"draft",4]') == (
        TokenSpan(5, Source.TARGET),
        TokenSpan(3, Source.TARGET),
        TokenSpan(4, Source.DRAFT),
    )


@pytest.mark.parametrize(
    "text", ['["elsewhere",1]', "[[]]", "{}", '["draft",[1]]', "[null]", "nonsense", '["draft","1x"]']
)
def test_what_cannot_be_read_is_left_out(text: str) -> None:
    assert spans_from_text(text) == ()
