"""Counts tokens, passes and times of an answer. Rates are properties of the `RunStats` of a snapshot.

A pass is one forward call of the target while answering (not prefill). Recovered, bonus and end-of-generation tokens
count as tokens; tokens that a stop string or the maximum length cut off do not.
"""

import time
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.decoding.pass_report import PassReport, PlainRunReport
from engine.intervals import BUCKET_GROWTH, LAST_BUCKET
from engine.records import Mode, RunStats, Source
from engine.sentences import i18n

MAX_DECISIONS = 50  # limit of the recorded decisions
MAX_DEPTH = 32  # greatest depth in the settings


class StatsRecorder(RunStats):
    """The counters of a running answer; implements `PassObserver`. Times are seconds of `time.perf_counter`."""

    def __init__(self, mode: Mode, context_size: int) -> None:
        super().__init__(mode=mode, context_size=context_size, plain_error=0.0)
        self.read_tokens = 0
        self.started = time.perf_counter()
        self.prefilled: float | None = None
        self.first_token: float | None = None
        self.last_token: float | None = None
        self._last_reason = ""
        self._last_proposed = 0
        self._proposed_by_depth = [0] * MAX_DEPTH
        self._accepted_by_depth = [0] * MAX_DEPTH
        self._provenance = dict.fromkeys(Source, 0)
        self._pass_s: list[float] = []
        self._pass_tokens: list[int] = []

    def prefill_ended(self) -> None:
        """End the prefill: from now on, time counts as decoding."""
        self.prefilled = time.perf_counter()

    def on_pass(self, report: PassReport) -> None:
        self.draft_s += report.draft_ms / 1000.0
        self.verify_s += report.forward_ms / 1000.0
        self.sample_s += report.verify_ms / 1000.0
        self.rollback_s += (report.checkpoint_ms + report.rollback_ms + report.emit_ms) / 1000.0
        self.replayed += report.num_replayed
        self.joined_passes += report.is_shared
        draft, num_accepted = report.draft, report.num_accepted
        self.count_pass(len(draft.ids), num_accepted, report.total_ms / 1000.0)
        if draft.num_forced:
            self.forced_proposed += draft.num_forced
            self.forced_accepted += min(draft.num_forced, num_accepted)
        if draft.predicted:
            self.predicted_proposed += len(draft.predicted)
            self.predicted_accepted += sum(index < num_accepted for index in draft.predicted)

    def on_plain_run(self, report: PlainRunReport) -> None:
        self.joined_passes += report.num_shared
        for forward_ms, pass_ms in zip(report.forward_ms, report.passes_ms, strict=True):
            self.count_pass(0, 0, pass_ms / 1000.0)
            self.verify_s += forward_ms / 1000.0
            self.sample_s += (pass_ms - forward_ms) / 1000.0

    def count_pass(self, num_proposed: int, num_accepted: int, seconds: float) -> None:
        self.passes += 1
        self._last_proposed = num_proposed
        self._pass_s.append(seconds)
        self._pass_tokens.append(0)
        if not num_proposed:
            return
        self.proposed += num_proposed
        self.accepted += num_accepted
        self.rolled_back += num_proposed - num_accepted
        for i in range(min(num_proposed, MAX_DEPTH)):
            self._proposed_by_depth[i] += 1
        for i in range(min(num_accepted, MAX_DEPTH)):
            self._accepted_by_depth[i] += 1

    def add_draft_prefill_time(self, seconds: float) -> None:
        """Count the seconds of the draft model's prefill, which are part of a pass."""
        self.draft_prompt_s += seconds

    def count_tokens(self, sources: list[Source], num_passes: int = 1) -> None:
        """Count the tokens of the last pass, or of several plain passes with one token each."""
        now = time.perf_counter()
        if self.first_token is None:
            self.first_token = now
        self.last_token = now
        self.tokens += len(sources)
        if num_passes == 1:
            self._pass_tokens[-1] = len(sources)
        else:
            self._pass_tokens[-num_passes:] = [1] * num_passes
        for source in sources:
            self._provenance[source] += 1

    def record_reason(self, reason: str) -> None:
        """Record the pacer's reason if it changed, with the last depth."""
        self.depth = self._last_proposed
        if reason and reason != self._last_reason:
            self._last_reason = reason
            self.add_decision(reason)

    def add_decision(self, reason: str) -> None:
        """Record the reason of a change at this token."""
        if len(self.decisions) < MAX_DECISIONS:
            self.decisions += (i18n("token {place}: {reason}", place=self.tokens, reason=reason),)

    def snapshot(self) -> RunStats:
        """Return the counters. Costs tens of microseconds: call it a few times a second, not each pass."""
        deepest = max((i + 1 for i, count in enumerate(self._proposed_by_depth) if count), default=0)
        pass_s, per_token_s = self._times()
        token_ms = _percentiles_ms(per_token_s, 50, 95, 99)
        num_read = self.prompt_tokens if self.tokens else self.read_tokens  # prefill may have stopped early
        decoding = self.prefilled is not None and self.last_token is not None
        recorded = {field.name: getattr(self, field.name) for field in fields(RunStats)}
        current: dict[str, Any] = {
            "prompt_s": (self.prefilled or time.perf_counter()) - self.started,
            "time_to_first_token_s": None if self.first_token is None else self.first_token - self.started,
            "proposed_by_depth": tuple(self._proposed_by_depth[:deepest]),
            "accepted_by_depth": tuple(self._accepted_by_depth[:deepest]),
            "provenance": {source: count for source, count in self._provenance.items() if count},
            "decode_s": (self.last_token or 0.0) - (self.prefilled or 0.0) if decoding else 0.0,
            "pass_ms_p50": _percentiles_ms(pass_s, 50)[0],
            "inter_token_ms_p50": token_ms[0],
            "inter_token_ms_p95": token_ms[1],
            "inter_token_ms_p99": token_ms[2],
            "interval_counts": _interval_counts(per_token_s),
            "context_used": min(num_read + self.tokens, self.context_size),
        }
        return RunStats(**recorded | current)

    def _times(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the seconds of each pass, and of each token: the time of its pass divided by the pass's tokens."""
        seconds = np.asarray(self._pass_s)
        counts = np.asarray(self._pass_tokens, dtype=np.int64)
        return seconds, np.repeat(seconds / np.maximum(counts, 1), counts)


def _interval_counts(seconds: NDArray[np.float64]) -> dict[int, int]:
    if not len(seconds):
        return {}
    microseconds = np.maximum(seconds * 1e6, 1.0)
    buckets = np.minimum(np.ceil(np.log(microseconds) / np.log(BUCKET_GROWTH)).astype(np.int64), LAST_BUCKET)
    counts = np.bincount(buckets)
    return {int(bucket): int(counts[bucket]) for bucket in counts.nonzero()[0]}


def _percentiles_ms(seconds: NDArray[np.float64], *percents: float) -> list[float | None]:
    """Percentiles with linear interpolation. Sorts once; `numpy.percentile` would take 50 us for each."""
    if not len(seconds):
        return [None] * len(percents)
    ordered = np.sort(seconds)
    indices = np.array(percents) * ((len(ordered) - 1) / 100.0)
    below = indices.astype(np.int64)
    above = np.minimum(below + 1, len(ordered) - 1)
    values = ordered[below] + (ordered[above] - ordered[below]) * (indices - below)
    return [float(value) for value in values * 1000.0]
