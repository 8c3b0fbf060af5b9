"""Whether cores that another program took are free again, by the idle time that the system counts. Knows no passes."""

from __future__ import annotations

import time
from collections.abc import Callable

_LOOK_S = 0.25  # between two looks
_NOISE = 0.3  # cores that may be in use: something always runs
_FIRST_S, _LAST_S = (
    0.25,
    16.0,
)  # that they must have been free before they are believed to be; doubling where it is not true


class FreeCores:
    """What the system leaves idle and this thread uses is what could be had."""

    def __init__(
        self,
        idle_s: Callable[[], float],
        own_s: Callable[[], float] = time.thread_time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``idle_s``: seconds that all cores together have idled; ``own_s``: that one of our threads has computed."""
        self._idle_s, self._own_s, self._clock = idle_s, own_s, clock
        self._before = (0.0, 0.0, 0.0)  # when, idle and own at the last look
        self._free_s, self._wanted_s = 0.0, _FIRST_S

    def begin(self) -> None:
        """From now on it is of interest."""
        self._before, self._free_s = (self._clock(), self._idle_s(), self._own_s()), 0.0

    def are_there(self, wanted: int, threads: int) -> bool:
        """Whether ``wanted`` cores could be had for long enough, where ``threads`` of them are in use. Cheap to ask."""
        now, (before, idle_s, own_s) = self._clock(), self._before
        elapsed_s = now - before
        if elapsed_s < _LOOK_S:
            return False
        self._before = (now, self._idle_s(), self._own_s())
        ours_s = threads * min(max(self._before[2] - own_s, 0.0), elapsed_s)
        could_have_s = self._before[1] - idle_s + ours_s
        self._free_s = self._free_s + elapsed_s if could_have_s >= (wanted - _NOISE) * elapsed_s else 0.0
        return self._free_s >= self._wanted_s

    def learn(self, *, were_free: bool) -> None:
        """What came of believing it."""
        self._wanted_s = _FIRST_S if were_free else min(2.0 * self._wanted_s, _LAST_S)
        self._free_s = 0.0
