"""What is said of one answer: the line below it, and its speed beside that of plain decoding."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.domain.speed.verdict import answer_verdict
from engine.pacing.draft_length import choose_draft_length
from engine.pacing.reasons import not_paying, text_not_paying, text_without_draft
from engine.records import Mode, RunStats
from engine.sentences import said
from ui.text import answer_figures
from ui.text.answer_figures import cause_of, figure_words, help_words
from ui.text.formatting import milliseconds

DRAFTED = RunStats(mode=Mode.AUTO, tokens=100, passes=60, proposed=60, accepted=40, decode_s=2.0, plain_ms=30.0)
PAUSED = said("token {number}: {why}", number=1, why=not_paying(0.31, 0.44, None, as_asked=False, is_observed=False))
TEXT_PAUSED = said("token {number}: {why}", number=1, why=text_not_paying(0.1, 0.4, is_observed=True))
UNUSED = said("token {place}: {reason}", place=1, reason=text_without_draft(0.32, 0.76, is_observed=True))


@pytest.mark.parametrize(
    ("stats", "headline", "basis"),
    [
        (DRAFTED, "1.50× faster", "as measured on this computer."),
        (replace(DRAFTED, decode_s=3.0), "About the same speed", "as measured on this computer."),
        (replace(DRAFTED, decode_s=6.0), "2.00× slower", "as measured on this computer."),
        (replace(DRAFTED, accepted=0), "Not compared", "no drafted token was accepted"),
        (replace(DRAFTED, plain_ms=None), "Not compared", "measured while the window is idle, and was not yet"),
        (
            replace(DRAFTED, plain_ms=None, plain_changed=True),
            "Not compared",
            "much slower or faster during the answer",
        ),
        (replace(DRAFTED, plain_ms=1.0), "Not compared", "its passes take only 1.00 ms here"),
        (replace(DRAFTED, proposed=0, accepted=0), "Plain decoding", "this was plain decoding itself."),
        (RunStats(), "-", "There is nothing to compare yet."),
    ],
)
def test_the_headline_is_told_with_what_it_rests_on(stats: RunStats, headline: str, basis: str) -> None:
    verdict = answer_verdict(stats)
    assert answer_figures.verdict_words(verdict) == headline
    assert basis in answer_figures.basis_words(verdict, stats)


def test_what_the_draft_read_of_the_prompt_is_told_apart() -> None:
    stats = replace(DRAFTED, decode_s=5.0, draft_prompt_s=3.0)
    assert stats.tokens_per_second == pytest.approx(50.0)
    verdict = answer_verdict(stats)
    assert answer_figures.verdict_words(verdict) == "1.50× faster"
    reading = "The draft model read the prompt in 3.00 s, which is not counted here."
    assert answer_figures.basis_words(verdict, stats).endswith(reading)
    assert dict(answer_figures.footer_parts(stats))["1.50× faster"].endswith(reading)


def test_within_noise_the_line_below_an_answer_claims_no_difference() -> None:
    assert "about the same speed" in answer_figures.footer(replace(DRAFTED, decode_s=3.06))


def test_footer_tells_speed_passes_and_acceptance() -> None:
    stats = RunStats(mode=Mode.DRAFT, tokens=412, passes=152, proposed=210, accepted=143, decode_s=10.0)
    assert (
        answer_figures.footer(stats)
        == "41.2 tok/s · 2.7 tokens per pass · 210 drafted, 68% accepted · draft · 412 tokens"
    )


def test_footer_tells_what_the_form_of_calls_left_no_choice_about() -> None:
    stats = replace(DRAFTED, forced_proposed=14, forced_accepted=12)
    assert "12 fixed by the schema" in answer_figures.footer(stats)
    assert "fixed" not in answer_figures.footer(DRAFTED)


def test_footer_tells_the_gain_over_plain_where_it_was_measured() -> None:
    stats = RunStats(mode=Mode.DRAFT, tokens=388, passes=143, proposed=210, accepted=143, decode_s=9.42, plain_ms=39.3)
    assert (
        answer_figures.footer(stats)
        == "41.2 tok/s · 2.7 tokens per pass · 1.62× faster · 210 drafted, 68% accepted · draft · 388 tokens"
    )
    meanings = dict(answer_figures.footer_parts(stats))
    said = meanings["1.62× faster"]
    assert "its passes of one token take 39.3 ms here, so it would run at 25.4 tok/s" in said
    assert "measured while the window is idle" in said
    assert "drawing" not in said
    assert all(meanings.values())
    assert "plain" not in answer_figures.footer(replace(stats, plain_ms=None))


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
    meaning = next(
        meaning
        for text, meaning in answer_figures.footer_parts(stats)
        if text.endswith(("faster", "slower", "the same speed"))
    )
    assert ("drawing the window takes a share" in meaning) is told
    assert ("Half of the tokens came within 0.41 ms" in meaning) is told


@pytest.mark.parametrize("plain_ms", [0.37, 1.99])
def test_where_the_window_decides_the_comparison_none_is_made(plain_ms: float) -> None:
    stats = RunStats(tokens=200, passes=150, proposed=90, accepted=50, decode_s=0.237, plain_ms=plain_ms)
    assert "faster" not in answer_figures.footer(stats)
    told = answer_figures.footer_parts(stats)[0][1]
    assert "Not compared with plain decoding" in told
    assert f"take only {milliseconds(plain_ms)} here" in told


def test_why_no_comparison_is_made_is_reported_where_tokens_were_drafted_and_only_there() -> None:
    stats = RunStats(tokens=200, passes=150, proposed=90, accepted=50, decode_s=3.0, plain_ms=30.0)
    assert "Not compared" not in answer_figures.footer_parts(stats)[0][1]
    assert "and was not yet" in answer_figures.footer_parts(replace(stats, plain_ms=None))[0][1]
    assert "Not compared" not in answer_figures.footer_parts(RunStats(tokens=100, passes=100, decode_s=4.0))[0][1]
    kept_nothing = replace(stats, tokens=107, passes=107, proposed=28, accepted=0)
    assert "no drafted token was accepted, so it was the computer" in answer_figures.footer_parts(kept_nothing)[0][1]
    assert "\N{MULTIPLICATION SIGN} plain" not in answer_figures.footer(kept_nothing)


def test_footer_of_plain_decoding_claims_no_acceptance() -> None:
    stats = RunStats(mode=Mode.OFF, tokens=100, passes=100, decode_s=4.0)
    assert answer_figures.footer(stats) == "25.0 tok/s · 1.0 tokens per pass · nothing drafted · off · 100 tokens"


def test_the_footer_says_why_nothing_was_drafted() -> None:
    decisions = (
        "auto, paced by measured costs",
        "token 1: draft paused: 31% of its first tokens are expected to be accepted, 44% needed here",
        "token 9: 2 to 1 thread: another program uses the cores",
    )
    stats = RunStats(mode=Mode.AUTO, tokens=100, passes=100, decode_s=4.0, decisions=decisions)
    meanings = dict(answer_figures.footer_parts(stats))
    why = "Draft paused: 31% of its first tokens are expected to be accepted, 44% needed here."
    meaning = meanings["nothing drafted: the draft would not pay off"]
    assert f"one token of the target. {why}" in meaning
    assert meaning.endswith("text that repeats is drafted without one.")
    assert meanings["auto"] == f"How tokens were proposed. {why}"
    assert dict(answer_figures.footer_parts(replace(stats, decisions=())))["auto"] == "How tokens were proposed."


def test_footer_shows_a_dash_for_a_speed_not_measured() -> None:
    assert answer_figures.footer(RunStats(tokens=3, passes=3)).startswith("- tok/s")


@pytest.mark.parametrize("stats", [None, RunStats()])
def test_no_footer_without_tokens(stats: RunStats | None) -> None:
    assert answer_figures.footer(stats) == ""


def test_an_answer_in_the_making_beside_others_says_at_once_that_it_is_not_compared() -> None:
    live = answer_verdict(replace(DRAFTED, joined_passes=DRAFTED.passes), live=True)
    words = answer_figures.basis_words(live, DRAFTED, live=True)
    assert words == "Not compared with plain decoding: other answers were made at the same time."
    alone = answer_figures.basis_words(answer_verdict(DRAFTED, live=True), DRAFTED, live=True)
    assert alone.startswith("Compared with plain decoding")


def run(mode: Mode, *decisions: str, tokens: int = 100) -> RunStats:
    return RunStats(mode=mode, tokens=tokens, passes=tokens, decode_s=1.0, decisions=decisions)


@pytest.mark.parametrize("kept_as_text", [False, True])
@pytest.mark.parametrize(
    ("stats", "cause"),
    [
        (run(Mode.OFF, choose_draft_length(Mode.OFF, None, can_pace=True).reason), answer_figures.PLAIN),
        (run(Mode.AUTO, choose_draft_length(Mode.AUTO, 0, can_pace=True).reason), answer_figures.NO_LENGTH),
        (run(Mode.AUTO, PAUSED), answer_figures.DEAR_DRAFT),
        (run(Mode.AUTO, UNUSED), answer_figures.UNUSED_DRAFT),
        (run(Mode.AUTO, TEXT_PAUSED), answer_figures.UNLIKELY_TEXT),
        (run(Mode.AUTO, tokens=3), answer_figures.SHORT),
        (run(Mode.NGRAM), answer_figures.NEW_TEXT),
        (run(Mode.AUTO), answer_figures.NEW_TEXT),
    ],
)
def test_the_cause_is_the_one_that_the_engine_had(stats: RunStats, cause: object, kept_as_text: bool) -> None:
    if kept_as_text:  # as an answer of an earlier start has its decisions
        stats = RunStats(mode=stats.mode, tokens=stats.tokens, decisions=tuple(map(str.__str__, stats.decisions)))
    assert cause_of(stats) is cause


def test_the_line_says_it_in_a_few_words_and_the_hover_what_would_help() -> None:
    assert figure_words(run(Mode.OFF)) == "nothing drafted"
    assert "“Auto”" in help_words(run(Mode.OFF))
    assert figure_words(run(Mode.AUTO)) == "nothing drafted: no text repeated"
    assert "Find a draft" in help_words(run(Mode.AUTO))
    assert figure_words(run(Mode.AUTO, PAUSED)) == "nothing drafted: the draft would not pay off"
    assert "smaller draft" in help_words(run(Mode.AUTO, PAUSED))


def test_a_draft_that_is_loaded_but_not_used_is_told_with_the_reason() -> None:
    stats = run(Mode.AUTO, UNUSED)
    assert figure_words(stats) == "nothing drafted: the draft was not used"
    assert "loaded draft model was not used" in answer_figures.nothing_drafted(stats)
    assert "costs 32% of a pass" in answer_figures.nothing_drafted(stats), "the engine's own reason"
    assert "from the conversation only" not in answer_figures.nothing_drafted(stats)
