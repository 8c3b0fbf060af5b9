"""Tests the combined speed of a pair's last answers."""

import pytest

from app.core.domain.speed.pair_speed import (
    AnswerSpeed,
    PairSpeed,
    RaceSpeed,
    answer_speed,
    credited_draft,
    measured_words,
)
from engine.records import Mode, RunStats, Source


def answer(plain_s: float | None, decode_s: float = 1.0, tokens: int = 50) -> AnswerSpeed:
    return AnswerSpeed(1.0, "auto", 0.8, tokens, decode_s, plain_s, 10, 4)


def test_a_long_answer_weighs_more() -> None:
    pair = PairSpeed("t", "d", (answer(2.0, 1.0), answer(9.0, 9.0, 400)))
    assert pair.speedup == pytest.approx(11.0 / 10.0)
    assert pair.acceptance_rate == pytest.approx(0.4)


def test_answers_without_a_measured_plain_cost_count_for_acceptance_only() -> None:
    pair = PairSpeed("t", "d", (answer(None), answer(1.5, 1.0, 100)))
    assert pair.speedup == pytest.approx(1.5)
    assert pair.num_compared == 1


def test_a_few_tokens_are_no_measurement() -> None:
    assert PairSpeed("t", "d", (answer(3.0, tokens=20),)).speedup is None


def test_the_newest_race_of_auto_counts_before_those_of_other_modes() -> None:
    races = (
        RaceSpeed(3.0, "draft", 0.0, 2.0),
        RaceSpeed(2.0, "auto", 0.0, 1.6),
        RaceSpeed(1.0, "auto", 0.0, 1.2),
    )
    assert PairSpeed("t", "d", races=races).race == races[1]
    assert PairSpeed("t", "d", races=races[:1]).race == races[0]
    assert PairSpeed("t", "d").race is None


def test_a_lane_whose_tokens_came_from_text_is_not_credited_to_the_draft() -> None:
    by_text = RunStats(mode=Mode.AUTO, accepted=40, provenance={Source.NGRAM: 30, Source.DRAFT: 10})
    assert credited_draft(by_text, "d") == ""
    by_draft = RunStats(mode=Mode.AUTO, accepted=40, provenance={Source.NGRAM: 10, Source.DRAFT: 30})
    assert credited_draft(by_draft, "d") == "d"
    assert credited_draft(RunStats(mode=Mode.NGRAM), "d") == ""
    assert credited_draft(RunStats(mode=Mode.DRAFT, proposed=9), "d") == "d"


def test_answers_that_kept_nothing_are_no_gain() -> None:
    kept_nothing = AnswerSpeed(1.0, "auto", 0.8, 100, 1.0, 1.4, 10, 0)
    assert PairSpeed("t", "d", (kept_nothing,)).speedup is None
    assert kept_nothing.speedup is None


def test_a_run_is_kept_by_its_counters() -> None:
    run = RunStats(mode=Mode.AUTO, tokens=100, decode_s=2.0, plain_ms=30.0, proposed=60, accepted=45)
    kept = answer_speed(run, 0.5, 7.0)
    assert kept == AnswerSpeed(7.0, "auto", 0.5, 100, 2.0, 3.0, 60, 45)
    assert kept.speedup == pytest.approx(1.5)
    assert answer_speed(RunStats(tokens=5, decode_s=1.0), 0.5, 7.0).speedup is None


def test_races_and_answers_are_told_apart() -> None:
    race = RaceSpeed(1.0, "auto", 0.0, 1.62, 1.48, 1.77, 4)
    pair = PairSpeed("t", "d", (answer(1.31, tokens=100),) * 23, (race,))
    words = measured_words(pair)
    assert "1.62× the speed without drafting, in a race (1.48–1.77)" in words
    assert "1.31× the speed without drafting, over the last 23 answers" in words
    assert pair.gain == 1.62
    assert measured_words(PairSpeed("t", "d")) == ""
