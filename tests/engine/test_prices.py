"""What proposals gain: the larger pass, the work that may be lost, and whether drafting on promises more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cost_curve import MAX_PASS, CostCurve
from engine.pacer import MAX_DEPTH, Pacer
from engine.prices import Prices

STAIRS_MS = {1: 10.0, 2: 18.0, 4: 20.0, 8: 25.0, 16: 37.0, 17: 54.0, 33: 78.0}


def made(rate: float = 0.1, step_ms: float = 0.5, *, chance: float = 0.9, rework_ms: float = 0.0) -> Prices:
    curve = CostCurve(STAIRS_MS)
    return Prices(curve.costs_ms, rate, step_ms, rework_ms, [chance] * 32)


def test_nothing_proposed_gains_nothing() -> None:
    assert made().gain_of(0, 0.0, 1.0) == 0.0


def test_a_gain_is_what_is_kept_less_what_the_larger_pass_costs() -> None:
    assert made(rate=0.1).gain_of(7, 6.0, 0.8) == pytest.approx(6.0 - 0.1 * (25.0 - 10.0))
    assert made(rate=0.1, rework_ms=2.0).gain_of(7, 6.0, 0.8) == pytest.approx(6.0 * 0.8 - 0.1 * (25.0 - 10.0))


def test_what_may_be_lost_is_paid() -> None:
    prices = Prices([10.0, 18.0], 0.1, 0.5, 0.0, [0.9] * 32, lambda count, alive: count * 10.0 * (1.0 - alive))
    assert prices.gain_of(1, 0.5, 0.5) == pytest.approx(0.5 - 0.1 * (8.0 + 5.0))


def test_more_is_promised_where_a_later_step_of_the_stairs_pays() -> None:
    prices = made(chance=0.99)
    gain = prices.gain_of(7, 6.9, 0.97)
    assert prices.promises_more(7, 6.9, 0.97, 24, gain)
    assert not prices.promises_more(7, 6.9, 0.02, 24, gain)  # hardly any of it would be kept
    assert not prices.promises_more(7, 6.9, 0.97, 0, gain)  # there is no room


def test_drafting_that_takes_long_promises_less() -> None:
    gain = made().gain_of(7, 6.5, 0.9)
    assert made(step_ms=0.5).promises_more(7, 6.5, 0.9, 8, gain)
    assert not made(step_ms=20.0).promises_more(7, 6.5, 0.9, 8, gain)


def test_more_at_no_better_a_rate_waits_for_the_next_pass() -> None:
    even = [10.0, *(5.0 * (count + 1) for count in range(1, 32))]  # each token costs the same
    prices = Prices(even, 0.1, 0.5, 0.0, [1.0] * 32)
    gain, rate = prices.gain_of(7, 7.0, 1.0), prices.rate_of(7, 7.0, 1.0)
    assert rate == pytest.approx(8.0 / (40.0 + 3.5))
    assert prices.promises_more(7, 7.0, 1.0, 24, gain)  # at the rate so far
    assert prices.promises_more(7, 7.0, 1.0, 24, gain, 0.98 * rate)
    assert not prices.promises_more(7, 7.0, 1.0, 24, gain, 1.1 * rate)


def test_a_rate_counts_all_that_a_pass_takes() -> None:
    prices = Prices([10.0, 18.0], 0.1, 0.5, 2.0, [0.9] * 32, lambda count, alive: count * 10.0 * (1.0 - alive), 1.5)
    assert prices.rate_of(0, 0.0, 1.0) == pytest.approx(1.0 / 11.5)
    assert prices.rate_of(1, 0.8, 0.8) == pytest.approx(1.8 / (18.0 + 1.5 + 0.5 + 1.6 + 2.0))


def test_what_choosing_takes_is_part_of_a_pass() -> None:
    pacer = Pacer(CostCurve(STAIRS_MS), draft_step_ms=0.3)
    before = pacer.prices().rate_of(7, 7.0, 1.0)
    for _ in range(100):
        pacer.observe_start(2.0)
    after = pacer.prices().rate_of(7, 7.0, 1.0)
    assert 8.0 / after - 8.0 / before == pytest.approx(2.0, rel=0.02)  # an average


@given(st.lists(st.floats(1.0, 50.0), min_size=MAX_PASS, max_size=MAX_PASS), st.integers(1, MAX_DEPTH))
def test_a_pacer_prices_a_pass_as_its_curve_does(points: list[float], count: int) -> None:
    pacer = Pacer(CostCurve(dict(enumerate(points, 1))), draft_step_ms=0.3)
    prices = pacer.prices()
    cost_ms = pacer.curve.cost_ms(count + 1) + count * pacer.row_ms - pacer.curve.cost_ms(1)
    assert prices.gain_of(count, 2.0, 0.5) == pytest.approx(2.0 - pacer.rate * cost_ms)
