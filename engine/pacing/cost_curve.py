"""The cost of a pass of n tokens on this machine, measured and updated.

On CPUs the curve is a staircase (repacked kernels compute four rows at once, AMX 16 and 32), on GPUs it is nearly flat
at first, so no constant draft length suits both.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import pow  # noqa: A004  (of floats; the built-in one may give a complex number)

from engine.pacing.constants import (
    CHEAP_PASS_SIZES,
    DEFAULT_COST_CURVE,
    GUESS_CLIP,
    LEVEL_WEIGHT,
    MAX_PASS,
    MIN_GUESSED_PASSES,
    MIN_TRIES,
    OBSERVATION_CLIP,
    REFRESH_EVERY,
    SIZE_WEIGHT,
    SMALLER_PASS_TOLERANCE,
)

_MIN_INFORMATIVE = 4  # a measurement without a pass of at least this number of tokens was hurried
_PLAIN_TRIES = 2
_LEAST = 0.5  # an interpolated cost is at least this share of the straight line between its neighbours


@dataclass(slots=True)
class _ObservedPasses:
    """Observed passes of an unmeasured size."""

    least_ms: float
    count: int = 0


class CostCurve:
    """Milliseconds of a pass by its number of tokens, 1 to `MAX_PASS`.

    Unmeasured sizes are interpolated with the shape of another curve, until a few passes correct them.
    """

    def __init__(
        self, measured_ms: Mapping[int, float], shape: Mapping[int, float] | None = None, *, guessed: bool = False
    ) -> None:
        """``measured_ms`` must have the pass of one token.

        Args:
            measured_ms: milliseconds by tokens of a pass.
            shape: relative costs of another model on this machine, by tokens; default `DEFAULT_COST_CURVE`.
            guessed: only the shape may be right; the first observed passes set the level.

        Raises:
            ValueError: the cost of one token is missing or not positive.
        """
        # Interpolate linearly at 0 to `MAX_PASS`; constant before the first and after the last point.
        points = shape or DEFAULT_COST_CURVE
        ordered = sorted((n, value) for n, value in points.items() if 1 <= n <= MAX_PASS)
        values = [ordered[0][1]] * (MAX_PASS + 1)
        for (left, left_value), (right, right_value) in pairwise([*ordered, (MAX_PASS + 1, ordered[-1][1])]):
            for n in range(left, min(right, MAX_PASS) + 1):
                values[n] = left_value + (right_value - left_value) * (n - left) / (right - left)
        self._shape = values
        self._num_seen = 0 if guessed else MIN_GUESSED_PASSES
        self._num_plain = self._since_refresh = 0
        self._known: dict[int, float] = {}
        self.costs_ms: list[float] = []  # `cost_ms` of 1 to `MAX_PASS` tokens
        # The size with the lowest cost per token. More tokens should wait for the next pass, when the acceptance of
        # earlier tokens is known.
        self.largest = MAX_PASS
        self._learnt: set[int] = set()  # sizes known only from answers
        self.replace(measured_ms)

    def replace(self, measured_ms: Mapping[int, float], *, doubted: bool = False) -> None:
        """Use a newer measurement; sizes known only from answers are scaled to it.

        ``doubted``: another program ran during the measurement. Then the shape limits the costs of larger passes until
        answers have tried them, since a size that seems expensive would never be tried.

        Raises:
            ValueError: the cost of one token is missing or not positive.
        """
        if measured_ms.get(1, 0.0) <= 0.0:
            raise ValueError("a cost curve needs the cost of one token")
        measured = {n: ms for n, ms in measured_ms.items() if 1 <= n <= MAX_PASS and ms > 0.0}
        doubtful = {n: _ObservedPasses(ms) for n, ms in measured.items() if n > 1} if doubted else {}
        measured = {n: ms for n, ms in measured.items() if n not in doubtful}
        learnt = {n: self._known[n] * measured[1] / self._known[1] for n in self._learnt - measured.keys()}
        self._known, self._learnt = measured | learnt, set(learnt)
        self._measured = dict(measured)
        self._observed_passes = {n: tried for n, tried in doubtful.items() if n not in learnt}
        self._num_plain = 0
        self._refresh()

    @property
    def is_plain_uncertain(self) -> bool:
        """Whether a few plain passes should be observed before drafting.

        A measurement without time for larger passes may have been disturbed, and then any draft would seem to pay off.
        """
        return max(self._measured) < _MIN_INFORMATIVE and self._num_plain < _PLAIN_TRIES

    @property
    def points_ms(self) -> dict[int, float]:
        return dict(enumerate(self.costs_ms, 1))

    @property
    def known_ms(self) -> dict[int, float]:
        return dict(sorted(self._known.items()))

    def cost_ms(self, num_tokens: int) -> float:
        """The cost of a pass of ``num_tokens``."""
        return self.costs_ms[min(num_tokens, MAX_PASS) - 1]

    def plain_share(self, num_tokens: int) -> float | None:
        """Measured cost of a plain pass divided by that of ``num_tokens``; None for an unmeasured size."""
        measured_ms = self._measured.get(num_tokens)
        return self._measured[1] / measured_ms if measured_ms else None

    def observe(self, num_tokens: int, milliseconds: float) -> None:
        """Record a pass: correct the cost of its size, and slightly the level of all sizes."""
        if num_tokens > MAX_PASS or milliseconds <= 0.0:
            return
        self._since_refresh += 1
        if num_tokens not in self._known:
            self._try(num_tokens, milliseconds)
        elif num_tokens == 1 and self.is_plain_uncertain:
            self._num_plain += 1
            self._lower_measured(milliseconds)
            self._refresh()
        else:
            self._correct(num_tokens, milliseconds)

    def _correct(self, num_tokens: int, milliseconds: float) -> None:
        is_trusted = self._num_seen >= MIN_GUESSED_PASSES
        clip = OBSERVATION_CLIP if is_trusted else GUESS_CLIP
        ratio = min(max(milliseconds / self._known[num_tokens], 1.0 / clip), clip)
        self._num_seen += 1
        # The level of a guessed curve is the mean of the observations.
        level = ratio ** (LEVEL_WEIGHT if is_trusted else 1.0 / self._num_seen)
        self._known[num_tokens] *= (ratio / level) ** SIZE_WEIGHT
        self._scale(level)
        if self._since_refresh >= REFRESH_EVERY:
            self._refresh()
        else:
            self.costs_ms = [ms * level for ms in self.costs_ms]
            self.costs_ms[num_tokens - 1] = self._known[num_tokens]

    def _scale(self, factor: float) -> None:
        if factor != 1.0:
            self._known = {n: ms * factor for n, ms in self._known.items()}

    def _lower_measured(self, most_ms: float) -> None:
        """If the measured plain pass exceeds ``most_ms``, the whole measurement was disturbed: scale all sizes."""
        factor = most_ms / self._known[1]
        if factor < 1.0:
            self._known.update({n: self._known[n] * factor for n in self._measured})

    def _try(self, num_tokens: int, milliseconds: float) -> None:
        """Record a pass of an unmeasured size, which cannot be faster than a plain pass."""
        tried = self._observed_passes.setdefault(num_tokens, _ObservedPasses(milliseconds))
        tried.least_ms = min(tried.least_ms, milliseconds)
        tried.count += 1
        self._lower_measured(tried.least_ms)
        if tried.count >= MIN_TRIES:
            self._known[num_tokens] = tried.least_ms
            self._learnt.add(num_tokens)
            del self._observed_passes[num_tokens]
        self._refresh()

    def _estimated(self) -> dict[int, float]:
        """Milliseconds of known and tried sizes; the weight of costs above the shape grows with each try.

        A try below the shape counts fully at once; the shape starts from the next smaller known or tried size.
        """
        believed, plain_ms = dict(self._known), self._known[1]
        known, left = sorted(self._known.items()), 1
        for n, tried in sorted(self._observed_passes.items()):
            index = bisect_left(known, (n, 0.0))
            left = max(left, known[index - 1][0])
            right = known[index] if index < len(known) else None
            hoped_ms = _shaped_ms(n, (left, believed[left]), right, plain_ms, self._shape)
            share = tried.count / MIN_TRIES if tried.least_ms > hoped_ms else 1.0
            believed[n] = hoped_ms * pow(tried.least_ms / hoped_ms, share)
            left = n
        return believed

    def _refresh(self) -> None:
        """Compute the cost of each size, and the largest useful size."""
        self._since_refresh = 0
        # Milliseconds of sizes 1 to `MAX_PASS`, from known sizes (including 1) and a shape.
        known_ms = self._estimated()
        plain_ms, points, costs = known_ms[1], sorted(known_ms.items()), list[float]()
        for left, right in pairwise([*points, None]):
            assert left is not None  # noqa: S101  (only the last element is None)
            costs.append(left[1])
            end = MAX_PASS + 1 if right is None else right[0]
            costs += [_shaped_ms(n, left, right, plain_ms, self._shape) for n in range(left[0] + 1, end)]
        self.costs_ms = costs
        shares = [(self.cost_ms(n) / n, n) for n in CHEAP_PASS_SIZES]
        most = SMALLER_PASS_TOLERANCE * min(shares)[0]
        self.largest = min(n for share, n in shares if share <= most)


def tokens_within(costs_ms: Sequence[float], num_tokens: int, most_ms: float) -> int:
    """How many tokens, up to 512, a pass of ``num_tokens`` can add within ``most_ms``.

    ``costs_ms`` are the costs of passes of 1, 2, ... tokens, extrapolated beyond the last.
    """
    last = len(costs_ms)
    n = next((n for n in range(num_tokens, last) if costs_ms[n] > most_ms), last)
    if n < last or last < 2:
        return n - num_tokens
    half = last // 2
    slope_ms = max((costs_ms[-1] - costs_ms[half - 1]) / (last - half), 1e-6)
    return min(last - num_tokens + int((most_ms - costs_ms[-1]) / slope_ms), 512)


def _shaped_ms(
    n: int, left: tuple[int, float], right: tuple[int, float] | None, plain_ms: float, shape: list[float]
) -> float:
    """Interpolate the milliseconds of a size between two points (tokens, ms), or extrapolate, by a relative shape.

    Between points: a straight line with the steps of the shape. After the last point: the slope of the shape from that
    point or from a plain pass, whichever is cheaper. (Two tokens may cost twice as much as one, and four no more than
    two, so a point of few tokens does not extrapolate.)
    """
    (last, last_ms) = left
    if right is not None:
        line_ms = last_ms + (right[1] - last_ms) * (n - last) / (right[0] - last)
        step = shape[n] - (shape[last] + (shape[right[0]] - shape[last]) * (n - last) / (right[0] - last))
        return max(line_ms + plain_ms * step, _LEAST * line_ms)
    grown, more = max(shape[last] - 1.0, 0.0), max(shape[n] - shape[last], 0.0)
    slope_ms = max(last_ms - plain_ms, 0.0) / grown if grown else plain_ms
    cost_ms = min(last_ms + more * slope_ms, last_ms + more * last_ms / shape[last])
    if last < _MIN_INFORMATIVE <= n:
        cost_ms = min(cost_ms, max(last_ms, plain_ms * shape[n]))
    return cost_ms
