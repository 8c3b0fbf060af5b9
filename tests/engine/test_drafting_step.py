"""What a drafted token takes is measured on whatever the draft's cache holds, and leaves it as it was."""

from __future__ import annotations

import numpy as np
import pytest

from engine.cost_curve import CostCurve
from engine.drafting_step import drafting_step_ms
from engine.errors import DecodeError
from engine.fake_model import MarkovModel, RecurrentModel
from engine.interfaces import Rows, TokenIds
from engine.pacer import Pacer
from engine.sequence import CachedSequence
from tests.engine.test_speculate import N_VOCAB, P_LOGITS

READ = np.array([3, 1, 4, 1, 5, 2, 6], dtype=np.int32)


def pacer() -> Pacer:
    return Pacer(CostCurve({1: 1.0, 8: 2.0}))


@pytest.mark.parametrize("num_read", [0, len(READ)])
@pytest.mark.parametrize("kind", [MarkovModel, RecurrentModel])
def test_the_cache_is_left_as_it_was(kind: type[MarkovModel], num_read: int) -> None:
    """A state that can be taken back to one place only has no second one for the measurement."""
    model = kind(P_LOGITS)
    sequence = CachedSequence(model)
    if num_read:
        sequence.forward(READ[:num_read], 0)
    assert drafting_step_ms(sequence, N_VOCAB, pacer()) > 0.0
    assert sequence.num_past == model.num_past == num_read
    assert sequence.would_keep(np.append(READ[:num_read], np.int32(7))) == num_read
    assert model._ids == READ[:num_read].tolist()


class Failing(RecurrentModel):
    """Its passes begin to fail."""

    fails_from = 1 << 30

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        if self.num_forwards >= self.fails_from:
            raise DecodeError("No pass.")
        return super().forward(ids, n_rows, num_padding)


def test_a_pass_that_fails_leaves_it_as_it_was_too() -> None:
    model = Failing(P_LOGITS)
    sequence = CachedSequence(model)
    sequence.forward(READ, 0)
    model.fails_from = 5
    with pytest.raises(DecodeError):
        drafting_step_ms(sequence, N_VOCAB, pacer())
    assert model._ids == READ.tolist()
    assert sequence.num_past == len(READ)
    model.fails_from = 1 << 30
    assert drafting_step_ms(sequence, N_VOCAB, pacer()) > 0.0
