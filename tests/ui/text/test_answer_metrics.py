"""Tests the texts about one answer: its footer, and its speed compared with plain decoding."""

from dataclasses import replace

import pytest

from app.core.domain.speed.verdict import answer_verdict
from engine.records import Mode, RunStats
from ui.text import answer_metrics

DRAFTED = RunStats(mode=Mode.AUTO, tokens=100, passes=60, proposed=60, accepted=40, decode_s=2.0, plain_ms=30.0)


@pytest.mark.parametrize(
    ("stats", "headline", "basis"),
    [
        (DRAFTED, "1.50× faster", "Without drafting: 31.7 to 35.0 tok/s, estimated from the last minutes."),
        (replace(DRAFTED, decode_s=3.0), "About the same speed", "Without drafting: 31.7 to 35.0 tok/s"),
        (replace(DRAFTED, decode_s=6.0), "2.00× slower", "Without drafting: 31.7 to 35.0 tok/s"),
        (replace(DRAFTED, accepted=0), "50.0 tok/s", "No drafted token was accepted"),
        (replace(DRAFTED, plain_ms=None), "50.0 tok/s", "not known well enough to compare"),
        (replace(DRAFTED, decode_s=2.6, plain_error=0.3), "38.5 tok/s", "not known well enough to compare"),
        (replace(DRAFTED, tokens=30, decode_s=0.6), "50.0 tok/s", "too short to compare"),
        (replace(DRAFTED, joined_passes=30), "50.0 tok/s", "Other answers were written at the same time"),
        (replace(DRAFTED, looped=80), "50.0 tok/s", "The answer repeated itself at the end"),
        (replace(DRAFTED, proposed=0, accepted=0), "50.0 tok/s", "Nothing was drafted in this answer."),
        (RunStats(), "-", "There is nothing to compare yet."),
    ],
)
def test_the_headline_is_told_with_what_it_rests_on(stats: RunStats, headline: str, basis: str) -> None:
    verdict = answer_verdict(stats)
    assert answer_metrics.verdict_words(verdict, stats) == headline
    assert basis in answer_metrics.plain_speed_words(verdict, stats)


def test_what_the_draft_read_of_the_prompt_is_told_apart() -> None:
    stats = replace(DRAFTED, decode_s=5.0, draft_prompt_s=3.0)
    assert stats.tokens_per_second == pytest.approx(50.0)
    verdict = answer_verdict(stats)
    assert answer_metrics.verdict_words(verdict, stats) == "1.50× faster"
    reading = "The draft model read the prompt in 3.00 s, which is not counted here."
    assert answer_metrics.plain_speed_words(verdict, stats).endswith(reading)
    assert dict(answer_metrics.footer_parts(stats))["1.50× faster"].endswith(reading)


def test_within_noise_the_line_below_an_answer_claims_no_difference() -> None:
    assert "about the same speed" in answer_metrics.footer(replace(DRAFTED, decode_s=3.06))


DRAFT = RunStats(mode=Mode.DRAFT, tokens=412, passes=152, proposed=210, accepted=143, decode_s=10.0)


@pytest.mark.parametrize(
    ("stats", "footer"),
    [
        (DRAFT, "41.2 tok/s · 2.7 tokens per pass · 210 drafted, 68% accepted · draft · 412 tokens"),
        (
            replace(DRAFT, plain_ms=39.3),
            "41.2 tok/s · 2.7 tokens per pass · 1.62× faster · 210 drafted, 68% accepted · draft · 412 tokens",
        ),
        (
            RunStats(mode=Mode.OFF, tokens=100, passes=100, decode_s=4.0),
            "25.0 tok/s · 1.0 tokens per pass · nothing drafted · off · 100 tokens",
        ),
        (RunStats(tokens=3, passes=3), "- tok/s · 1.0 tokens per pass · nothing drafted · off · 3 tokens"),
        (RunStats(), ""),
        (None, ""),
    ],
)
def test_the_footer_has_what_is_known(stats: RunStats | None, footer: str) -> None:
    assert answer_metrics.footer(stats) == footer
    assert all(meaning for _, meaning in answer_metrics.footer_parts(stats))


def test_footer_tells_what_the_form_of_calls_left_no_choice_about() -> None:
    stats = replace(DRAFTED, forced_proposed=14, forced_accepted=12)
    assert "12 fixed by the schema" in answer_metrics.footer(stats)
    assert "fixed" not in answer_metrics.footer(DRAFTED)


def test_a_missing_comparison_is_explained_only_for_drafted_tokens() -> None:
    stats = RunStats(tokens=200, passes=150, proposed=90, accepted=50, decode_s=3.0, plain_ms=30.0)
    assert "compare" not in answer_metrics.footer_parts(stats)[0][1]
    assert "not known well enough to compare" in answer_metrics.footer_parts(replace(stats, plain_ms=None))[0][1]
    assert "plain" not in answer_metrics.footer_parts(RunStats(tokens=100, passes=100, decode_s=4.0))[0][1]


def test_the_footer_says_why_nothing_was_drafted() -> None:
    decisions = (
        "auto: drafts when it saves time here",
        "token 1: draft paused: 31% of its first tokens are expected to be accepted, 44% needed here",
        "token 9: 2 to 1 thread: another program uses the cores",
    )
    stats = RunStats(mode=Mode.AUTO, tokens=100, passes=100, decode_s=4.0, decisions=decisions)
    meanings = dict(answer_metrics.footer_parts(stats))
    why = "Draft paused: 31% of its first tokens are expected to be accepted, 44% needed here."
    assert meanings["nothing drafted"].endswith(f"one token of the target. {why}")
    assert meanings["auto"] == f"How tokens were proposed. {why}"
    assert dict(answer_metrics.footer_parts(replace(stats, decisions=())))["auto"] == "How tokens were proposed."


def test_the_sentence_below_the_speed_is_constant_during_an_answer() -> None:
    several = (DRAFTED, replace(DRAFTED, tokens=3), replace(DRAFTED, joined_passes=30))
    assert len({answer_metrics.plain_speed_words(answer_verdict(each), each, live=True) for each in several}) == 1
