"""Which size of passes to try again that was measured to be a little dearer than the best. Knows no costs.

The difference of two measurements may be the machine's mood on that day, and a size that seems a little dearer would
never be seen again. A try is believed at once, as few passes should go into it, and the next one waits twice as long.
"""

from __future__ import annotations

from collections.abc import Sequence

TRIES = 4  # passes of the size that is tried, until others are chosen again
_LONGEST_PAUSE = 64  # times `next_of` is asked
_PATIENCE = 8  # the same: a size that was not chosen by then, as text is too short for it, holds up no other


class SecondLooks:
    """One size at a time."""

    def __init__(self) -> None:
        self._size, self._num_seen, self._num_asked = 0, 0, 0
        self.given_up = 0  # the size that was never chosen while it was tried, where the last call ended that
        self._pauses: dict[int, int] = {}
        self._waits: dict[int, int] = {}

    def next_of(self, sizes: Sequence[int]) -> int:
        """The first of these that is to be tried now; 0: none, or the last one was not seen yet."""
        self.given_up = 0
        if self._size:
            self._num_asked += 1
            if self._num_asked < _PATIENCE:
                return 0
            self.given_up = 0 if self._num_seen else self._size
        for size in sizes:
            if self._waits.get(size, 0) > 0:
                self._waits[size] -= 1
                continue
            pause = self._pauses.get(size, 1)
            self._waits[size], self._pauses[size] = pause, min(2 * pause, _LONGEST_PAUSE)
            self._size, self._num_seen, self._num_asked = size, 0, 0
            return size
        self._size = 0
        return 0

    def weight(self, size: int, usual: float) -> float:
        """How far a pass of this size that was just seen is believed: of the one that is tried, their mean is."""
        if size != self._size:
            return usual
        self._num_seen += 1
        return max(usual, 1.0 / self._num_seen)

    def ended(self, size: int) -> bool:
        """Whether that was the last pass of the try."""
        if size != self._size or self._num_seen < TRIES:
            return False
        self._size = 0
        return True
