"""Lanes of a race: their words, and what is refused."""

from __future__ import annotations

import pytest

from app.core.benchmark.lanes import read_lanes
from app.core.benchmark.runs import AUTO, PLAIN, Variant
from engine.records import Mode

DRAFT = Variant(Mode.DRAFT.value, 3)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("off,auto", (PLAIN, AUTO)),
        ("plain, draft:3", (PLAIN, DRAFT)),
        ("suffix", (PLAIN, Variant("suffix"))),
        ("draft:3,draft:5,auto", (DRAFT, Variant("draft", 5), AUTO)),
    ],
)
def test_lanes_are_modes_with_or_without_a_depth(text: str, found: tuple[Variant, ...]) -> None:
    assert read_lanes(text) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("off", "two or three different lanes"),
        ("", "two or three different lanes"),
        ("auto,auto", "two or three different lanes"),
        ("off,ngram,suffix,auto", "two or three different lanes"),
        ("off,fast", "There is no mode fast"),
        ("off,auto:3", "The lane auto:3 has no depth"),
        ("off,draft:x", "The lane draft:x has no depth"),
        ("off,draft:999", "The depth must be between 0 and"),
    ],
)
def test_other_words_are_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_lanes(text)
