"""What trained heads will gain, by what they proposed on held-out texts and what passes take here.

It is the pacer's arithmetic (Leviathan et al. 2022, arXiv 2211.17192, with the gate of `engine.pacing.pacer`): a head
is run, and what it proposes is sent to the target only where its confidence says that this pays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.forecast.gain import WORK_MS
from engine.pacing.constants import CONFIDENCES
from engine.pacing.cost_curve import CostCurve

SURE = 0.7  # a confidence that is told
_ROUNDS = 4  # until the rate, which says what a token is worth, stays


@dataclass(frozen=True, slots=True)
class Proposals:
    """What heads proposed at places of held-out texts, at a temperature of 0.

    ``confidences`` [places, heads] are the probabilities of their likeliest tokens, ``right`` [places, heads] says
    whether these are the target's likeliest. ``sampled`` is each head's share kept at a temperature of 0.8, where those
    before it were right.
    """

    confidences: NDArray[np.float32]
    right: NDArray[np.bool_]
    sampled: tuple[float, ...]

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Of each head whether all before it were right [places, heads]."""
        return np.cumprod(np.pad(self.right, ((0, 0), (1, 0)), constant_values=True)[:, :-1], axis=1).astype(np.bool_)

    @property
    def greedy(self) -> tuple[float, ...]:
        """How often each head is right where those before it were."""
        alive = self.alive
        return tuple(((self.right & alive).sum(axis=0) / np.maximum(alive.sum(axis=0), 1)).tolist())

    @property
    def tokens_per_pass(self) -> float:
        """With all heads' tokens proposed: one, and what is kept of them."""
        return 1.0 + float(np.cumprod(self.right, axis=1).sum()) / max(len(self.right), 1)

    def when_sure(self, least: float) -> tuple[float, float]:
        """How often the first head's confidence is above ``least``, and how often it is right then."""
        sure = self.confidences[:, 0] > least
        return float(sure.mean()), float(self.right[sure, 0].mean()) if sure.any() else 0.0


@dataclass(frozen=True, slots=True)
class HeadSpeedup:
    """``gain`` times plain decoding with ``proposed`` tokens a pass; ``step_share`` is a step beside a plain pass."""

    proposed: float
    gain: float
    step_share: float


def best_speedup(curve: CostCurve, step_ms: float, found: Proposals) -> HeadSpeedup:
    """What the heads give when every pass asks them, and proposes what pays by their confidences."""
    plain_ms, heads = curve.cost_ms(1), found.right.shape[1]
    costs_ms = [curve.cost_ms(1), *(curve.cost_ms(1 + n) + WORK_MS for n in range(1, heads + 1))]
    chances = _chances(found)
    worth_ms, best = plain_ms, HeadSpeedup(0.0, 0.0, step_ms / plain_ms)
    for _ in range(_ROUNDS):
        going, alive = np.ones(len(chances), dtype=np.bool_), np.ones(len(chances))
        proposed, steps = np.zeros(len(chances), dtype=np.int64), 0
        for k in range(heads):
            steps += int(going.sum())
            alive *= chances[:, k]
            going &= alive * worth_ms > costs_ms[k + 1] - costs_ms[k]
            proposed += going
        kept = (np.cumprod(found.right, axis=1) * (np.arange(heads) < proposed[:, None])).sum()
        spent_ms = float(np.take(costs_ms, proposed).sum()) + steps * step_ms
        worth_ms = spent_ms / float(len(chances) + kept)
        best = max(
            best, HeadSpeedup(float(proposed.mean()), plain_ms / worth_ms, step_ms / plain_ms), key=lambda o: o.gain
        )
    return best


def _chances(found: Proposals) -> NDArray[np.float64]:
    """The chance of each proposal to be right, if those before it are: what the class of its confidence says."""
    kinds, alive = np.searchsorted(CONFIDENCES, found.confidences, side="right"), found.alive
    chances = np.zeros(kinds.shape)
    for k in range(kinds.shape[1]):
        seen = np.bincount(kinds[alive[:, k], k], minlength=len(CONFIDENCES) + 1)
        right = np.bincount(kinds[alive[:, k] & found.right[:, k], k], minlength=len(CONFIDENCES) + 1)
        chances[:, k] = (right / np.maximum(seen, 1))[kinds[:, k]]
    return chances
