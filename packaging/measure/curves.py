"""Costs of passes that are made up, so that a pacer goes to all its depths and passes are padded."""

from __future__ import annotations

import numpy as np

from engine.pacing.cost_curve import CostCurve

_SIZES = (1, 2, 3, 4, 6, 8, 16, 32)
_DEAR = (2, 3, 6)  # in tokens: on some machines these cost more than a few tokens more
_STEP = 1.6


def random_curve(rng: np.random.Generator) -> dict[int, float]:
    """Costs of passes that make any depth the best one: cheap or dear, and half of them a staircase that pads."""
    steps = rng.exponential(rng.choice([0.02, 0.2, 1.0]), len(_SIZES) - 1)
    costs = dict(zip(_SIZES, np.concatenate(([1.0], 1.0 + np.cumsum(steps))).tolist(), strict=True))
    stepped = bool(rng.integers(2))
    return {size: cost * (_STEP if stepped and size in _DEAR else 1.0) for size, cost in costs.items()}


class InjectedCurve(CostCurve):
    """Stays as it was made, whatever passes really take; counts the passes that it has padded."""

    def __init__(self, costs_ms: dict[int, float]) -> None:
        super().__init__(costs_ms)
        self.num_padded = 0

    def observe(self, num_tokens: int, milliseconds: float) -> None:
        """Learn nothing."""

    def padded(self, num_tokens: int) -> int:
        """See `CostCurve.padded`. The loop asks once a pass."""
        carried = super().padded(num_tokens)
        self.num_padded += carried > num_tokens
        return carried
