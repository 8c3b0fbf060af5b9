"""When to look for text again while plain passes follow each other. Knows no text and no costs but a look's own.

Where a pass takes a third of a millisecond, looking after every token costs more than text is likely to give back;
where it takes seven, a look is nothing.
"""

from __future__ import annotations

from math import ceil

_SHARE = 0.004  # of the time that passes take may go to looks
_MOST_TOKENS = 32  # between two looks
_RAMP = 4  # a look after so many tokens without text that pays, then after a quarter more, and so on
_CHEAP = 0.05  # of a pass: dearer looks are rare from the first on, where nothing was proposed yet
_FIRST_MS = 0.02
_RATE = 0.1


class Rest:
    """One begins wherever something was proposed, and one before anything was."""

    def __init__(self, *, eager: bool = True) -> None:
        """``eager`` looks often at first though looks are dear: something was just proposed."""
        self._eager = eager
        self._fresh: list[int] = []
        self._num_tokens = 0
        self._every = 1
        self._look_ms = _FIRST_MS

    @property
    def num_waiting(self) -> int:
        """How many tokens came since the last look."""
        return len(self._fresh)

    def is_time(self, token_id: int) -> bool:
        """Take in one token; whether a look is due."""
        self._fresh.append(token_id)
        return len(self._fresh) >= self._every

    def taken(self) -> list[int]:
        """The tokens since the last look."""
        fresh, self._fresh = self._fresh, []
        self._num_tokens += len(fresh)
        return fresh

    def looked(self, milliseconds: float, plain_ms: float) -> None:
        """A look took so long, where a plain pass takes ``plain_ms``."""
        self._look_ms += (min(milliseconds, 4.0 * self._look_ms) - self._look_ms) * _RATE
        affordable = min(ceil(self._look_ms / (_SHARE * plain_ms)), _MOST_TOKENS)
        if self._eager or self._look_ms < _CHEAP * plain_ms:
            affordable = min(affordable, max(1, self._num_tokens // _RAMP))
        self._every = affordable
