"""Decides whether drafting made answers faster, or why that is unknown. All displays use this rule.

The engine estimates the cost of plain decoding during an answer, with a standard error (`engine.pacing.plain_speed`).
"""

from dataclasses import dataclass
from enum import Enum

from app.core.domain.sums import Sums
from engine.records import RunStats

# A ratio between these may be chance: of 36 plain answers (two models, 100 tokens each) none was above 1.05, and half
# were from 0.95 to 1.00; lower ratios were due to other programs.
EVEN_RANGE = (0.95, 1.05)
MAX_PLAIN_ERROR = 0.1  # maximum relative error of the plain cost for the verdict "about the same"
MIN_TOKENS = 64  # minimum number of tokens for a verdict
MAX_JOINED_SHARE = 0.1  # maximum share of passes whose batch composition differs from the others'


class MissingReason(Enum):
    """Why a gain or a loss is unknown."""

    NO_TOKENS = "no tokens"
    NOTHING_DRAFTED = "nothing drafted"  # plain decoding
    LOOPED = "looped"  # the answer repeated itself until it was ended
    FEW_TOKENS = "few tokens"
    BESIDE_OTHERS = "beside others"  # the batch composition changed during the answer
    PLAIN_UNKNOWN = "plain unknown"  # the cost of plain decoding is unknown or too uncertain
    NOTHING_ACCEPTED = "nothing accepted"  # faster, but no drafted token was accepted


@dataclass(frozen=True, slots=True)
class SpeedVerdict:
    """``speedup``: speed over plain decoding; None if unknown (``missing`` says why). ``error``: relative, 95%."""

    speedup: float | None = None
    missing: MissingReason | None = None
    error: float = 0.0

    @property
    def is_even(self) -> bool:
        """True if there is neither a gain nor a loss beyond chance."""
        return self.speedup is not None and not self.is_gain and not self.is_loss

    @property
    def is_gain(self) -> bool:
        return self.speedup is not None and self.speedup >= max(EVEN_RANGE[1], 1.0 + self.error)

    @property
    def is_loss(self) -> bool:
        return self.speedup is not None and self.speedup <= min(EVEN_RANGE[0], 1.0 / (1.0 + self.error))


def speed_verdict(
    *, tokens: int, seconds: float, plain_s: float | None, proposed: int, accepted: int, error: float = 0.0
) -> SpeedVerdict:
    """Judge tokens that took ``seconds``; plain decoding would have taken ``plain_s`` (None: unknown)."""
    if not tokens or seconds <= 0.0:
        return SpeedVerdict(missing=MissingReason.NO_TOKENS)
    if not proposed:
        return SpeedVerdict(missing=MissingReason.NOTHING_DRAFTED)
    if tokens < MIN_TOKENS:
        return SpeedVerdict(missing=MissingReason.FEW_TOKENS)
    if not plain_s:
        return SpeedVerdict(missing=MissingReason.PLAIN_UNKNOWN)
    found = SpeedVerdict(plain_s / seconds, error=error)
    if found.is_even and error > MAX_PLAIN_ERROR:
        return SpeedVerdict(missing=MissingReason.PLAIN_UNKNOWN)
    return SpeedVerdict(missing=MissingReason.NOTHING_ACCEPTED) if found.is_gain and not accepted else found


def answer_verdict(stats: RunStats) -> SpeedVerdict:
    if stats.looped:
        return SpeedVerdict(missing=MissingReason.LOOPED)
    if (
        stats.proposed
        and MAX_JOINED_SHARE * stats.passes < stats.joined_passes < (1.0 - MAX_JOINED_SHARE) * stats.passes
    ):
        return SpeedVerdict(missing=MissingReason.BESIDE_OTHERS)
    return speed_verdict(
        tokens=stats.tokens,
        seconds=stats.generation_s,
        plain_s=stats.plain_s,
        proposed=stats.proposed,
        accepted=stats.accepted,
        error=stats.plain_error,
    )


def sums_verdict(sums: Sums) -> SpeedVerdict:
    """Judge all answers with a known cost of plain decoding together, weighted by length."""
    stats = sums.stats
    return speed_verdict(
        tokens=sums.compared_tokens if sums.plain_s else stats.tokens,
        seconds=sums.compared_s if sums.plain_s else stats.generation_s,
        plain_s=sums.plain_s,
        proposed=stats.proposed,
        accepted=stats.accepted,
    )
