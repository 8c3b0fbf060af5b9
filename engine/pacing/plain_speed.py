"""Estimates the current duration of a plain pass and its error, as the baseline of speed-ups."""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection
from math import exp, hypot, log, sqrt
from time import monotonic

import numpy as np

from engine.decoding.pass_report import PassReport, PlainRunReport
from engine.pacing.pacer import Pacer

RECENT_S = 300.0  # older passes do not describe the machine's current state
MAX_ERROR = 0.3  # an estimate with a larger error counts as unknown
BAND_ENDS = (1024, 4096, 16384, 65536)  # most cached tokens of each band of cache fill; the last band has no end
_MAX_RUNS = 2000  # most recorded runs of plain passes
_MIN_RUNS, _MIN_PASSES = 5, 8
# Relative standard errors: least error of an estimate from the answer's own passes, drift of the machine over minutes,
# and error of the shape of a curve that was measured on a busy machine.
_OWN_ERROR, _DRIFT_ERROR, _SHAPE_ERROR = 0.02, 0.08, 0.10
_TWO_SIDED = 1.96  # standard errors of a 95% interval
RunConditions = tuple[int, bool]  # band of cache fill, and whether other answers run at the same time
PassRun = tuple[float, float]  # number of consecutive passes, and their milliseconds


def band_of(num_past: int) -> int:
    """Band of a cache with ``num_past`` tokens."""
    return bisect_left(BAND_ENDS, num_past)


class PlainPasses:
    """Plain passes of all answers of a loaded target in the last minutes."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._runs: deque[tuple[float, RunConditions, PassRun]] = deque(maxlen=_MAX_RUNS)

    def add(self, conditions: RunConditions, run: PassRun) -> None:
        self._runs.append((self.clock(), conditions, run))

    def recent_runs(self, now: float, conditions: RunConditions) -> list[PassRun]:
        """Runs with the same conditions in the `RECENT_S` seconds before ``now``."""
        return [run for at, where, run in self._runs if where == conditions and now - RECENT_S <= at < now]


class PlainSpeed:
    """The duration of a plain pass during one answer; implements `PassObserver`.

    It combines estimates from the answer's own plain passes, from its larger passes scaled by the curve, and from plain
    passes of the last minutes. Each estimate is added, weighted by its error, if that reduces the total error. A
    contradicting estimate increases the total error (https://pdg.lbl.gov, scale factor) and is therefore left out.
    """

    def __init__(self, passes: PlainPasses, pacer: Pacer | None) -> None:
        self._passes, self._pacer = passes, pacer
        self._began = passes.clock()
        self._own: dict[bool, deque[PassRun]] = {False: deque(maxlen=_MAX_RUNS), True: deque(maxlen=_MAX_RUNS)}
        self._larger: deque[PassRun] = deque(maxlen=_MAX_RUNS)  # larger passes, converted to plain passes by the curve
        self._num_shared = self._num_passes = self._num_history = 0
        self._recent: dict[RunConditions, tuple[float, float] | None] = {}

    def on_pass(self, report: PassReport) -> None:
        """Record a pass, except the first, which warms up."""
        self._num_history = report.num_history
        self._num_passes += 1
        self._num_shared += report.is_shared
        if self._num_passes == 1:
            return
        if not report.num_proposed and report.num_decoded == 1:
            self._add_plain(1, report.total_ms - report.draft_ms - report.checkpoint_ms, is_shared=report.is_shared)
        elif self._pacer is not None and not report.is_joined:
            share = self._pacer.curve.plain_share(report.num_decoded)
            if share is not None:
                self._larger.append((1.0 / share, report.forward_ms))

    def on_plain_run(self, report: PlainRunReport) -> None:
        self._num_history, passes_ms = report.num_history, report.passes_ms[not self._num_passes :]
        self._num_passes += len(report.passes_ms)
        self._num_shared += report.num_shared
        if passes_ms:
            is_shared = 2 * report.num_shared > len(report.passes_ms)
            self._add_plain(len(passes_ms), sum(passes_ms), is_shared=is_shared)

    def _add_plain(self, num_passes: int, total_ms: float, *, is_shared: bool) -> None:
        self._own[is_shared].append((num_passes, total_ms))
        self._passes.add((band_of(self._num_history), is_shared), (num_passes, total_ms))

    @property
    def estimate(self) -> tuple[float, float] | None:
        """Milliseconds of a plain pass with overhead, and half of its relative 95% interval; None if too uncertain."""
        conditions = (band_of(self._num_history), 2 * self._num_shared > self._num_passes)
        if conditions not in self._recent:
            self._recent[conditions] = _estimate(self._passes.recent_runs(self._began, conditions), _DRIFT_ERROR)
        larger = None if conditions[1] else _estimate(self._larger, _SHAPE_ERROR)
        if larger is not None and self._pacer is not None:
            larger = larger[0] + self._pacer.prices.overhead_ms, larger[1]
        own = _estimate(self._own[conditions[1]], _OWN_ERROR)
        parts = [part for part in (own, larger, self._recent[conditions]) if part]
        if not parts:
            return None
        choices = [_combined(parts[: number + 1]) for number in range(len(parts))]
        milliseconds, error = min(choices, key=lambda found: found[1])
        return (milliseconds, _TWO_SIDED * error) if _TWO_SIDED * error <= MAX_ERROR else None


def _estimate(runs: Collection[PassRun], least_error: float) -> tuple[float, float] | None:
    """Milliseconds of a pass, and the relative standard error over runs, since a stall affects a whole run."""
    passes, total_ms = np.asarray(runs or [(0.0, 0.0)]).T
    if len(runs) < _MIN_RUNS or passes.sum() < _MIN_PASSES:
        return None
    mean = total_ms.sum() / passes.sum()
    squares = np.square(total_ms - mean * passes).sum() * len(runs) / (len(runs) - 1)
    return float(mean), hypot(sqrt(squares) / total_ms.sum(), least_error)


def _combined(parts: list[tuple[float, float]]) -> tuple[float, float]:
    """Mean of values weighted by their relative errors, and the error of the mean."""
    weights = [error**-2 for _, error in parts]
    mean = sum(weight * log(value) for weight, (value, _) in zip(weights, parts, strict=True)) / sum(weights)
    squares = sum(weight * (log(value) - mean) ** 2 for weight, (value, _) in zip(weights, parts, strict=True))
    scale = sqrt(squares / (len(parts) - 1)) if len(parts) > 1 else 1.0
    return exp(mean), max(scale, 1.0) / sqrt(sum(weights))
