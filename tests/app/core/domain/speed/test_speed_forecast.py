"""Tests the forecast for a pair before it is loaded."""

from dataclasses import replace

import pytest

from app.core.domain.speed.pair_speed import AnswerSpeed, PairSpeed, RaceSpeed
from app.core.domain.speed.speed_forecast import SpeedForecast, SpeedRange
from engine.records import GainForecast
from engine.sentences import joined

SPEED_FORECAST = SpeedForecast(
    SpeedRange(10.0, 15.0),
    GainForecast(1.12, 1.48, 0.44, True, 1.31),
    GainForecast(1.1, 1.3),
    "others",
    "Model X",
)


def answers(speedup: float, number: int) -> tuple[AnswerSpeed, ...]:
    return tuple(AnswerSpeed(float(i), "auto", 0.8, 100, 1.0, speedup, 10, 5) for i in range(number))


def test_a_range_is_reported_with_what_it_rests_on() -> None:
    words = joined(SPEED_FORECAST.sentences)
    assert words.startswith("Expect about 10–15 tokens per second on this computer, and 1.1–1.5× that with drafting.")
    assert "(limited by memory)" in words
    assert "1.3 times as long" in words
    assert words.endswith("Estimated from passes of Model X, which were measured here.")


def test_what_was_measured_takes_the_place_of_the_range() -> None:
    race = RaceSpeed(1.0, "auto", 0.0, 1.62, 1.48, 1.77, 4)
    words = joined(replace(SPEED_FORECAST, measured=PairSpeed("t", "d", answers(1.31, 23), (race,))).sentences)
    assert "Expect" not in words
    assert "1.62× the speed without drafting, in a race (1.48–1.77)" in words
    assert "1.31× the speed without drafting, over the last 23 answers" in words
    assert "%" not in words


def test_a_draft_that_does_not_pay_is_reported_with_what_would() -> None:
    dear = replace(SPEED_FORECAST, gain=GainForecast(1.1, 1.3, 0.6))
    faster, slower = (PairSpeed("t", "d", races=(RaceSpeed(1.0, "auto", 0.0, times),)) for times in (1.4, 0.9))
    assert "slow this model down" not in joined(replace(dear, measured=faster).sentences)
    assert "slow this model down" in joined(replace(dear, measured=slower).sentences)
    hopeless = replace(SPEED_FORECAST, gain=GainForecast(1.0, 1.0, 0.6))
    assert hopeless.headline.startswith("Expect about 10–15 tokens per second")


def test_temperature_and_length_are_named() -> None:
    assert "higher temperatures gain less" in joined(replace(SPEED_FORECAST, temperature=0.0).sentences)
    assert "a temperature of 0 gains more" in joined(replace(SPEED_FORECAST, temperature=0.8).sentences)


def test_of_a_head_it_is_told_what_the_range_rests_on() -> None:
    head = replace(SPEED_FORECAST, by_head=True)
    assert joined(head.sentences).endswith("how often this head is right was not measured here.")
    dear = replace(head, gain=GainForecast(1.1, 1.3, 0.6))
    assert "Drafting with it would slow this model down here. Speculation uses repeated text instead." in joined(
        dear.sentences
    )
    race = RaceSpeed(1.0, "auto", 0.0, 1.62, 1.48, 1.77, 4)
    assert "published" not in joined(replace(head, measured=PairSpeed("t", "h", (), (race,))).sentences)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"gain": GainForecast(1.0, 1.1, cost_of_four=2.5)},
            "four tokens takes 2.5 times as long as one (limited by arith",
        ),
        ({"gain": GainForecast(1.0, 1.1, cost_of_four=2.0)}, "as long as one (limited by memory and arithmetic)"),
        ({"basis": "memory"}, "Estimated from the speed of the memory, which was measured here."),
        ({"basis": "model"}, "Estimated from this model's passes, which were measured here."),
    ],
)
def test_what_limits_passes_and_what_a_range_rests_on_is_told(changes: dict[str, object], words: str) -> None:
    assert words in joined(replace(SPEED_FORECAST, **changes).sentences)  # type: ignore[arg-type]


RACE = RaceSpeed(1.0, "auto", 0.0, 1.13, 1.10, 1.17, 4)


@pytest.mark.parametrize(
    ("gain", "speed", "is_worth"),
    [
        (GainForecast(1.12, 1.48, 0.2, True), None, True),
        (GainForecast(1.02, 1.48, 0.2, True), None, False),  # the lower bound decides
        (GainForecast(1.1, 1.3, 0.2, True), None, False),  # the gain of n-grams alone
        (GainForecast(1.12, 1.48, 0.9, False), None, False),
        (GainForecast(1.0, 1.4, 0.58, False), PairSpeed("t", "d", races=(RACE,)), True),
        (GainForecast(1.5, 2.0, 0.1, True), PairSpeed("t", "d", races=(replace(RACE, speedup=0.96, low=0.9),)), False),
        (GainForecast(1.5, 2.0, 0.1, True), PairSpeed("t", "d", races=(replace(RACE, low=0.99),)), False),
        (GainForecast(1.5, 2.0, 0.1, True), PairSpeed("t", "d", answers(0.96, 9)), False),
        (GainForecast(1.0, 1.0, 0.9, False), PairSpeed("t", "d", answers(1.3, 9)), True),
        (GainForecast(1.5, 2.0, 0.1, True), PairSpeed("t", "d"), True),  # no answer of it was measured
    ],
)
def test_a_draft_is_offered_where_it_was_faster_or_pays_by_its_low_end(
    gain: GainForecast, speed: PairSpeed | None, *, is_worth: bool
) -> None:
    assert replace(SPEED_FORECAST, gain=gain, measured=speed).is_draft_worth_using is is_worth


def test_what_was_measured_comes_before_what_is_forecast() -> None:
    measured = replace(SPEED_FORECAST, measured=PairSpeed("t", "d", races=(RACE,)))
    assert measured.score > replace(SPEED_FORECAST, gain=GainForecast(2.0, 3.0, 0.1, True)).score


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (10.2, 15.4, "10–15"),
        (4.4, 6.6, "4–7"),
        (0.94, 1.36, "0.9–1.4"),
        (1.02, 1.4, "1–1.4"),
        (120.0, 180.0, "120–180"),
    ],
)
def test_a_range_of_slow_speeds_has_two_ends(low: float, high: float, told: str) -> None:
    words = replace(SPEED_FORECAST, plain=SpeedRange(low, high)).headline
    assert words.startswith(f"Expect about {told} tokens per second")
