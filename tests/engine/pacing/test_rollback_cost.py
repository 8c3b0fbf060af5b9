"""The pace includes the costs of recurrent memory: checkpoints, restoring, and decoding accepted tokens again."""

import numpy as np
import pytest

from engine.pacing.cost_curve import CostCurve
from engine.pacing.measuring import measure_rollback
from engine.pacing.pacer import Choice, Pacer
from engine.pacing.rollback_cost import RollbackCost
from engine.sequence import CachedSequence
from tests.engine.pacing.test_pacer import text
from tests.engine.test_sequence import LOGITS
from tests.fake_model import MarkovModel, RecurrentModel


def flat_curve() -> CostCurve:
    """Ten milliseconds for one token, half a millisecond for each further one."""
    return CostCurve({n: 10.0 + 0.5 * (n - 1) for n in range(1, 34)})


def test_snapshots_cost_nothing_up_to_their_number() -> None:
    rollback = RollbackCost(3, save_ms=2.0, restore_ms=1.0)
    assert rollback.expected_ms(flat_curve(), 3, 0.1) == 0.0
    assert rollback.expected_ms(flat_curve(), 4, 0.1) > 0.0


def test_a_rejection_costs_the_way_back_and_the_kept_tokens_again() -> None:
    rollback, curve = RollbackCost(0, save_ms=2.0, restore_ms=1.0), flat_curve()
    assert rollback.expected_ms(curve, 4, 1.0) == 2.0
    assert rollback.expected_ms(curve, 4, 0.5) == pytest.approx(2.0 + 0.5 * (1.0 + 0.5 * 3))


def test_a_pass_that_decodes_others_again_needs_no_new_checkpoint() -> None:
    rollback, curve = RollbackCost(0, save_ms=2.0, restore_ms=1.0), flat_curve()
    rollback.num_pending = 3
    assert rollback.expected_ms(curve, 4, 1.0) == 0.0
    assert rollback.expected_ms(curve, 4, 0.0) == pytest.approx(1.0 + 0.5 * 6)


def test_costs_follow_what_is_seen_but_not_one_stall() -> None:
    rollback = RollbackCost(0, save_ms=2.0, restore_ms=1.0)
    rollback.observe_save(1000.0)
    assert rollback.save_ms == pytest.approx(2.4)
    for _ in range(200):
        rollback.observe_save(3.0)
        rollback.observe_restore(0.5)
    assert rollback.save_ms == pytest.approx(3.0)
    assert rollback.restore_ms == pytest.approx(0.5)


def test_rollback_is_measured_only_if_it_costs_something() -> None:
    sequence = CachedSequence(RecurrentModel(LOGITS))
    rollback = measure_rollback(sequence)
    assert rollback is not None
    assert min(rollback.save_ms, rollback.restore_ms) > 0.0
    assert sequence.num_past == 0
    assert measure_rollback(CachedSequence(MarkovModel(LOGITS))) is None


def play(pacer: Pacer, share: float) -> int:
    """The number of drafting passes among three hundred, if this share of drafts is accepted, else nothing."""
    dice, num_drafted, curve = np.random.default_rng(2), 0, pacer.curve
    for _ in range(300):
        if pacer.decide([], has_model=True, limit=3).choice is not Choice.DRAFT:
            pacer.observe_step(pacer.prices.plain_ms, 0.05, 0, 0)
            continue
        num_drafted += 1
        kept = 3 if dice.random() < share else 0
        elapsed_ms = (
            curve.cost_ms(4)
            + 1.5
            + (pacer.prices.rollback.expected_ms(curve, 3, kept / 3) if pacer.prices.rollback else 0.0)
        )
        pacer.observe_step(elapsed_ms, 0.05, 3, kept)
        pacer.observe_draft([0.8, 0.8, 0.8], kept, elapsed_ms)
    return num_drafted


def test_dear_rejections_pause_a_draft_that_pays_elsewhere() -> None:
    without = Pacer(flat_curve(), 0.5)
    dear = Pacer(flat_curve(), 0.5, RollbackCost(0, save_ms=16.0, restore_ms=8.0))
    assert play(without, 0.5) > 250
    assert play(dear, 0.5) < 60
    assert play(Pacer(flat_curve(), 0.5, RollbackCost(3, 16.0, 8.0)), 0.5) > 250


def test_dear_rejections_have_unsure_text_left_out_and_sure_text_taken() -> None:
    for rollback, depths in (
        (None, (4, 4)),
        (RollbackCost(0, 12.0, 8.0), (0, 4)),
        (RollbackCost(4, 12.0, 8.0), (4, 4)),
    ):
        pacer = Pacer(flat_curve(), rollback=rollback)
        assert (pacer.text_gain(text(4, 1))[1], pacer.text_gain(text(4, 32))[1]) == depths
