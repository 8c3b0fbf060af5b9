"""Tests numbers, times and dates on the model pages."""

from datetime import date

import pytest
from PySide6.QtWidgets import QApplication

from ui.models.words import bytes_or_unknown, compact_number, day_text, time_left

TODAY = date(2026, 11, 26)


@pytest.fixture(autouse=True)
def _english(qapp: QApplication) -> None:
    """Install the English catalogue, whose texts the tests compare."""


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (None, "–"),
        (0, "0"),
        (999, "999"),
        (1_234, "1.23 k"),
        (999_499, "999 k"),
        (999_500, "1.00 M"),
        (2_500_000_000, "2.50 B"),
    ],
)
def test_large_counts_in_a_few_letters(number: int | None, words: str) -> None:
    assert compact_number(number) == words.replace("–", bytes_or_unknown(None))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "time left unknown"),
        (0.2, "1 s left"),
        (59.4, "59 s left"),
        (60, "1 min left"),
        (59.4 * 60, "59 min left"),
        (60 * 60, "1 h 0 min left"),
        (3.5 * 3600, "3 h 30 min left"),
    ],
)
def test_how_long_it_will_take_is_no_finer_than_it_can_be_known(seconds: float | None, words: str) -> None:
    assert time_left(seconds) == words


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (date(2026, 11, 27), "today"),  # the hub's clock is ahead
        (date(2026, 11, 26), "today"),
        (date(2026, 11, 25), "yesterday"),
        (date(2026, 11, 23), "3 days ago"),
        (date(2026, 10, 27), "27 Oct 2026"),
    ],
)
def test_days_as_people_say_them(moment: date, words: str) -> None:
    assert day_text(moment, TODAY) == words
