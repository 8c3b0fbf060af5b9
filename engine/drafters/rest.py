"""When to look for text again while plain passes follow each other. Knows no text and no costs but a look's own.

Where a pass takes a third of a millisecond, looking after every token costs more than text is likely to give back;
where it takes seven, a look is nothing.
"""

from __future__ import annotations

from math import ceil

_SHARE = 0.004  # of the time that passes take may go to looks
_MOST_TOKENS = 32  # between two looks
_RAMP = 4  # a look after so many tokens without text that pays, then after a quarter more, and so on
_FIRST_MS = 0.02
_RATE = 0.1


class Rest:
    """One begins wherever something was proposed."""

    def __init__(self) -> None:
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
        affordable = ceil(self._look_ms / (_SHARE * plain_ms))
        self._every = min(affordable, _MOST_TOKENS, max(1, self._num_tokens // _RAMP))
