"""How wide the columns of a table are."""

from __future__ import annotations

import pytest

from ui.markdown.blocks import column_widths
from ui.markdown.parser import SafeParser


def widths(*cells: str) -> tuple[int, ...]:
    row = " | ".join(cells)
    return column_widths(SafeParser().parse(f"| {row} |\n|{'---|' * len(cells)}\n"))


def test_columns_that_fit_have_the_share_that_they_want() -> None:
    assert widths("a", "a" * 48) == (11, 89)


def test_a_narrow_column_keeps_its_words_beside_many_wide_ones() -> None:
    long, short = "some words " * 10, "two words"
    before, after = widths(short, "b"), widths(short, long, long, long, "b")
    assert after[1] == after[2] == after[3] > after[0] > after[4]
    assert after[0] / after[4] == pytest.approx(before[0] / before[1], rel=0.1)
    assert after[0] >= 12


def test_many_wide_columns_are_equal() -> None:
    assert widths(*["some words " * 10] * 4) == (25, 25, 25, 25)


def test_a_short_word_is_not_broken_between_the_side_panes_of_a_small_window() -> None:
    """Of 500 px, where 61 are what "Count" in bold takes with its margins."""
    shares = widths("a much longer name here", "Count", "Remark that is somewhat longer than the others")
    assert shares[1] >= 12
