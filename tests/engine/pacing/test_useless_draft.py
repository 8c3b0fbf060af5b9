"""A deliberately useless draft costs almost nothing, and is used when it improves."""

import pytest

from engine.pacing.pacer import Choice
from tests.engine.pacing.test_pacer import FLAT, STAIRCASE, Simulation, best_fixed

STEEP = {1: 7.0, 2: 13.0, 4: 26.0, 8: 52.0, 32: 200.0}  # every token costs as much as the first
CURVES = {"staircase": STAIRCASE, "flat": FLAT, "steep": STEEP}


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("acceptance", [0.0, 0.05])
@pytest.mark.parametrize("step_ms", [0.3, 1.0, 3.0])
def test_two_thousand_passes_lose_less_than_two_percent(curve: str, acceptance: float, step_ms: float) -> None:
    simulation = Simulation(CURVES[curve], acceptance, step_ms)
    assert simulation.run(2000) > 0.98
    if best_fixed(CURVES[curve], acceptance, step_ms) <= 1.0:  # otherwise even this draft pays
        assert simulation.choices.count(Choice.DRAFT) < 0.15 * 2000


def test_what_a_rested_draft_reads_first_does_not_count_against_it() -> None:
    simulation = Simulation(STAIRCASE, 0.9, 0.3)
    simulation.run(300)
    pacer = simulation.pacer
    for _ in range(3):
        pacer.decide([], has_model=True, limit=3)
        pacer.observe_step(512.0, 0.1, 3, 3)
        pacer.observe_draft([0.9] * 3, 3, 12.0, 500.0)
    simulation.run(1)
    assert simulation.choices[-1] is Choice.DRAFT
