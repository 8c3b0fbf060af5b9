"""Tests the forecast gain of drafting from pass costs: bounds on any machine, and measured values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.forecast import MAX_RANGE, PairKind, forecast_gain
from engine.pacing.cost_curve import CostCurve

ZEN4 = {1: 1.0, 2: 1.4, 4: 1.3, 8: 2.1, 16: 4.1, 32: 8.3}
REPACKED = {1: 1.0, 2: 1.64, 4: 2.4, 8: 4.0, 16: 7.5, 32: 15.0}


def curve(plain_ms: float, shape: dict[int, float]) -> CostCurve:
    return CostCurve({n: cost * plain_ms for n, cost in shape.items()})


@pytest.mark.parametrize(
    ("plain_ms", "step_ms", "kind", "temperature", "measured"),
    [
        # docs/benchmarks: `auto` over plain decoding
        (4.7, None, PairKind.OTHER, 0.0, 1.30),
        (4.7, None, PairKind.OTHER, 0.8, 1.11),
        (7.5, 0.2, PairKind.DISTILLED, 0.0, 3.14),
        (7.5, 0.2, PairKind.DISTILLED, 0.8, 2.79),
        (28.0, 0.56 * 28.0, PairKind.FAMILY, 0.0, 1.33),
        (28.0, 0.56 * 28.0, PairKind.FAMILY, 0.8, 1.24),
    ],
)
def test_what_was_measured_lies_within_the_range(
    plain_ms: float, step_ms: float | None, kind: PairKind, temperature: float, measured: float
) -> None:
    found = forecast_gain(curve(plain_ms, ZEN4), step_ms, kind, temperature)
    assert found.low <= measured <= found.high


costs = st.floats(0.0, 1.0)


@given(
    steps=st.lists(costs, min_size=5, max_size=5),
    plain_ms=st.floats(0.3, 500.0),
    share=st.one_of(st.none(), st.floats(0.01, 2.0)),
    kind=st.sampled_from(PairKind),
    temperature=st.floats(0.0, 5.0),
)
def test_a_range_is_narrow_and_never_promises_a_loss(
    steps: list[float], plain_ms: float, share: float | None, kind: PairKind, temperature: float
) -> None:
    shape, cost = {1: 1.0}, 1.0
    for n, step in zip((2, 4, 8, 16, 33), steps, strict=True):
        cost += step * n / 2
        shape[n] = cost
    step_ms = None if share is None else share * plain_ms
    found = forecast_gain(curve(plain_ms, shape), step_ms, kind, temperature)
    assert 1.0 <= found.low <= found.high <= MAX_RANGE * found.low * 1.0001
    if step_ms is not None:
        alone = forecast_gain(curve(plain_ms, shape), None, kind, temperature)
        assert found.high >= alone.high * 0.79  # a draft is never worse than none, except for the narrowing of both


def test_the_dearer_the_draft_the_less_it_gains() -> None:
    highs = [forecast_gain(curve(20.0, ZEN4), share * 20.0).high for share in (0.05, 0.1, 0.2, 0.4, 0.8)]
    assert highs == sorted(highs, reverse=True)
    assert highs[0] > highs[-1]


def test_a_draft_that_speaks_fewer_of_the_tokens_gains_less() -> None:
    highs = [forecast_gain(curve(20.0, ZEN4), 1.0, coverage=coverage).high for coverage in (1.0, 0.8, 0.5)]
    assert highs == sorted(highs, reverse=True)
    assert highs[0] > highs[-1]


def test_a_head_whose_output_matrix_is_half_of_its_target_does_not_pay() -> None:
    assert not forecast_gain(curve(20.0, REPACKED), 0.5 * 20.0, PairKind.HEAD).draft_pays
    assert forecast_gain(curve(20.0, ZEN4), 0.1 * 20.0, PairKind.HEAD).draft_pays


def test_a_block_costs_its_pass_however_many_tokens_it_drafts() -> None:
    curve = CostCurve({1: 10.0, 2: 11.0, 4: 12.0, 8: 14.0, 16: 20.0, 33: 40.0})
    one_by_one = forecast_gain(curve, 4.0, PairKind.HEAD)
    block = forecast_gain(curve, 4.0, PairKind.HEAD, block_size=7)
    assert block.high > one_by_one.high
    assert block.draft_cost == one_by_one.draft_cost == pytest.approx(0.4)
    assert forecast_gain(curve, 4.0, PairKind.HEAD, block_size=3).high <= block.high
