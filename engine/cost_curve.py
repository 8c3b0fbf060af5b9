"""What a pass of n tokens costs on this machine, measured and kept up to date. Knows no tokens and no drafts.

On CPUs the curve is a staircase (repacked kernels work on four rows at a time, AMX on 16 and 32), on GPUs nearly flat
at first; a constant draft length is wrong on one or the other. Minima of a few tries, not means: a curve that was taken
while the machine was busy would be believed for a whole session.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import pairwise

from engine.second_looks import SecondLooks
from engine.untried import FIRST, Untried, plain_passes

MAX_PASS = 33  # tokens of the largest pass that is paced: 32 proposed and the last one
# In the order of their worth, so that a short budget still gives the shape. Kernels that work on tiles of 16 or 32 rows
# (AMX) jump behind them: a line from 16 to 24 would cut the step off, and one that goes on from 32 would miss it.
POINTS = (1, 4, 8, 2, 3, 16, 5, 6, 7, 12, 9, 10, 11, 13, 14, 15, 17, 24, 32, 33)
BUDGET_S = 2.0
_ROUNDS = 3
_PAD_GAIN = (
    0.97  # a larger pass must be this much cheaper before it is used: the difference is measured, so it has noise
)
_LARGEST_PAD = 3
_CLIP = 1.5  # one pass says at most so much against the curve: the machine was busy, or a page was missing
_GUESS_CLIP = 6.0  # the same while the curve is only guessed
_OWN_RATE, _LEVEL_RATE = 0.1, 0.02
_TRUSTED = 50  # passes seen until a guessed curve is as good as a measured one
_REFRESH_EVERY = 32
_FAR = 1.5  # times its measured share of the others' costs that a pass which nobody sees may be believed to take
_TELLING = 4  # passes of a size, of the last `_REFRESH_EVERY`, that say what it costs now
_TOO_GOOD = 0.8  # of what is hoped of a larger pass: if it takes less, the plain one is rather thought to take less
_ENOUGH_SIZES = 2  # of one alone the measurement may have been wrong
# Kernels work on so many rows at a time: the largest pass has one of these sizes, the first anyway. What another size
# seems to save is the luck of a measurement, or lies on a line between two of them.
_FULL_SIZES = (8, 12, 16, 24, 32, MAX_PASS)
_AS_CHEAP = 1.02  # times the least cost a token: larger passes are still as good
_NEARLY = 1.08  # the same, by what was measured once: it may be as good
_PLAIN_TRIES = 2  # runs of plain passes until a hurried look at them is believed


class CostCurve:
    """Milliseconds of a pass by its number of tokens, 1 to `MAX_PASS`."""

    def __init__(self, measured_ms: Mapping[int, float], *, guessed: bool = False) -> None:
        """``measured_ms`` holds at least the pass of one token; what lies between is interpolated.

        What is larger is hoped to be cheap, within reason, until passes of that size were observed.

        A ``guessed`` curve has the right shape at best: the first passes that are observed set its level.

        Raises:
            ValueError: there is no positive cost of one token.
        """
        self._num_seen = 0 if guessed else _TRUSTED
        self._cheapest = list(range(MAX_PASS + 1))
        self._largest = MAX_PASS
        self._since_refresh = self._last_measured = self._last_known = 0
        self._ms: list[float] = []
        self.replace(measured_ms)

    def replace(self, measured_ms: Mapping[int, float]) -> None:
        """Take a newer measurement; what was only learnt from larger passes is scaled to it.

        Raises:
            ValueError: there is no positive cost of one token.
        """
        if measured_ms.get(1, 0.0) <= 0.0:
            raise ValueError("a cost curve needs the cost of one token")
        measured = {n: ms for n, ms in measured_ms.items() if 1 <= n <= MAX_PASS and ms > 0.0}
        last = max(measured)
        learnt = range(max(last, self._last_measured) + 1, self._last_known + 1)
        known = measured | {n: self._ms[n] / self._ms[1] * measured[1] for n in learnt}
        self._last_measured, self._last_known = last, max(known)
        self._ms, self._untried = _interpolate(known), Untried()
        self._hope()
        self._measured = tuple(self._ms)
        self._seen = [0] * (MAX_PASS + 1)
        self._num_plain = 0
        self._second_looks = SecondLooks()
        self._try_share = 1.0  # what is believed of the size that is tried, over what was known
        self._refresh()

    @property
    def doubts_plain(self) -> bool:
        """Whether a few plain passes should say what one takes, before anything else is tried.

        A look that had no time for larger ones may have met another program: whatever is kept would seem to pay.
        """
        return self._last_measured < FIRST and self._num_plain < _PLAIN_TRIES

    @property
    def largest(self) -> int:
        """The largest pass that costs as little a token as any: what goes beyond it had better wait for the next pass.

        A stretch of sure tokens is seen only as far as one pass may pay; taken at once to its end, it would often need
        a pass beyond a step of the costs, where two of the best size take less.
        """
        return self._largest

    @property
    def points_ms(self) -> dict[int, float]:
        """The whole curve, for showing it: what is known, and what is hoped."""
        return {n: self._ms[n] for n in range(1, MAX_PASS + 1)}

    @property
    def known_ms(self) -> dict[int, float]:
        """The part of the curve that was measured or learnt, for keeping it."""
        return {n: self._ms[n] for n in range(1, self._last_known + 1)}

    def padded(self, num_tokens: int) -> int:
        """How many tokens a pass should carry where ``num_tokens`` are wanted: more where more are cheaper."""
        return self._cheapest[num_tokens] if num_tokens <= MAX_PASS else num_tokens

    def cost_ms(self, num_tokens: int) -> float:
        """Cost of a pass for ``num_tokens``, padded where that is cheaper."""
        return self._ms[self._cheapest[min(num_tokens, MAX_PASS)]]

    @property
    def costs_ms(self) -> list[float]:
        """`cost_ms` of 1 to `MAX_PASS` tokens."""
        ms = self._ms
        return [ms[cheapest] for cheapest in self._cheapest[1:]]

    def plain_share(self, num_tokens: int) -> float | None:
        """A plain pass in parts of one of so many tokens, as they were measured; None beyond what was measured."""
        return self._measured[1] / self._measured[num_tokens] if num_tokens <= self._last_measured else None

    def observe(self, num_tokens: int, milliseconds: float) -> float:
        """A pass of this many tokens took so long: correct its own point, and the level of all a little.

        Returns by how much the measured costs turned out to be too high, as a factor: 1 but for a hurried look.
        """
        if num_tokens > MAX_PASS:
            return 1.0
        self._since_refresh += 1
        self._seen[num_tokens] += 1
        factor = 1.0
        if num_tokens > self._last_known:
            factor = self._try(num_tokens, milliseconds)
        elif num_tokens == 1 and self.doubts_plain:
            factor = self._try_plain(milliseconds)
        else:
            self._correct(num_tokens, milliseconds)
        if self._since_refresh >= _REFRESH_EVERY:
            self._refresh()
        return factor

    def _correct(self, num_tokens: int, milliseconds: float) -> None:
        trusted = self._num_seen >= _TRUSTED
        clip = _CLIP if trusted else _GUESS_CLIP
        ratio = min(max(milliseconds / self._ms[num_tokens], 1 / clip), clip)
        self._num_seen += 1
        # While it is guessed, the level is the mean of what was seen.
        level = ratio ** (_LEVEL_RATE if trusted else 1.0 / self._num_seen)
        self._ms[num_tokens] *= (ratio / level) ** self._second_looks.weight(num_tokens, _OWN_RATE)
        self._ms = [value * level for value in self._ms]
        if self._second_looks.ended(num_tokens):
            self._find_cheapest()

    def _try_plain(self, milliseconds: float) -> float:
        """Learn from a plain pass where a hurried look is all that is known: the least of the first few is believed."""
        self._num_plain += 1
        share = min(milliseconds / self._ms[1], 1.0)
        self._ms[: self._last_measured + 1] = [value * share for value in self._ms[: self._last_measured + 1]]
        self._hope()
        self._find_cheapest()
        return share

    def _try(self, num_tokens: int, milliseconds: float) -> float:
        """Learn from a pass that is larger than any that is known; of the others it says what they cannot cost."""
        share = milliseconds / (self._ms[1] * plain_passes(min(num_tokens, FIRST)))
        if share >= _TOO_GOOD:
            share = 1.0
        # Else a plain pass was measured beside another program, and whatever is kept would seem to pay. Where that is
        # not so, drafting pays all the same, or plain passes come and say it.
        self._ms = [value * share for value in self._ms]
        is_known = self._untried.take(num_tokens, milliseconds)
        self._hope()
        if is_known:
            self._last_known = num_tokens
            self._untried.forget(num_tokens)
            self._hope()
        self._find_cheapest()
        return share

    def _hope(self) -> None:
        beyond = self._last_known + 1
        points = self._untried.points_ms(self.known_ms, self._last_known, MAX_PASS)
        self._ms[beyond:] = _interpolate(points)[beyond:]

    def _refresh(self) -> None:
        self._since_refresh = 0
        self._wonder()
        self._follow()
        self._hope()
        self._find_cheapest()

    def _find_cheapest(self) -> None:
        # A plain pass stays plain: it alone is seen for long, so it alone follows a machine that has become slower.
        for n in range(2, MAX_PASS + 1):
            best = min(range(n, min(n + _LARGEST_PAD, MAX_PASS) + 1), key=self._ms.__getitem__)
            self._cheapest[n] = best if self._ms[best] < _PAD_GAIN * self._ms[n] else n
        shares = [(self.cost_ms(n) / n, n) for n in _FULL_SIZES]
        most = _AS_CHEAP * min(shares)[0]
        # What is only hoped of large passes has to be tried.
        self._largest = max(n for share, n in shares if share <= most) if self._last_known == MAX_PASS else MAX_PASS

    def _wonder(self) -> None:
        """Believe of one size that nobody saw lately that it is as cheap a token as the best, where that is near.

        Or that it takes no more than its parts one after another, where it was measured beside another program. It is
        tried then, and says what it takes.
        """
        share = {n: self._ms[n] / n for n in _FULL_SIZES if n <= self._last_measured}
        best = min(share, key=share.__getitem__, default=0)
        hoped = {}
        for n in (n for n in share if not self._seen[n]):
            parts = [n // m * self._ms[m] for m in range(1, n) if n % m == 0 and self._seen[m] >= _TELLING]
            if self._seen[best] >= _TELLING and share[n] <= _NEARLY * share[best]:
                parts.append(share[best] * n)
            if min(parts, default=self._ms[n]) < self._ms[n]:
                hoped[n] = min(parts)
        tried = self._second_looks.next_of(sorted(hoped, key=lambda n: hoped[n] / n))
        if given_up := self._second_looks.given_up:  # nobody saw that it is so cheap
            self._ms[given_up] /= self._try_share
        if tried:
            self._try_share, self._ms[tried] = hoped[tried] / self._ms[tried], hoped[tried]

    def _follow(self) -> None:
        """Where all that was seen lately costs far less than was measured, the machine was busy: the rest follows.

        Else the pacer would never try what seems dear, a plain pass among them. What seems cheap it finds out.
        """
        telling = [n for n in range(1, self._last_measured + 1) if self._seen[n] >= _TELLING]
        self._seen = [0] * (MAX_PASS + 1)
        if len(telling) < _ENOUGH_SIZES:
            return
        level = max(self._ms[n] / self._measured[n] for n in telling)
        for n in set(range(1, self._last_measured + 1)).difference(telling):
            if self._ms[n] > _FAR * level * self._measured[n]:
                self._ms[n] = level * self._measured[n]


def measure(
    run_pass: Callable[[int], None], budget_s: float = BUDGET_S, should_stop: Callable[[], bool] = lambda: False
) -> dict[int, float]:
    """Milliseconds of passes of `POINTS` tokens, the minimum of a few, within about ``budget_s`` seconds.

    ``run_pass(n)`` decodes n tokens and forgets them. The first call wakes the buffers up and does not count. What is
    likely to take longer than is left is left out. Ends early where ``should_stop`` says so once each size was tried:
    a curve from less would be a guess where a pass is dear, and ``run_pass`` says what happens then.
    """
    ends = time.perf_counter() + budget_s
    best: dict[int, float] = {}
    run_pass(1)
    for number in range(_ROUNDS):
        # One token twice: the first comes after the largest pass, whose rows have swept the caches of a tiny model.
        for n in (1, *POINTS):
            started = time.perf_counter()
            if number and should_stop():
                return best
            if best and started > ends - _most_ms(best, n) / 1000.0:
                continue
            run_pass(n)
            elapsed_ms = (time.perf_counter() - started) * 1000.0
            best[n] = min(best.get(n, elapsed_ms), elapsed_ms)
    return best


def _most_ms(known_ms: Mapping[int, float], num_tokens: int) -> float:
    """What a pass takes at most, by those that are known: a token no more than in a smaller one."""
    return min(ms * max(1.0, num_tokens / known) for known, ms in known_ms.items())


def _interpolate(points_ms: Mapping[int, float]) -> list[float]:
    """Straight lines between the points, by number of tokens; flat before the first of them and after the last."""
    points = sorted(points_ms.items())
    values = [points[0][1]] * (MAX_PASS + 1)
    for (left, left_ms), (right, right_ms) in pairwise([*points, (MAX_PASS + 1, points[-1][1])]):
        for n in range(left, min(right, MAX_PASS) + 1):
            values[n] = left_ms + (right_ms - left_ms) * (n - left) / (right - left)
    return values
