"""What a larger pass costs the plain passes behind it, where a backend replays recorded graphs.

ggml's CUDA backend records what a pass launches once two in a row were alike, and replays that for those after them;
behind a pass of another number of tokens it launches each kernel by itself again. Where kernels are short, launching
takes longer than they do: on an H100 plain passes of a model of 135 million parameters took 1.1 ms in a row, and 2.3 ms
right behind a larger one. So whoever speculates once pays for it twice, and plain decoding looks slower than it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from engine.pacing.constants import SIZE_RATE, SLOW

UNSETTLED = 2  # plain passes behind a larger one: launched one by one, then recorded
WATCHED = UNSETTLED + 3  # with settled ones, which say what plain passes take


class GraphReplayCost:
    """Milliseconds of it, learnt from a measurement and from the passes of answers."""

    def __init__(self) -> None:
        self.extra_ms = 0.0  # of the unsettled passes together, over as many settled ones
        self.is_measured = False
        self._behind_ms: list[float] = []  # plain passes since the last larger one, the first `WATCHED` of them
        self._is_behind_prompt = True

    @property
    def start_ms(self) -> float:
        """Milliseconds that the next pass costs beside itself if it is larger: none behind another, which owes them."""
        return self.extra_ms if self._behind_ms else 0.0

    def begin(self) -> None:
        """Begin another answer: what came last was a prompt, the end of which a device may still be computing."""
        self._behind_ms, self._is_behind_prompt = [], True

    def use_measured(self, behind_ms: Sequence[float]) -> None:
        """Use what `WATCHED` plain passes behind a larger one took, in milliseconds."""
        self.extra_ms, self.is_measured = _extra_ms(behind_ms), True

    def observe(self, num_tokens: int, passes_ms: Sequence[float]) -> Sequence[float]:
        """Record the milliseconds of passes of so many tokens each; give those that say what such a pass takes."""
        if num_tokens > 1:
            self._behind_ms, self._is_behind_prompt = [], False
            return passes_ms
        num_before = len(self._behind_ms)
        if num_before < WATCHED:
            self._behind_ms += passes_ms[: WATCHED - num_before]
            if len(self._behind_ms) == WATCHED and not self._is_behind_prompt:
                self._learn()
        return passes_ms[max(0, UNSETTLED - num_before) :]

    def _learn(self) -> None:
        """One stall must not seem to be what it costs: while nothing larger is run, nothing corrects that."""
        most_ms = SLOW * max(self.extra_ms, median(self._behind_ms))
        self.extra_ms += (min(_extra_ms(self._behind_ms), most_ms) - self.extra_ms) * SIZE_RATE


def _extra_ms(behind_ms: Sequence[float]) -> float:
    return max(0.0, sum(behind_ms[:UNSETTLED]) - UNSETTLED * median(behind_ms[UNSETTLED:]))
