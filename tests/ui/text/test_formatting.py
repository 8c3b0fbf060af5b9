"""Numbers as a person reads them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLocale

from engine.records import Mode, RunStats
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
    assert formatting.figure(value) == text


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
    text = formatting.figure(value)
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


def test_footer_tells_speed_passes_and_acceptance() -> None:
    stats = RunStats(mode=Mode.DRAFT, tokens=412, passes=152, proposed=210, accepted=143, decode_s=10.0)
    assert formatting.footer(stats) == "41.2 tok/s · 2.7 tokens per pass · 210 drafted, 68% accepted · draft"


def test_footer_tells_the_gain_over_plain_where_it_was_measured() -> None:
    stats = RunStats(mode=Mode.DRAFT, tokens=388, passes=143, proposed=210, accepted=143, decode_s=9.42, plain_ms=39.3)
    assert (
        formatting.footer(stats) == "41.2 tok/s · 2.7 tokens per pass · 1.62× plain · 210 drafted, 68% accepted · draft"
    )
    meanings = dict(formatting.footer_parts(stats))
    said = meanings["1.62× plain"]
    assert "its passes of one token take 39.3 ms here, so it would run at 25.4 tok/s" in said
    assert "measured while the window is idle" in said
    assert "drawing" not in said
    assert all(meanings.values())
    assert "plain" not in formatting.footer(replace(stats, plain_ms=None))


@pytest.mark.parametrize(("plain_ms", "told"), [(2.0, True), (4.99, True), (5.0, False), (39.3, False)])
def test_short_passes_say_that_painting_takes_a_share(plain_ms: float, told: bool) -> None:
    stats = RunStats(
        mode=Mode.AUTO,
        tokens=200,
        passes=150,
        proposed=90,
        accepted=50,
        decode_s=0.237,
        plain_ms=plain_ms,
        inter_token_ms_p50=0.41,
    )
    meaning = next(meaning for text, meaning in formatting.footer_parts(stats) if text.endswith("plain"))
    assert ("drawing the window takes a share" in meaning) is told
    assert ("Half of the tokens came within 0.41 ms" in meaning) is told


@pytest.mark.parametrize("plain_ms", [0.37, 1.99])
def test_where_the_window_decides_the_comparison_none_is_made(plain_ms: float) -> None:
    stats = RunStats(tokens=200, passes=150, proposed=90, accepted=50, decode_s=0.237, plain_ms=plain_ms)
    assert stats.speedup is not None
    assert formatting.shown_speedup(stats) is None
    assert "× plain" not in formatting.footer(stats)
    told = formatting.footer_parts(stats)[0][1]
    assert "no comparison with plain decoding" in told
    assert f"take only {formatting.milliseconds(plain_ms)} here" in told


def test_why_no_comparison_is_made_is_reported_where_tokens_were_drafted_and_only_there() -> None:
    stats = RunStats(tokens=200, passes=150, proposed=90, accepted=50, decode_s=3.0, plain_ms=30.0)
    assert "no comparison" not in formatting.footer_parts(stats)[0][1]
    assert "whose cost was not known" in formatting.footer_parts(replace(stats, plain_ms=None))[0][1]
    assert "no comparison" not in formatting.footer_parts(RunStats(tokens=100, passes=100, decode_s=4.0))[0][1]
    kept_nothing = replace(stats, tokens=107, passes=107, proposed=28, accepted=0)
    assert "no drafted token was accepted, so it was the computer" in formatting.footer_parts(kept_nothing)[0][1]
    assert "\N{MULTIPLICATION SIGN} plain" not in formatting.footer(kept_nothing)


def test_footer_of_plain_decoding_claims_no_acceptance() -> None:
    stats = RunStats(mode=Mode.OFF, tokens=100, passes=100, decode_s=4.0)
    assert formatting.footer(stats) == "25.0 tok/s · 1.0 tokens per pass · nothing drafted · plain"


def test_the_footer_says_why_nothing_was_drafted() -> None:
    decisions = (
        "auto, paced by measured costs",
        "token 1: draft paused: 31% of its first tokens are expected to be accepted, 44% needed here",
        "token 9: 2 to 1 thread: another program uses the cores",
    )
    stats = RunStats(mode=Mode.AUTO, tokens=100, passes=100, decode_s=4.0, decisions=decisions)
    meanings = dict(formatting.footer_parts(stats))
    why = "Token 1: draft paused: 31% of its first tokens are expected to be accepted, 44% needed here."
    meaning = meanings["nothing drafted: the draft would not pay off"]
    assert f"one token of the target. {why}" in meaning
    assert meaning.endswith("text that repeats is drafted without one.")
    assert meanings["auto"] == f"How tokens were proposed. {why}"
    assert dict(formatting.footer_parts(replace(stats, decisions=())))["auto"] == "How tokens were proposed."


def test_footer_shows_a_dash_for_a_speed_not_measured() -> None:
    assert formatting.footer(RunStats(tokens=3, passes=3)).startswith("- tok/s")


@pytest.mark.parametrize("stats", [None, RunStats()])
def test_no_footer_without_tokens(stats: RunStats | None) -> None:
    assert formatting.footer(stats) == ""


def test_context_size_and_parameters() -> None:
    assert formatting.context(1204, 4096) == "1,204 / 4,096"
    assert formatting.context(0, 0) == "-"
    assert formatting.size(8_900_000) == "8.90 MB"
    assert formatting.size(213_000_000) == "213 MB"
    assert formatting.parameters(8_100_000) == "8.10 M parameters"


def test_a_hover_is_broken_between_words_and_keeps_its_paragraphs() -> None:
    words = "of the tokens that were proposed so many were kept " * 4
    shown = formatting.hover(f"{words}\n\nshort\n{'x' * 90} y")
    lines = shown.split("\n")
    assert " ".join(lines[: lines.index("")]) == words.strip()
    assert all(len(line) <= formatting.HOVER_CHARS for line in lines[: lines.index("")])
    assert len(lines[: lines.index("")]) == -(-len(words.strip()) // formatting.HOVER_CHARS)
    assert lines[lines.index("") :] == ["", "short", "x" * 90, "y"]
