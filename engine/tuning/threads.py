"""Chooses the number of threads by measurement, with fewer threads while other programs use the cores.

OpenMP's threads wait for each other at every operation. If another program takes one of their cores, passes suddenly
take several times as long, and fewer threads are faster.
"""

import time
from collections.abc import Callable, Mapping, Sequence

from engine.sentences import Sentence, i18n

COLLAPSED = 2.5  # a pass that takes this multiple of its usual time counts as collapsed
PATIENCE = 4  # collapsed passes in a row before threads are reduced
_TRIAL_PASSES = 3  # passes of a trial
_BETTER = 0.9  # a trial must take at most this share of the current time
_FIRST_WAIT_S, _LAST_WAIT_S = 1.0, 64.0  # seconds between trials of more threads, doubled after each failure
_LOSS_SHARE = 0.005  # share of time that trials may cost while another program uses the cores
_FALLS, _RISES, _RECENT = 0.3, 0.05, 0.4  # weight of a pass in the usual time (faster, slower), and in the current time
_TRIES = 4  # tries per measurement, whose minimum counts
_FIRST_DOUBT_S = 4.0  # seconds before fewer threads are tried without a collapse, doubled each time
_ENOUGH = 1.03  # fewer threads are preferred up to this relative time, since they leave cores to other programs


