"""Limits how often events are delivered, since showing them takes CPU time from the model.

If the model's threads use all cores, each millisecond of the window delays a pass. So the window gets a share of the
cores, and deliveries are as frequent as fits into it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

SHORTEST_MS, LONGEST_MS = 25.0, 50.0
LONGEST_UNREAD_MS = 150.0  # where more than so many tokens come a second: several lines, which nobody reads along
READ_TOKENS_S = 60.0
LONGEST_RUSH_MS = 250.0  # where it is so many: a page in a few seconds, which should not be held up by showing it
RUSH_TOKENS_S = 300.0
CORE_SHARE = 0.0125  # of each core may be the window's
_WEIGHT = 0.2  # of the newest delivery in the averages
_MOST_MS = 15.0  # that one delivery counts: a dialog that opens says nothing of text


class EventThrottle:
    """Measures the CPU time of its thread between deliveries."""

    def __init__(self, num_cores: int | None = None, own_s: Callable[[], float] = time.thread_time) -> None:
        """``own_s``: CPU seconds of this thread so far."""
        self._share = CORE_SHARE * (num_cores or os.cpu_count() or 2)
        self._own_s = own_s
        self._before_s = own_s()
        self._cost_ms = 0.0
        self._tokens_s = 0.0

    @property
    def interval_ms(self) -> float:
        """The least time between two deliveries."""
        longest_ms = LONGEST_MS
        if self._tokens_s > READ_TOKENS_S:
            rush_ms = LONGEST_RUSH_MS * min(1.0, self._tokens_s / RUSH_TOKENS_S)
            longest_ms = max(LONGEST_UNREAD_MS, rush_ms)
        return min(longest_ms, max(SHORTEST_MS, self._cost_ms / self._share))

    def delivered(self, elapsed_ms: float, num_tokens: int) -> None:
        """Record a delivery: the time since the previous one, and its tokens."""
        now_s = self._own_s()
        cost_ms, self._before_s = 1000.0 * (now_s - self._before_s), now_s
        if 0.0 < elapsed_ms <= 2.0 * LONGEST_RUSH_MS:  # else the engine was quiet: this was spent on something else
            self._cost_ms += (min(cost_ms, _MOST_MS) - self._cost_ms) * _WEIGHT
            self._tokens_s += (1000.0 * num_tokens / elapsed_ms - self._tokens_s) * _WEIGHT
