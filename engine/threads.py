"""How many threads compute: chosen by measurement, fewer while other programs want the cores, more again after.

OpenMP's threads wait for each other at every operation; when another program takes one of their cores, passes suddenly
take several times as long, and fewer threads are faster. Knows passes by size and time only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

COLLAPSED = 2.5  # times what a pass of this size usually takes
PATIENCE = 4  # such passes in a row
_TRIAL_PASSES = 3  # passes that a trial of another number is judged by
_BETTER = 0.9  # a trial must take at most this share of what passes take now
_FIRST_WAIT_S, _LAST_WAIT_S = 1.0, 64.0  # between trials of more threads, doubling while they fail
_FALLS, _RISES, _RECENT = 0.3, 0.05, 0.4  # weights of one pass in what is usual, and in what passes take now
_ENOUGH = 1.03  # fewer threads that are slower by less than this are taken: they leave room to others


def candidates(most: int) -> list[int]:
    """Numbers of threads that are worth measuring, the most first: halves down to one."""
    counts = [most]
    while counts[-1] > 1:
        counts.append(counts[-1] // 2)
    return counts


def choose(costs_ms: Mapping[int, tuple[float, ...]]) -> int:
    """The number of threads whose passes (the same sizes for each number) cost least, each size weighing the same."""
    best = tuple(min(costs) for costs in zip(*costs_ms.values(), strict=True))
    scores = {
        count: sum(ms / least for ms, least in zip(costs, best, strict=True)) for count, costs in costs_ms.items()
    }
    least_score = min(scores.values())
    return min(count for count, score in scores.items() if score <= _ENOUGH * least_score)


class ThreadControl:
    """The number of threads in force; hears of every pass and changes it."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        """``most`` is the number that is best on an undisturbed machine. ``clock`` counts seconds."""
        self.most = self.threads = most
        self.reason = ""
        self._clock = clock
        self._usual: dict[int, float] = {}  # by size of a pass, with `most` threads and nobody in the way
        self._recent: dict[int, float] = {}  # with the threads in force, whatever happens
        self._strikes = 0
        self._before: int | None = None  # on trial: go back to this where it is not better
        self._shares: list[float] = []
        self._wait_s = _FIRST_WAIT_S
        self._try_at = 0.0

    def observe(self, num_tokens: int, milliseconds: float) -> bool:
        """A pass of so many tokens took so long. True where `threads` is another number from now on."""
        if self._before is not None:
            return self._judge(num_tokens, milliseconds)
        recent = self._recent.get(num_tokens, milliseconds)
        self._recent[num_tokens] = recent + (milliseconds - recent) * _RECENT
        if self.threads < self.most:
            return self._clock() >= self._try_at and self._begin(min(2 * self.threads, self.most))
        if self._collapsed(num_tokens, milliseconds) and self.threads > 1 and self._clock() >= self._try_at:
            return self._begin(self.threads // 2)
        return False

    def _collapsed(self, num_tokens: int, milliseconds: float) -> bool:
        usual = self._usual.get(num_tokens)
        if usual is None:
            self._usual[num_tokens] = milliseconds
            return False
        if milliseconds > COLLAPSED * usual:
            self._strikes += 1
            return self._strikes >= PATIENCE
        self._strikes = 0
        self._usual[num_tokens] = usual + (milliseconds - usual) * (_FALLS if milliseconds < usual else _RISES)
        return False

    def _begin(self, threads: int) -> bool:
        self._before, self.threads, self._shares, self._strikes = self.threads, threads, [], 0
        return True

    def _judge(self, num_tokens: int, milliseconds: float) -> bool:
        """Compare a pass on trial with what passes of its size took before; decide when enough were seen."""
        before = self._before
        assert before is not None  # noqa: S101  (the caller has looked)
        nearest = min(self._recent, key=lambda size: abs(size - num_tokens))
        share = milliseconds / self._recent[nearest]
        self._shares.append(share)
        # More threads that collapse again would cost dearly: one pass is enough to know.
        hopeless = self.threads > before and share > 1.0
        if len(self._shares) < _TRIAL_PASSES and not hopeless:
            return False
        better = not hopeless and sorted(self._shares)[len(self._shares) // 2] <= _BETTER
        self._before = None
        if better:
            self._settle(before)
            return False
        self.threads = before
        self._postpone()
        return True

    def _settle(self, before: int) -> None:
        self._recent = {}
        if self.threads < before:
            self._postpone()
            self.reason = f"{_counted(before)} to {self.threads}: another program uses the cores"
        else:
            self._wait_s = _FIRST_WAIT_S
            self._try_at = self._clock() + self._wait_s
            self.reason = f"{_counted(before)} to {self.threads}: the cores are free again"

    def _postpone(self) -> None:
        self._try_at = self._clock() + self._wait_s
        self._wait_s = min(_LAST_WAIT_S, 2.0 * self._wait_s)


def measure(
    run_pass: Callable[[int], None],
    set_threads: Callable[[int], None],
    counts: Iterable[int],
    sizes: tuple[int, ...],
    budget_s: float,
) -> dict[int, tuple[float, ...]]:
    """Milliseconds of passes of ``sizes`` tokens for each number of threads, the least of two.

    Ends early where ``budget_s`` seconds are over, but not before the first number was measured.
    """
    ends = time.perf_counter() + budget_s
    found: dict[int, tuple[float, ...]] = {}
    for count in counts:
        if found and time.perf_counter() > ends:
            break
        set_threads(count)
        run_pass(1)  # the threads of a new number have to start
        found[count] = tuple(min(_timed_ms(run_pass, size) for _ in range(2)) for size in sizes)
    return found


def _timed_ms(run_pass: Callable[[int], None], num_tokens: int) -> float:
    started = time.perf_counter()
    run_pass(num_tokens)
    return (time.perf_counter() - started) * 1000.0


def _counted(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"
