"""Detects whether cores that another program took are free again, by the system's idle time."""

import time
from collections.abc import Callable

_SAMPLE_INTERVAL_S = 0.25  # seconds between two samples
_BACKGROUND_CORES = 0.3  # cores that may be in use, since some programs always run
_MIN_FREE_S, _MAX_FREE_S = 0.25, 16.0  # seconds that cores must be free; doubled after each false detection


class FreeCores:
    """Measures available cores: the idle cores and the cores that this thread uses."""

    def __init__(
        self,
        idle_s: Callable[[], float],
        own_s: Callable[[], float] = time.thread_time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``idle_s``: total idle seconds of all cores; ``own_s``: CPU seconds of one of our threads."""
        self._idle_s, self._own_s, self._clock = idle_s, own_s, clock
        self._wanted_s = _MIN_FREE_S
        self.begin(taken=False)

    def begin(self, *, taken: bool) -> None:
        """Start over; ``taken``: another program is known to use the cores."""
        self._before = (self._clock(), self._idle_s(), self._own_s())  # values of the last sample
        self._free_s, self._taken = 0.0, taken

    def are_free(self, wanted: int, threads: int) -> bool:
        """Whether ``wanted`` cores have been free for long enough, while ``threads`` are in use.

        Cheap, since it samples the system only a few times a second.
        """
        now, (before, idle_s, own_s) = self._clock(), self._before
        elapsed_s = now - before
        if elapsed_s < _SAMPLE_INTERVAL_S:
            return False
        self._before = (now, self._idle_s(), self._own_s())
        ours_s = threads * min(max(self._before[2] - own_s, 0.0), elapsed_s)
        if self._before[1] - idle_s + ours_s < (wanted - _BACKGROUND_CORES) * elapsed_s:
            self._free_s, self._taken = 0.0, True
            return False
        self._free_s += elapsed_s
        return self._taken and self._free_s >= self._wanted_s

    def adjust_interval(self, *, were_back: bool) -> None:
        self._wanted_s = _MIN_FREE_S if were_back else min(2.0 * self._wanted_s, _MAX_FREE_S)
        self._free_s, self._taken = 0.0, False
