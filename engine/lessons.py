"""What answers of each kind taught, kept apart: one that is new begins with what another has. Knows no tokens."""

from __future__ import annotations

from collections.abc import Mapping

from engine.experience import Experience, Numbers


class Lessons:
    """Experience by kind of answer; `current` is that of the answer in the making."""

    def __init__(self, plain_ms: float, num_depths: int) -> None:
        self._num_depths = num_depths
        self.current = Experience(plain_ms, num_depths)
        self._by_kind: dict[str, Experience] = {}

    def begin(self, kind: str) -> Experience:
        """An answer of this kind begins."""
        if kind not in self._by_kind:
            self._by_kind[kind] = self.current.copy() if self._by_kind else self.current
        self.current = self._by_kind[kind]
        self.current.begin()
        return self.current

    def scale(self, factor: float) -> None:
        """Everything costs so much more now."""
        for learnt in {id(one): one for one in (self.current, *self._by_kind.values())}.values():
            learnt.scale(factor)

    def numbers(self, plain_ms: float) -> dict[str, Numbers]:
        """What was learnt, by kind, for keeping it; a plain pass takes ``plain_ms``."""
        return {kind: learnt.numbers(plain_ms) for kind, learnt in self._by_kind.items()}

    def restore(self, kept: Mapping[str, Numbers], plain_ms: float) -> None:
        """Begin with what `numbers` gave at an earlier start.

        Raises:
            ValueError, LookupError, TypeError: these cannot be such numbers.
        """
        for kind, numbers in kept.items():
            learnt = Experience(plain_ms, self._num_depths)
            learnt.restore(numbers, plain_ms)
            self.current = self._by_kind[kind] = learnt
