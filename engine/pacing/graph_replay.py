"""The extra cost of plain passes after a larger pass, on a backend that replays recorded graphs.

ggml's CUDA backend records a graph after two equal passes in a row, and replays it for the next passes; after a pass of
another size it launches each kernel separately again. If kernels are short, launching takes longer than computing: on
an H100 plain passes of a model of 135 million parameters took 1.1 ms in a row, and 2.3 ms right after a larger pass. So
a speculative pass also slows down later passes, which makes plain decoding look slower than it is.
"""

from collections.abc import Sequence
from statistics import median

from engine.pacing.constants import SIZE_WEIGHT, STALL_CLIP

NUM_SLOW_PASSES = 2  # plain passes after a larger pass: the first without a graph, the second records one
NUM_WATCHED_PASSES = NUM_SLOW_PASSES + 3  # includes settled passes, which give the usual time


class GraphReplayCost:
    """Extra milliseconds, from a measurement and from the passes of answers."""

    def __init__(self) -> None:
        self.extra_ms = 0.0  # sum over the unsettled passes of their time beyond a settled pass
        self.is_measured = False
        self._behind_ms: list[float] = []  # the first `NUM_WATCHED_PASSES` plain passes after the last larger pass
        self._is_behind_prompt = True

    @property
    def pending_ms(self) -> float:
        """Extra milliseconds that a larger pass would cause now; 0 right after another larger pass."""
        return self.extra_ms if self._behind_ms else 0.0

    def begin(self) -> None:
        """Begin another answer, whose prefill may still run on the device."""
        self._behind_ms, self._is_behind_prompt = [], True

    def use_measured(self, behind_ms: Sequence[float]) -> None:
        """Set the cost from the milliseconds of `NUM_WATCHED_PASSES` plain passes after a larger one."""
        self.extra_ms, self.is_measured = _extra_ms(behind_ms), True

    def observe(self, num_tokens: int, passes_ms: Sequence[float]) -> Sequence[float]:
        """Record the milliseconds of passes of ``num_tokens`` each; return the settled passes' times."""
        if num_tokens > 1:
            self._behind_ms, self._is_behind_prompt = [], False
            return passes_ms
        num_before = len(self._behind_ms)
        if num_before < NUM_WATCHED_PASSES:
            self._behind_ms += passes_ms[: NUM_WATCHED_PASSES - num_before]
            if len(self._behind_ms) == NUM_WATCHED_PASSES and not self._is_behind_prompt:
                self._learn()
        return passes_ms[max(0, NUM_SLOW_PASSES - num_before) :]

    def _learn(self) -> None:
        """Clip observations, since an error by a stall would only be corrected after the next larger pass."""
        most_ms = STALL_CLIP * max(self.extra_ms, median(self._behind_ms))
        self.extra_ms += (min(_extra_ms(self._behind_ms), most_ms) - self.extra_ms) * SIZE_WEIGHT


def _extra_ms(behind_ms: Sequence[float]) -> float:
    return max(0.0, sum(behind_ms[:NUM_SLOW_PASSES]) - NUM_SLOW_PASSES * median(behind_ms[NUM_SLOW_PASSES:]))
