"""What trained heads will gain, by how often they are right and what passes take here: the pacer's arithmetic.

A pass that proposes as many tokens as pay gives 1 + p1 + p1 p2 + ... tokens and takes what so many tokens take the
target, and a step of the heads for each (Leviathan et al. 2022, arXiv 2211.17192).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.forecast.gain import WORK_MS
from engine.pacing.cost_curve import CostCurve


@dataclass(frozen=True, slots=True)
class HeadSpeedup:
    """``gain`` times plain decoding with ``depth`` tokens proposed; ``step_share`` is a step beside a plain pass."""

    depth: int
    gain: float
    step_share: float


def best_speedup(curve: CostCurve, step_ms: float, chances: Sequence[float]) -> HeadSpeedup:
    """The best depth from 1 on; ``chances`` are those of each head where the ones before it were right."""
    plain_ms, best = curve.cost_ms(1), (0.0, -1)
    tokens = alive = 1.0
    for depth, chance in enumerate(chances, 1):
        alive *= chance
        tokens += alive
        gain = tokens * plain_ms / (curve.cost_ms(depth + 1) + depth * step_ms + WORK_MS)
        best = max(best, (gain, -depth))
    return HeadSpeedup(-best[1], best[0], step_ms / plain_ms)
