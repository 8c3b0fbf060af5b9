"""What answers of each kind taught, kept apart: one that is new begins with what another has. Knows no tokens."""

from __future__ import annotations

from collections.abc import Mapping

from engine.experience import Experience, Numbers

_FIRST_INDEX_MS = 0.0055  # a guess, for the first text only
_TELLING = 32  # fewer tokens say little about what one of many takes
_INDEX_RATE, _MOST_INDEX = 0.25, 4.0  # weight of a text in what indexing takes; times the usual, more is a disturbance


class Lessons:
    """Experience by kind of answer; `current` is that of the answer in the making.

    Of all kinds together: ``index_ms``, about what it takes to index a token of the prompt.
    """

    def __init__(self, plain_ms: float, num_depths: int) -> None:
        self._num_depths = num_depths
        self.index_ms = _FIRST_INDEX_MS
        self.current = Experience(plain_ms, num_depths)
        self._by_kind: dict[str, Experience] = {}
        self._begun: set[str] = set()  # here: of others nothing was learnt

    def begin(self, kind: str) -> Experience:
        """An answer of this kind begins."""
        self._begun.add(kind)
        if kind not in self._by_kind:
            self._by_kind[kind] = self.current.copy() if self._by_kind else self.current
        self.current = self._by_kind[kind]
        self.current.begin()
        return self.current

    def observe_indexing(self, num_tokens: int, milliseconds: float) -> None:
        """So many tokens of a prompt were indexed in so long."""
        if num_tokens >= _TELLING:
            each_ms = min(milliseconds / num_tokens, _MOST_INDEX * self.index_ms)
            self.index_ms += (each_ms - self.index_ms) * _INDEX_RATE

    def scale(self, factor: float) -> None:
        """Everything costs so much more now."""
        for learnt in {id(one): one for one in (self.current, *self._by_kind.values())}.values():
            learnt.scale(factor)

    def numbers(self, plain_ms: float) -> dict[str, Numbers]:
        """What was learnt here, by kind, for keeping it; a plain pass takes ``plain_ms``."""
        return {kind: self._by_kind[kind].numbers(plain_ms) for kind in self._by_kind if kind in self._begun}

    def restore(self, kept: Mapping[str, Numbers], plain_ms: float) -> None:
        """Begin with what `numbers` gave at an earlier start.

        Raises:
            ValueError, LookupError, TypeError: these cannot be such numbers.
        """
        for kind, numbers in kept.items():
            learnt = Experience(plain_ms, self._num_depths)
            learnt.restore(numbers, plain_ms)
            self.current = self._by_kind[kind] = learnt
