"""What passes larger than any that is known are hoped to cost, so that they are tried, and what such tries teach.

A short look at a slow model measures no more than passes of one or two tokens. A line through these says that every
token costs as much as the first, which forbids what would show that it does not: so hope goes up to twice the largest
size that was seen, and is given up for what the tries say. Knows no model and no tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import pow  # noqa: A004  (of floats; the built-in one may give a complex number)

# Kernels work on a few rows at a time: two may cost twice as much as one (llama.cpp with AMX: 1.8 times), and four no
# more than two. So of smaller passes nothing follows, and this one is tried first.
FIRST = 4
_SHARE = 0.25  # of a plain pass, that each token more is hoped to cost: two processors took 0.3, one on a GPU 0.02
_FORBIDDING = 2.0  # times a plain pass, that a token takes beyond: nothing is gained there until more is known
_ENOUGH = 3  # tries of a size until the least of them is what it costs: one may have met another program


@dataclass(slots=True)
class _Tried:
    least_ms: float
    count: int

    def believed_ms(self, hoped_ms: float) -> float:
        """The least that was seen; where that is dearer than hoped, only nearer to it with every try."""
        if self.least_ms <= hoped_ms:
            return self.least_ms
        return hoped_ms * pow(self.least_ms / hoped_ms, min(self.count, _ENOUGH) / _ENOUGH)


def plain_passes(num_tokens: int) -> float:
    """How many plain ones a pass of so few tokens is hoped to cost where nothing else is known."""
    return 1.0 + _SHARE * (num_tokens - 1)


class Untried:
    """The sizes of passes above the largest whose cost is known."""

    def __init__(self) -> None:
        self._tried: dict[int, _Tried] = {}

    def take(self, num_tokens: int, milliseconds: float) -> bool:
        """A pass of this many tokens took so long; whether it was tried often enough to be known."""
        tried = self._tried.setdefault(num_tokens, _Tried(milliseconds, 0))
        tried.least_ms = min(tried.least_ms, milliseconds)
        tried.count += 1
        return tried.count >= _ENOUGH

    def forget(self, last: int) -> None:
        """All up to ``last`` tokens is known."""
        self._tried = {n: tried for n, tried in self._tried.items() if n > last}

    def points_ms(self, known_ms: Mapping[int, float], last: int, end: int) -> dict[int, float]:
        """Milliseconds of some sizes from ``last``, the largest known, to ``end``; between them cost goes straight on.

        ``known_ms`` has the cost of one token and of ``last``.
        """
        plain_ms, top, top_ms = known_ms[1], last, known_ms[last]
        points = {top: top_ms}
        for num_tokens, tried in sorted(self._tried.items()):
            points[num_tokens] = tried.believed_ms(_hoped_ms(plain_ms, top, top_ms, num_tokens))
            top, top_ms = num_tokens, tried.least_ms
        for num_tokens in (_horizon(top), end):
            if top < num_tokens <= end:
                points[num_tokens] = _hoped_ms(plain_ms, top, top_ms, num_tokens)
        return points


def _horizon(top: int) -> int:
    """How far hope goes where passes of up to ``top`` tokens were seen."""
    return max(FIRST, 2 * top if top >= FIRST else 0)


def _hoped_ms(plain_ms: float, top: int, top_ms: float, num_tokens: int) -> float:
    """What ``num_tokens`` are hoped to take where the largest pass that was seen, of ``top``, took so long."""
    near = min(num_tokens, _horizon(top))
    hoped_ms = plain_ms * plain_passes(near)
    if top > 1:
        so_far_ms = top_ms + max(0.0, top_ms - plain_ms) / (top - 1) * (near - top)
        hoped_ms = so_far_ms if top >= FIRST else min(hoped_ms, so_far_ms)
    return hoped_ms + _FORBIDDING * plain_ms * (num_tokens - near)
