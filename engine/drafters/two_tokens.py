"""Whether a draft model had better read two tokens in one pass or one after the other. Knows no model and no tokens.

After a pass of which all was kept, the last drafted token and the target's own are new to the draft. One pass over both
is the obvious way, and right wherever reading the weights takes the time. But llama.cpp keeps the plan of its last pass
for another one of the same shape only: a pass of two tokens among those of one has two plans made, which takes a draft
of a million parameters longer than a pass (on two cores of Zen 5, right after a pass of the target, two tokens and the
next one take 0.54 ms in a pass of two and one more, 0.41 ms in three). So both ways are tried.
"""

from __future__ import annotations

from statistics import median

_TRIES = 6  # of each way, in turn
_MOST_S = 0.002  # what takes longer is not tried: a pass more could not be made up for by two plans
_BETTER = 0.95  # times what one pass takes


class TwoTokens:
    """One for a loaded draft model."""

    def __init__(self) -> None:
        self._seconds: dict[bool, list[float]] = {False: [], True: []}
        self._is_settled = False
        self.apart = False  # the way to read them the next time

    def took(self, seconds: float) -> None:
        """Reading them this way and then one more, in a pass of its own, took so long."""
        if self._is_settled:
            return
        self._seconds[self.apart].append(seconds)
        together, apart = self._seconds[False], self._seconds[True]
        is_slow = min(together, default=0.0) > _MOST_S  # one that met another program says nothing
        if min(len(together), len(apart)) >= _TRIES:
            self.apart, self._is_settled = median(apart) < _BETTER * median(together), True
        elif is_slow and len(together) >= _TRIES:
            self._is_settled = True
        else:
            self.apart = not (self.apart or is_slow)
