"""Tests the one rule for speed verdicts relative to plain decoding."""

from dataclasses import replace

import pytest

from app.core.domain.speed.verdict import MissingReason, answer_verdict, sums_verdict
from app.core.domain.sums import Sums, add_sums, sums_of
from engine.records import Mode, RunStats

ANSWER = RunStats(mode=Mode.AUTO, tokens=100, passes=60, proposed=60, accepted=40, decode_s=2.0, plain_ms=30.0)


@pytest.mark.parametrize(
    ("stats", "missing"),
    [
        (replace(ANSWER, tokens=0), MissingReason.NO_TOKENS),
        (replace(ANSWER, proposed=0, accepted=0), MissingReason.NOTHING_DRAFTED),
        (replace(ANSWER, plain_ms=None), MissingReason.PLAIN_UNKNOWN),
        (replace(ANSWER, accepted=0), MissingReason.NOTHING_ACCEPTED),
        (replace(ANSWER, tokens=63), MissingReason.FEW_TOKENS),
    ],
)
def test_why_an_answer_and_its_sums_are_not_compared(stats: RunStats, missing: MissingReason) -> None:
    for verdict in (answer_verdict(stats), sums_verdict(sums_of(stats))):
        assert verdict.speedup is None
        assert verdict.missing is missing
        assert not any((verdict.is_gain, verdict.is_loss, verdict.is_even))


@pytest.mark.parametrize(
    ("seconds", "error", "told"),
    [
        (2.0, 0.3, "gain"),
        (2.0, 0.05, "gain"),
        (2.6, 0.3, "nothing"),
        (2.9, 0.05, "even"),
        (2.8, 0.09, "even"),
        (3.4, 0.3, "nothing"),
        (4.2, 0.3, "loss"),
    ],
)
def test_gain_and_loss_need_a_difference_beyond_the_error(seconds: float, error: float, told: str) -> None:
    verdict = answer_verdict(replace(ANSWER, decode_s=seconds, plain_error=error))
    found = {"gain": verdict.is_gain, "loss": verdict.is_loss, "even": verdict.is_even}
    assert [name for name, holds in found.items() if holds] == ([] if told == "nothing" else [told])
    assert (verdict.missing is MissingReason.PLAIN_UNKNOWN) is (told == "nothing")


@pytest.mark.parametrize(("joined", "is_told"), [(0, True), (5, True), (7, False), (53, False), (55, True), (60, True)])
def test_an_answer_that_was_beside_others_for_a_part_only_is_not_compared(joined: int, is_told: bool) -> None:
    verdict = answer_verdict(replace(ANSWER, joined_passes=joined))
    assert (verdict.missing is not MissingReason.BESIDE_OTHERS) is is_told


def test_an_answer_that_ended_in_a_loop_is_not_judged() -> None:
    looped = replace(ANSWER, looped=80)
    assert answer_verdict(looped).missing is MissingReason.LOOPED
    both = add_sums(sums_of(ANSWER), sums_of(looped))
    assert both.num_answers == 2
    assert both.stats.tokens_per_second == ANSWER.tokens_per_second
    assert sums_verdict(both).speedup == sums_verdict(sums_of(ANSWER)).speedup


def test_a_loss_needs_no_accepted_token() -> None:
    verdict = answer_verdict(replace(ANSWER, accepted=0, decode_s=6.0))
    assert verdict.speedup == pytest.approx(0.5)
    assert verdict.is_loss


def test_what_the_draft_read_of_the_prompt_counts_only_for_what_was_saved() -> None:
    stats = replace(ANSWER, decode_s=5.0, draft_prompt_s=3.0)
    assert answer_verdict(stats).speedup == pytest.approx(1.5)
    sums = add_sums(sums_of(stats), sums_of(replace(stats, plain_ms=None)))
    assert sums_verdict(sums).speedup == pytest.approx(1.5)
    assert sums_of(stats).saved_s == pytest.approx(-2.0)


def test_of_several_answers_a_few_compared_tokens_say_nothing() -> None:
    short = replace(ANSWER, tokens=19, decode_s=1.0)
    sums = add_sums(sums_of(short), sums_of(replace(ANSWER, plain_ms=None)))
    assert sums_verdict(sums).missing is MissingReason.FEW_TOKENS


def test_prompt_time_of_answers_not_compared_is_not_subtracted() -> None:
    unknown = replace(ANSWER, plain_ms=None, draft_prompt_s=7.0, decode_s=9.0)
    sums = add_sums(sums_of(ANSWER), sums_of(unknown))
    assert sums.saved_s == pytest.approx(1.0)


def test_answers_in_which_nothing_was_drafted_neither_save_nor_cost_time() -> None:
    slow = replace(ANSWER, proposed=0, accepted=0, decode_s=10.0)  # by the cost of plain passes it would take 3 s
    sums = add_sums(sums_of(ANSWER), sums_of(slow))
    assert sums.saved_s == pytest.approx(1.0)
    assert sums_verdict(sums).speedup == pytest.approx(13.0 / 12.0)


def test_nothing_is_said_of_no_answers() -> None:
    assert sums_verdict(Sums()).missing is MissingReason.NO_TOKENS
