"""Tests formatted numbers."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLocale

from ui.text import formatting


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (float("nan"), "-"),
        (float("inf"), "-"),
        (0.0, "0"),
        (41.23, "41.2"),
        (2.706, "2.71"),
        (1.0, "1.00"),
        (9.996, "10.0"),
        (99.96, "100"),
        (1234.0, "1,230"),
        (0.01234, "0.0123"),
    ],
)
def test_figure(value: float | None, text: str) -> None:
    assert formatting.decimal_text(value) == text


def test_numbers_follow_another_locale_at_once() -> None:
    before = QLocale()
    try:
        for country, text in (("de_DE", "12.345"), ("en_US", "12,345"), ("C", "12,345"), ("de_DE", "12.345")):
            QLocale.setDefault(QLocale(country))
            assert formatting.count(12345) == text
            assert formatting.number_text(12345, grouped=False) == "12345"
            assert formatting.count(12345) == text
    finally:
        QLocale.setDefault(before)


@given(st.floats(min_value=1e-6, max_value=1e9))
def test_a_figure_is_close_and_short(value: float) -> None:
    text = formatting.decimal_text(value)
    digits = re.sub(r"[.,]", "", text).strip("0")
    assert len(digits) <= 3
    assert float(text.replace(",", "")) == pytest.approx(value, rel=0.006)


@pytest.mark.parametrize(
    ("share", "text"),
    [(None, "-"), (0.0, "0%"), (0.004, "<1%"), (0.68, "68%"), (0.996, ">99%"), (1.0, "100%")],
)
def test_percent_is_never_rounded_to_an_end(share: float | None, text: str) -> None:
    assert formatting.percent(share) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (0.00042, "0.42 ms"),
        (0.000099, "0.10 ms"),
        (0.000001, "0.01 ms"),
        (0.000996, "0.996 ms"),
        (0.0241, "24.1 ms"),
        (0.9994, "999 ms"),
        (1.0, "1.00 s"),
        (59.94, "59.9 s"),
        (125, "2 min 5 s"),
    ],
)
def test_duration(seconds: float | None, text: str) -> None:
    assert formatting.duration(seconds) == text


def test_size_and_parameters() -> None:
    assert formatting.size(8_900_000) == "8.90 MB"
    assert formatting.size(213_000_000) == "213 MB"
    assert formatting.parameters(8_100_000) == "8.10 M parameters"


def test_a_hover_is_broken_between_words_and_keeps_its_paragraphs() -> None:
    words = "of the tokens that were proposed so many were kept " * 4
    shown = formatting.tooltip(f"{words}\n\nshort\n{'x' * 90} y")
    lines = shown.split("\n")
    assert " ".join(lines[: lines.index("")]) == words.strip()
    assert all(len(line) <= formatting.TOOLTIP_CHARS for line in lines[: lines.index("")])
    assert len(lines[: lines.index("")]) == -(-len(words.strip()) // formatting.TOOLTIP_CHARS)
    assert lines[lines.index("") :] == ["", "short", "x" * 90, "y"]
