"""Whether cores that another program took are free again, by the idle time that the system counts."""

from __future__ import annotations

import time
from collections.abc import Callable

_LOOK_S = 0.25  # between two looks
_NOISE = 0.3  # cores that may be in use: something always runs
_FIRST_S, _LAST_S = 0.25, 16.0  # so long free before it is believed; doubling where that was in vain


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
        self._wanted_s = _FIRST_S
        self.begin(taken=False)

    def begin(self, *, taken: bool) -> None:
        """Look from now on; ``taken`` where it is known that another program has them."""
        self._before = (self._clock(), self._idle_s(), self._own_s())  # at the last look
        self._free_s, self._taken = 0.0, taken

    def are_back(self, wanted: int, threads: int) -> bool:
        """Whether ``wanted`` cores can be had for long enough after they were taken, where ``threads`` are in use.

        Cheap to ask: the system is asked a few times a second.
        """
        now, (before, idle_s, own_s) = self._clock(), self._before
        elapsed_s = now - before
        if elapsed_s < _LOOK_S:
            return False
        self._before = (now, self._idle_s(), self._own_s())
        ours_s = threads * min(max(self._before[2] - own_s, 0.0), elapsed_s)
        if self._before[1] - idle_s + ours_s < (wanted - _NOISE) * elapsed_s:
            self._free_s, self._taken = 0.0, True
            return False
        self._free_s += elapsed_s
        return self._taken and self._free_s >= self._wanted_s

    def learn(self, *, were_back: bool) -> None:
        """What came of believing it."""
        self._wanted_s = _FIRST_S if were_back else min(2.0 * self._wanted_s, _LAST_S)
        self._free_s, self._taken = 0.0, False
