"""The cost of a plain pass that an answer is compared with: the curve's, while the answer's own passes confirm it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from statistics import median

from engine.pacing.pacer import Pacer

MOST_DRIFT = 1.3  # times what a plain pass costs may change within an answer that is compared with plain decoding
# Times what its passes may be off from what they should take. Half of them are: one says nothing.
MOST_OFF = 1.5
_LATELY = 500  # passes that are looked at: the median is asked for several times a second, however long the answer


class PlainCost:
    """For one answer.

    A curve that was measured, or corrected, while another program had the cores tells of gains that nobody has: where
    they became free before an answer, 7.74 times plain were told of the built-in pair. The sizes of passes that come
    are soon corrected, that of one token is not among them. So the answer's passes are held against the shape of the
    curve as it was measured: by it each says what a plain pass beside it would take.
    """

    def __init__(self, pacer: Pacer) -> None:
        self._pacer = pacer
        self._first_ms = pacer.prices.plain_ms
        self._implied_ms: deque[float] = deque(maxlen=_LATELY)

    def observe_passes(self, num_tokens: int, passes_ms: Sequence[float]) -> None:
        """Record the milliseconds of passes of so many tokens each."""
        share = self._pacer.curve.plain_share(num_tokens)
        if share is not None:
            self._implied_ms.extend(milliseconds * share for milliseconds in passes_ms)

    @property
    def reported_ms(self) -> float | None:
        """Milliseconds of a plain pass with all around it; None where they are not to be compared with."""
        last_ms = comparable_ms(self._first_ms, self._pacer.prices.plain_ms)
        return last_ms if 1.0 / MOST_OFF <= self._ratio_to_curve() <= MOST_OFF else None

    @property
    def is_too_high(self) -> bool:
        """Whether passes were so much quicker than the curve says that it was taken on a busy machine."""
        return 0.0 < self._ratio_to_curve() < 1.0 / MOST_OFF

    def _ratio_to_curve(self) -> float:
        """Give a plain pass by the answer's passes, in times of what the curve says; 0 where they say nothing."""
        if not self._implied_ms:
            return 0.0
        return median(self._implied_ms) / self._pacer.curve.cost_ms(1)


def comparable_ms(first_ms: float, last_ms: float) -> float | None:
    """Give what a plain pass cost during an answer, by its cost at the beginning and now; None where they differ much.

    A cost measured at rest says nothing of an answer beside another program, and the passes of that answer correct it
    too slowly: by 2 % each. On two cores that became busy a gain of 1.21 was told as a loss, of 0.94.
    """
    return last_ms if 1.0 / MOST_DRIFT <= last_ms / first_ms <= MOST_DRIFT else None
