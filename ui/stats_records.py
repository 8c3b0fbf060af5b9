"""Figures of several answers together, as the window shows them. Plain data; every rate is a quotient of sums."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.records import RunStats


@dataclass(frozen=True, slots=True)
class Sums:
    """Counters of ``num_answers`` answers added up; the percentiles of ``stats`` are those of its counted intervals.

    ``compared_s`` are the seconds of those answers for which the cost of plain decoding was measured, ``plain_s`` what
    their tokens would have taken at that cost. So a long answer weighs more than a short one, in every rate.
    """

    num_answers: int = 0
    stats: RunStats = field(default_factory=RunStats)
    plain_s: float = 0.0
    compared_s: float = 0.0

    @property
    def speedup(self) -> float | None:
        """Speed over that of plain decoding; None where its cost was not measured."""
        return self.plain_s / self.compared_s if self.plain_s > 0 and self.compared_s > 0 else None

    @property
    def saved_s(self) -> float | None:
        """Seconds less than plain decoding would have taken; negative where speculation cost time."""
        return self.plain_s - self.compared_s if self.plain_s > 0 and self.compared_s > 0 else None


@dataclass(frozen=True, slots=True)
class PairSums:
    """The sums of one target with one draft ("" is none) in one mode; a mode of another version is only its name."""

    target: str
    draft: str
    mode: str
    sums: Sums
