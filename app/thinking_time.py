"""How long an answer reasoned before its words: measured from the first character of the reasoning to its end."""

from __future__ import annotations

import time
from collections.abc import Callable

from ui.thinking import split_thinking


class ThinkingTime:
    """Fed with the text of one answer as it comes. ``begun`` and ``before_ms``: of an answer that goes on."""

    def __init__(
        self, begun: str = "", before_ms: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._text = begun
        self._ms = before_ms
        self._ended = split_thinking(begun).opened and split_thinking(begun).closed
        self._since_s: float | None = None

    def feed(self, text: str) -> bool:
        """Take the next piece; True where the reasoning ended with it."""
        if self._ended:
            return False
        if self._since_s is None:
            self._since_s = self._clock() - (self._ms or 0) / 1000
        self._text += text
        split = split_thinking(self._text, final=False)
        if not split.opened:
            return False
        self._ms = round((self._clock() - self._since_s) * 1000)
        self._ended = split.closed
        return self._ended

    @property
    def thinking_ms(self) -> int | None:
        """Milliseconds so far, None where there is no reasoning."""
        return self._ms
