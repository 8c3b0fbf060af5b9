"""Whether drafting made answers faster: one rule for every place that tells of it, and why it tells nothing elsewhere.

What plain decoding would have taken is measured apart from the answer, so three things have to hold before the two are
compared: the cost of a plain pass is known, its passes are long enough that the window's own work does not decide, and
something was drafted.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from app.core.domain.sums import Sums
from engine.records import RunStats

# Between these, a difference is as much chance as speed: of 36 plain answers (two models, 100 tokens each) none was
# above 1.05, and half were from 0.95 to 1.00; what lay lower, other programs had taken.
EVEN = (0.95, 1.05)
TRUSTED_PASS_MS = 2.0  # passes of plain decoding beside which frames of the window are so large that they decide
FEWEST_TOKENS = 64  # of several answers together: what fewer gave is as much chance as speed
SHORT_ANSWER = 8  # tokens; of an answer of fewer, one stall of the machine decides
JOINED_SHARE = 0.1  # of an answer's passes may be made for others, too, where it is compared with plain decoding
SETTLED_S = 1.0  # of an answer in the making, whose few passes say nothing yet about its speed


class Missing(Enum):
    """Why nothing is told of a gain or a loss."""

    NO_TOKENS = "no tokens"
    NOT_SETTLED = "not settled"  # the answer has just begun
    NOTHING_DRAFTED = "nothing drafted"  # it was plain decoding itself
    PLAIN_UNKNOWN = "plain unknown"  # what plain decoding costs was not measured yet
    BESIDE_OTHERS = "beside others"  # other answers had a part in its passes
    PLAIN_CHANGED = "plain changed"  # it was, but the machine became slower or faster during the answer
    FEW_TOKENS = "few tokens"  # were compared
    SHORT_PASSES = "short passes"
    NOTHING_ACCEPTED = "nothing accepted"  # faster, but not by drafting


@dataclass(frozen=True, slots=True)
class SpeedVerdict:
    """``speedup``: speed over that of plain decoding; None where ``missing`` says why it is not told."""

    speedup: float | None = None
    missing: Missing | None = None

    @property
    def is_even(self) -> bool:
        """Whether the difference is within what chance gives."""
        return self.speedup is not None and EVEN[0] < self.speedup < EVEN[1]

    @property
    def is_gain(self) -> bool:
        """Whether drafting was faster beyond chance."""
        return self.speedup is not None and self.speedup >= EVEN[1]

    @property
    def is_loss(self) -> bool:
        """Whether drafting was slower beyond chance."""
        return self.speedup is not None and self.speedup <= EVEN[0]


def judge(*, tokens: int, seconds: float, plain_s: float | None, proposed: int, accepted: int) -> SpeedVerdict:
    """Judge tokens that took ``seconds``, where plain decoding would have taken ``plain_s`` (None: not measured)."""
    if not tokens or seconds <= 0.0:
        return SpeedVerdict(missing=Missing.NO_TOKENS)
    if not proposed:
        return SpeedVerdict(missing=Missing.NOTHING_DRAFTED)
    if not plain_s:
        return SpeedVerdict(missing=Missing.PLAIN_UNKNOWN)
    if plain_s * 1000.0 < TRUSTED_PASS_MS * tokens:
        return SpeedVerdict(missing=Missing.SHORT_PASSES)
    speedup = plain_s / seconds
    if speedup > 1.0 and not accepted:
        return SpeedVerdict(missing=Missing.NOTHING_ACCEPTED)
    return SpeedVerdict(speedup)


def answer_verdict(stats: RunStats, *, live: bool = False) -> SpeedVerdict:
    """Judge one answer, ``live`` while it is made."""
    if live and stats.tokens and stats.generation_s < SETTLED_S:
        return SpeedVerdict(missing=Missing.NOT_SETTLED)
    plain_s = stats.tokens * stats.plain_ms / 1000.0 if stats.plain_ms is not None else None
    if stats.proposed and stats.joined_passes > JOINED_SHARE * stats.passes:
        return SpeedVerdict(missing=Missing.BESIDE_OTHERS)
    if stats.proposed and stats.plain_changed:
        return SpeedVerdict(missing=Missing.PLAIN_CHANGED)
    if not live and stats.proposed and plain_s and 0 < stats.tokens < SHORT_ANSWER:
        return SpeedVerdict(missing=Missing.FEW_TOKENS)
    return judge(
        tokens=stats.tokens,
        seconds=stats.generation_s,
        plain_s=plain_s,
        proposed=stats.proposed,
        accepted=stats.accepted,
    )


def sums_verdict(sums: Sums) -> SpeedVerdict:
    """Judge answers together, a long one weighing more: those for which the cost of plain decoding was measured."""
    stats, all_s = sums.stats, sums.stats.generation_s
    share = sums.compared_s / all_s if 0.0 < sums.compared_s < all_s else 1.0
    tokens = sums.compared_tokens or round(stats.tokens * share)  # of what older versions kept, by their time
    if sums.plain_s and sums.num_answers > 1 and tokens < FEWEST_TOKENS:
        return SpeedVerdict(missing=Missing.FEW_TOKENS)
    return judge(
        tokens=tokens,
        seconds=sums.compared_s if sums.plain_s else all_s,
        plain_s=sums.plain_s,
        proposed=stats.proposed,
        accepted=stats.accepted,
    )
