"""Tests lanes of a race: their names, and rejected ones."""

from __future__ import annotations

import pytest

from app.core.benchmark.lanes import read_lanes
from app.core.domain.speed.races import AUTO_LANE, PLAIN_LANE, LaneChoice
from engine.records import Mode

DRAFT = LaneChoice(Mode.DRAFT, 3)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("off,auto", (PLAIN_LANE, AUTO_LANE)),
        ("plain, draft:3", (PLAIN_LANE, DRAFT)),
        ("suffix", (PLAIN_LANE, LaneChoice(Mode.SUFFIX))),
        ("draft:3,draft:5,auto", (DRAFT, LaneChoice(Mode.DRAFT, 5), AUTO_LANE)),
    ],
)
def test_lanes_are_modes_with_or_without_a_depth(text: str, found: tuple[LaneChoice, ...]) -> None:
    assert read_lanes(text) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("off", "two or three different lanes"),
        ("", "two or three different lanes"),
        ("auto,auto", "two or three different lanes"),
        ("off,ngram,suffix,auto", "two or three different lanes"),
        ("off,fast", "There is no mode fast"),
        ("off,auto:3", "The lane auto:3 has an invalid depth"),
        ("off,draft:x", "The lane draft:x has an invalid depth"),
        ("off,draft:999", "The draft length must be between 0 and"),
    ],
)
def test_other_words_are_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_lanes(text)