def candidates(most: int) -> list[int]:
    """Numbers of threads to measure, in descending order: repeated halves down to 1."""
    counts = [most]
    while counts[-1] > 1:
        counts.append(counts[-1] // 2)
    return counts


def choose(costs_ms: Mapping[int, tuple[float, ...]]) -> int:
    """The number of threads with the lowest cost. All sizes have the same weight; all numbers need the same sizes."""
    best = tuple(min(costs) for costs in zip(*costs_ms.values(), strict=True))
    scores = {
        count: sum(ms / least for ms, least in zip(costs, best, strict=True)) for count, costs in costs_ms.items()
    }
    least_score = min(scores.values())
    return min(count for count, score in scores.items() if score <= _ENOUGH * least_score)


class ThreadControl:
    """Controls the number of threads by observing every pass."""

    def __init__(
        self,
        best: int,
        most: int,
        clock: Callable[[], float] = time.monotonic,
        *,
        doubts: bool = False,
    ) -> None:
        """``best`` is the fastest measured number; up to ``most`` are tried now and then.

        With ``doubts`` fewer threads are tried as well, since the measurement may have been disturbed.
        """
        self.best = self.threads = best
        self.most = max(best, most)
        self.reason: str = ""
        self._clock = clock
        self._usual: dict[int, dict[int, float]] = {}  # undisturbed times, by threads and size of a pass
        self._recent: dict[int, float] = {}  # current times with the current threads, by size of a pass
        self._num_collapsed = 0
        self._before: int | None = None  # during a trial: the previous number of threads
        self._shares: list[float] = []
        self._lost_ms = 0.0  # milliseconds that the trial has cost
        self._patient = False
        self._fewer: dict[int, float] = {}  # times before threads were added; `_won_ms` counts the gain
        self._won_ms = float("inf")
        self._wait_s = _FIRST_WAIT_S
        self._try_at = clock() + (_FIRST_WAIT_S if self.best < self.most else 0.0)
        self._doubt_wait_s = _FIRST_DOUBT_S
        self._doubt_at = clock() + _FIRST_DOUBT_S if doubts else float("inf")

    @property
    def settled(self) -> int:
        """The current number of threads, ignoring a trial."""
        return self.threads if self._before is None else self._before

    @property
    def is_disturbed(self) -> bool:
        """Whether fewer threads than the best are in use, or a trial is running."""
        return self.threads < self.best or self._before is not None

    def expect(self, usual_ms: Mapping[int, float]) -> None:
        """Set the usual times of passes with the current threads, so that a collapse is detected at once."""
        self._usual[self.threads] = dict(usual_ms)

    def observe(self, num_tokens: int, milliseconds: float) -> bool:
        """Record a pass; True if `threads` has changed."""
        if self._before is not None:
            return self._judge(num_tokens, milliseconds)
        recent = self._recent.get(num_tokens, milliseconds)
        self._recent[num_tokens] = recent + (milliseconds - recent) * _RECENT
        if self._fewer:
            self._won_ms += _nearest(self._fewer, num_tokens) - milliseconds
        collapsed = self._collapsed(num_tokens, milliseconds) and self.threads > 1
        more = min(2 * self.threads, self.most)
        if self._clock() < self._try_at:
            return False
        if collapsed:
            self._patient = True
            return self._begin(self.threads // 2)
        if self.threads > 1 and self._clock() >= self._doubt_at:
            self._doubt_at = self._clock() + self._doubt_wait_s
            self._doubt_wait_s = min(_LAST_WAIT_S, 2.0 * self._doubt_wait_s)
            return self._begin(self.threads // 2)
        return self.threads < more and self._begin(more)

    def _collapsed(self, num_tokens: int, milliseconds: float) -> bool:
        known = self._usual.setdefault(self.threads, {})
        usual = known.setdefault(num_tokens, milliseconds)
        if milliseconds > COLLAPSED * usual:
            self._num_collapsed += 1
            return self._num_collapsed >= PATIENCE
        self._num_collapsed = 0
        known[num_tokens] = usual + (milliseconds - usual) * (_FALLS if milliseconds < usual else _RISES)
        return False

    def _begin(self, threads: int) -> bool:
        self._before, self.threads, self._shares, self._num_collapsed = self.threads, threads, [], 0
        self._lost_ms = 0.0
        return True

    def _judge(self, num_tokens: int, milliseconds: float) -> bool:
        """Compare a pass of a trial with earlier times; decide after enough passes."""
        before = self._before
        assert before is not None  # noqa: S101  (checked by the caller)
        usual = _nearest(self._recent, num_tokens)
        share = milliseconds / usual
        self._shares.append(share)
        self._lost_ms += milliseconds - usual
        # A single slower pass ends a trial, except in a collapse, since another slow pass is expensive.
        hopeless = share > 1.0 and not self._patient
        if len(self._shares) < _TRIAL_PASSES and not hopeless:
            return False
        was_collapse = self._patient
        self._before, self._patient = None, False
        if not hopeless and sorted(self._shares)[len(self._shares) // 2] <= _BETTER:
            self._settle(before)
            return False
        rises, self.threads = self.threads > before, before
        if was_collapse:
            self._usual.pop(before, None)  # the threads are not the cause, so passes have become slower
        if was_collapse or rises:
            self._postpone(self._lost_ms)
        return True

    def _settle(self, before: int) -> None:
        slower, self._recent = self._recent, {}
        if self.threads < before:
            if self._won_ms > 0.0:
                self._wait_s = _FIRST_WAIT_S
            self._postpone(-self._won_ms)
            self._fewer = {}
            self.reason = _changed(before, self.threads, i18n("another program uses the cores"))
            return
        self._try_at = self._clock()
        self._fewer, self._won_ms = slower, 0.0
        why = i18n("the cores are free again") if self.threads <= self.best else i18n("that is faster here")
        self.best = max(self.best, self.threads)
        self.reason = _changed(before, self.threads, why)

    def _postpone(self, lost_ms: float) -> None:
        """Wait before the next trial; after a reduction of threads, only until such a loss is a small share."""
        self._try_at = self._clock() + self._wait_s
        longest_s = _LAST_WAIT_S
        if self.threads < self.best:
            longest_s = min(longest_s, max(_FIRST_WAIT_S, lost_ms / 1000.0 / _LOSS_SHARE))
        self._wait_s = min(longest_s, 2.0 * self._wait_s)


def measure(
    run_pass: Callable[[int], None],
    set_threads: Callable[[int], None],
    counts: Sequence[int],
    sizes: tuple[int, ...],
    budget_s: float,
) -> dict[int, tuple[float, ...]]:
    """Measure milliseconds of passes by number of threads; the first two ``counts`` always, with passes of one token.

    Within ``budget_s`` seconds, also measure the other ``counts``, and all ``sizes`` for the best two.
    """
    ends = time.perf_counter() + budget_s
    first: dict[int, tuple[float, ...]] = {}
    for i, count in enumerate(counts):
        if i > 1 and time.perf_counter() > ends:
            break
        set_threads(count)
        run_pass(1)  # starts new threads
        first[count] = (_least_ms(run_pass, 1, budget_s / 4),)
    both: dict[int, tuple[float, ...]] = {}
    for count in sorted(first, key=first.__getitem__)[:2]:
        if time.perf_counter() > ends:
            return first
        set_threads(count)
        run_pass(1)
        both[count] = tuple(_least_ms(run_pass, size, budget_s / 8) for size in sizes)
    return both


def _least_ms(run_pass: Callable[[int], None], num_tokens: int, budget_s: float) -> float:
    begun = time.perf_counter()
    best_ms = float("inf")
    for _ in range(_TRIES):
        started = time.perf_counter()
        if started > begun + budget_s and best_ms < float("inf"):
            break
        run_pass(num_tokens)
        best_ms = min(best_ms, (time.perf_counter() - started) * 1000.0)
    return best_ms


def _nearest(passes_ms: Mapping[int, float], num_tokens: int) -> float:
    return passes_ms[min(passes_ms, key=lambda size: abs(size - num_tokens))]


def _changed(before: int, threads: int, why: Sentence) -> Sentence:
    return i18n("threads from {before} to {threads}: {why}", before=before, threads=threads, why=why)
