"""Learnt acceptance survives a restart: the same estimates and decisions, by kind of answer."""

from pathlib import Path

import numpy as np
import pytest

from engine.pacing.acceptance import draft_kind
from engine.pacing.cost_curve import CostCurve
from engine.pacing.learning import MAX_KINDS, AcceptanceStats, AcceptanceStore, SavedKinds
from engine.pacing.pacer import Pacer

PLAIN_MS = 7.0
CURVE = {1: PLAIN_MS, 4: 1.6 * PLAIN_MS, 32: 8.0 * PLAIN_MS}


def taught(acceptance: float, kind: str = "drafted greedy", curve: dict[int, float] | None = None) -> Pacer:
    """A pacer that has observed 300 drafting passes with this share of accepted tokens."""
    rng = np.random.default_rng(7)
    pacer = Pacer(CostCurve(curve or CURVE), 0.3)
    pacer.begin(kind)
    for _ in range(300):
        kept = next((i for i in range(3) if rng.random() > acceptance), 3)
        pacer.observe_draft([0.91] * 3, kept, pacer.curve.cost_ms(4) + 0.9)
    return pacer


def restarted(pacer: Pacer, kept: SavedKinds) -> Pacer:
    """The pacer of the same pair after a restart."""
    after = Pacer(pacer.curve, 0.3)
    after.restore(kept)
    return after


@pytest.mark.parametrize("acceptance", [0.05, 0.95])
def test_the_next_start_goes_on_where_the_last_one_ended(tmp_path: Path, acceptance: float) -> None:
    before = taught(acceptance)
    AcceptanceStore(tmp_path).put("pair", before.saved)
    after = restarted(before, AcceptanceStore(tmp_path).get("pair") or {})
    for pacer in (before, after):
        pacer.begin("drafted greedy")
    kind = draft_kind(0.91)
    assert after.acceptance.draft.probability(kind) == pytest.approx(
        before.acceptance.draft.probability(kind), rel=0.01
    )
    assert after.acceptance.drafted.probability(0) == pytest.approx(before.acceptance.drafted.probability(0), rel=0.01)
    decisions = [pacer.decide([], has_model=True, limit=8) for pacer in (before, after)]
    assert decisions[1].choice is decisions[0].choice
    assert decisions[1].draft_gain_ms == pytest.approx(decisions[0].draft_gain_ms, rel=0.05)
    assert (decisions[1].draft_gain_ms or 0.0) * (acceptance - 0.5) > 0.0


def test_what_a_slower_machine_taught_is_reported_in_plain_passes() -> None:
    slow = taught(0.8, curve={n: 10.0 * ms for n, ms in CURVE.items()})
    quick = Pacer(CostCurve(CURVE), 0.03)
    quick.restore(slow.saved)
    for pacer in (slow, quick):
        pacer.begin("drafted greedy")
    gains = [pacer.decide([], has_model=True, limit=8).draft_gain_ms for pacer in (slow, quick)]
    assert gains[0] == pytest.approx(10.0 * (gains[1] or 0.0), rel=0.05)


def test_answers_that_are_drawn_learn_apart_from_greedy_ones() -> None:
    before = taught(0.05)
    after = restarted(before, before.saved)
    after.begin("drafted sampled", greedy=False)
    assert not after.acceptance.drafted.is_observed
    after.begin("drafted greedy")
    assert after.acceptance.drafted.probability(0) < 0.3


def test_before_anything_was_drafted_there_is_nothing_to_tell_of_it() -> None:
    untaught = AcceptanceStats(greedy=True)
    again = AcceptanceStats(greedy=True)
    again.restore(untaught.saved)
    assert again.average is None
    assert not again.drafted.is_observed


def test_the_last_used_kinds_are_stored() -> None:
    before = taught(0.5)
    for number in range(MAX_KINDS):
        before.begin(f"kind {number}")
    before.begin("kind 0")
    after = restarted(before, before.saved)
    assert list(after.saved) == [f"kind {number}" for number in (*range(1, MAX_KINDS), 0)]
