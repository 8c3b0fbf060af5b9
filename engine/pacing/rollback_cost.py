"""The cost of rejected tokens if a memory cannot drop them: a checkpoint, and decoding the accepted tokens again."""

from __future__ import annotations

from engine.pacing.cost_curve import CostCurve

_RATE = 0.1
_CLIP = 3.0  # times the current value, at most, for a single observation: the machine may have been busy


class RollbackCost:
    """Milliseconds of checkpoints and of returning to one: not small for a state of some megabytes."""

    def __init__(self, num_snapshots: int, save_ms: float, restore_ms: float) -> None:
        """``num_snapshots`` proposed tokens can be dropped at no cost; the milliseconds are measured."""
        self.num_snapshots = num_snapshots
        self.save_ms = save_ms
        self.restore_ms = restore_ms
        self.num_pending = 0  # tokens that the next pass decodes again

    def expected_ms(self, curve: CostCurve, num_proposed: int, alive: float) -> float:
        """Cost of proposing ``num_proposed`` tokens beside the pass, if all are accepted with the chance ``alive``."""
        if num_proposed <= self.num_snapshots:
            return 0.0
        num_replayed = self.num_pending + 1 + num_proposed / 2  # ride along with the next pass
        replay_ms = max(0.0, curve.cost_ms(round(num_replayed) + 1) - curve.cost_ms(1))
        save_ms = 0.0 if self.num_pending else self.save_ms
        return save_ms + (1.0 - alive) * (self.restore_ms + replay_ms)

    def observe_save(self, milliseconds: float) -> None:
        self.save_ms += (min(milliseconds, _CLIP * self.save_ms) - self.save_ms) * _RATE

    def observe_restore(self, milliseconds: float) -> None:
        self.restore_ms += (min(milliseconds, _CLIP * self.restore_ms) - self.restore_ms) * _RATE
