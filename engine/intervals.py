"""Times between tokens as counts in logarithmic buckets: they add up over answers, percentiles keep a bounded error.

Bucket i counts the times above ``GROWTH**(i - 1)`` and up to ``GROWTH**i`` microseconds; bucket 0 what is shorter. A
percentile is reported as a bucket's middle, so it is off by at most `ERROR` (DDSketch: Masson et al. 2019, arXiv
1908.10693).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

GROWTH = 1.04
ERROR = math.sqrt(GROWTH) - 1.0  # under 2%, of times from a microsecond on
LAST_BUCKET = 700  # nine days
_LOG_GROWTH = math.log(GROWTH)


def bucket_of(microseconds: float) -> int:
    """The bucket that counts a time."""
    if microseconds <= 1.0:
        return 0
    return min(math.ceil(math.log(microseconds) / _LOG_GROWTH), LAST_BUCKET)


def upper_ms(bucket: int) -> float:
    """The longest time that a bucket counts."""
    return float(GROWTH**bucket) / 1000.0


def percentile_ms(counts: Mapping[int, int], percent: float) -> float | None:
    """A percentile of the counted times with linear interpolation, to within `ERROR`; None where nothing is counted."""
    buckets = sorted(counts)
    ends = list(accumulate(counts[bucket] for bucket in buckets))
    if not ends or not ends[-1]:
        return None
    place = (ends[-1] - 1) * percent / 100.0
    below = int(place)
    first, second = (
        _middle_ms(buckets[bisect_right(ends, number)]) for number in (below, min(below + 1, ends[-1] - 1))
    )
    return first + (second - first) * (place - below)


def _middle_ms(bucket: int) -> float:
    return float(GROWTH ** (bucket - 0.5)) / 1000.0


def checked_counts(data: Mapping[str, int] | Mapping[int, int]) -> dict[int, int]:
    """Counts as they were stored.

    Raises:
        ValueError: these are no counts of such buckets.
    """
    counts = {int(bucket): int(count) for bucket, count in data.items()}
    if any(not 0 <= bucket <= LAST_BUCKET or count < 0 for bucket, count in counts.items()):
        raise ValueError("no counts of times")
    return counts
