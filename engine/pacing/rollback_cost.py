"""The cost of rejected tokens in a memory that cannot drop them: a checkpoint, and decoding accepted tokens again."""

from engine.pacing.cost_curve import CostCurve

_RATE = 0.1
_CLIP = 3.0  # limit of a single observation relative to the current value, against stalls


class RollbackCost:
    """Milliseconds of saving and restoring checkpoints, which matter for states of megabytes."""

    def __init__(self, num_snapshots: int, save_ms: float, restore_ms: float) -> None:
        """Up to ``num_snapshots`` tokens can be dropped at no cost."""
        self.num_snapshots = num_snapshots
        self.save_ms = save_ms
        self.restore_ms = restore_ms
        self.num_pending = 0  # number of tokens that the next pass decodes again

    def expected_ms(self, curve: CostCurve, num_proposed: int, alive: float) -> float:
        """Extra cost of proposing ``num_proposed`` tokens; ``alive`` is the probability that all are accepted."""
        if num_proposed <= self.num_snapshots:
            return 0.0
        num_replayed = self.num_pending + 1 + num_proposed / 2  # decoded again in the next pass
        replay_ms = max(0.0, curve.cost_ms(round(num_replayed) + 1) - curve.cost_ms(1))
        save_ms = 0.0 if self.num_pending else self.save_ms
        return save_ms + (1.0 - alive) * (self.restore_ms + replay_ms)

    def observe_save(self, milliseconds: float) -> None:
        self.save_ms += (min(milliseconds, _CLIP * self.save_ms) - self.save_ms) * _RATE

    def observe_restore(self, milliseconds: float) -> None:
        self.restore_ms += (min(milliseconds, _CLIP * self.restore_ms) - self.restore_ms) * _RATE
