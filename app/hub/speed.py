"""How fast bytes come, over the last few seconds. Knows neither clock nor connection."""

from __future__ import annotations

from collections import deque

WINDOW_S = 8.0
STEP_S = 0.25
MIN_SPAN_S = 0.5


class Speed:
    """Counts pieces as they come; pieces of the same quarter of a second are counted together."""

    def __init__(self) -> None:
        self._steps: deque[tuple[float, int]] = deque()  # when it began, bytes

    def note(self, now_s: float, num_bytes: int) -> None:
        """Count a piece. The first sets the beginning, since its bytes came before; going back counts for nothing."""
        if not self._steps:
            self._steps.append((now_s, 0))
        elif num_bytes > 0:
            begun_s, counted = self._steps[-1]
            if now_s - begun_s < STEP_S:
                self._steps[-1] = (begun_s, counted + num_bytes)
            else:
                self._steps.append((now_s, num_bytes))
        while now_s - self._steps[0][0] > WINDOW_S:
            self._steps.popleft()
            if not self._steps:
                self._steps.append((now_s, 0))

    def bytes_per_s(self, now_s: float) -> float | None:
        """The speed; None where too little was seen."""
        recent = [(begun_s, counted) for begun_s, counted in self._steps if now_s - begun_s <= WINDOW_S]
        if not recent or now_s - recent[0][0] < MIN_SPAN_S:
            return None
        return sum(counted for _, counted in recent) / (now_s - recent[0][0])

    def reset(self) -> None:
        """Forget what was seen."""
        self._steps.clear()
