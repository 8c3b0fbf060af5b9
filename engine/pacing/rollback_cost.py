"""What rejected tokens cost where a memory cannot simply forget them: a checkpoint before, and kept tokens once more.

The loop says how many tokens are pending, the pacer asks for the costs.
"""

from __future__ import annotations

from engine.pacing.cost_curve import CostCurve

_RATE = 0.1
_CLIP = 3.0  # one try says at most so much against what is believed: the machine was busy


class RollbackCost:
    """Milliseconds of checkpoints and of going back; of a state of some megabytes not small beside a pass."""

    def __init__(self, num_snapshots: int, save_ms: float, restore_ms: float) -> None:
        """``num_snapshots`` proposed tokens can be forgotten for nothing; the milliseconds are measured."""
        self.num_snapshots = num_snapshots
        self.save_ms = save_ms
        self.restore_ms = restore_ms
        self.num_pending = 0  # tokens that the next pass decodes again

    def expected_ms(self, curve: CostCurve, num_proposed: int, alive: float) -> float:
        """Give what proposing so many costs beside the pass, where all are kept with the chance ``alive``."""
        if num_proposed <= self.num_snapshots:
            return 0.0
        return self._save_ms() + (1.0 - alive) * self._rejected_ms(curve, num_proposed / 2)

    def observe_save(self, milliseconds: float) -> None:
        """Record what a checkpoint took."""
        self.save_ms += (min(milliseconds, _CLIP * self.save_ms) - self.save_ms) * _RATE

    def observe_restore(self, milliseconds: float) -> None:
        """Record what the way back to a checkpoint took."""
        self.restore_ms += (min(milliseconds, _CLIP * self.restore_ms) - self.restore_ms) * _RATE

    def _save_ms(self) -> float:
        return 0.0 if self.num_pending else self.save_ms

    def _rejected_ms(self, curve: CostCurve, num_kept: float) -> float:
        return self.restore_ms + self._replay_ms(curve, self.num_pending + 1 + num_kept)

    @staticmethod
    def _replay_ms(curve: CostCurve, num_tokens: float) -> float:
        """Give by how much the next pass grows, with which the kept tokens ride along."""
        return max(0.0, curve.cost_ms(round(num_tokens) + 1) - curve.cost_ms(1))
