"""Times between tokens as counts in logarithmic buckets: counts can be added, and percentiles have a bounded error.

Bucket i counts times above ``GROWTH**(i - 1)`` and up to ``GROWTH**i`` microseconds; bucket 0 counts shorter times. A
percentile is reported as a bucket's middle, so it is off by at most `MAX_BUCKET_ERROR` (DDSketch: Masson et al. 2019,
arXiv 1908.10693).
"""

import math
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

BUCKET_GROWTH = 1.04
MAX_BUCKET_ERROR = math.sqrt(BUCKET_GROWTH) - 1.0  # under 2%, for times of at least a microsecond
LAST_BUCKET = 700  # nine days
_LOG_GROWTH = math.log(BUCKET_GROWTH)


def bucket_of(microseconds: float) -> int:
    if microseconds <= 1.0:
        return 0
    return min(math.ceil(math.log(microseconds) / _LOG_GROWTH), LAST_BUCKET)


def upper_bound_ms(bucket: int) -> float:
    """The longest time in a bucket."""
    return float(BUCKET_GROWTH**bucket) / 1000.0


def percentile_ms(counts: Mapping[int, int], percent: float) -> float | None:
    """Percentile of the counted times, interpolated linearly, to within `MAX_BUCKET_ERROR`; None without counts."""
    buckets = sorted(counts)
    ends = list(accumulate(counts[bucket] for bucket in buckets))
    if not ends or not ends[-1]:
        return None
    index = (ends[-1] - 1) * percent / 100.0
    below = int(index)
    first, second = (
        (float(BUCKET_GROWTH ** (buckets[bisect_right(ends, number)] - 0.5)) / 1000.0)
        for number in (below, min(below + 1, ends[-1] - 1))
    )
    return first + (second - first) * (index - below)


def checked_counts(data: Mapping[str, int] | Mapping[int, int]) -> dict[int, int]:
    """Convert stored counts; raises `ValueError` if a bucket or count is invalid."""
    counts = {int(bucket): int(count) for bucket, count in data.items()}
    if any(not 0 <= bucket <= LAST_BUCKET or count < 0 for bucket, count in counts.items()):
        raise ValueError("no counts of times")
    return counts
