"""Near ties, decided where plain decoding would decide them: on a cache in the plain shape.

The shape of a pass changes the last bits of its sums, and the cache keeps them: where the two best logits are nearly
equal, a pass of eight tokens may prefer another one than eight passes of one. So what was decoded since the last safe
point is then decoded again one token at a time, and the last row decides.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from time import perf_counter

import numpy as np

from engine.decoding.stats import StatsRecorder
from engine.decoding.verifier import Verdict
from engine.drafters.base import Draft
from engine.errors import DecodeError
from engine.interfaces import Rows
from engine.records import ChatRequest, Source
from engine.sampling.near_ties import Contest
from engine.sampling.sampler import History, Sampler
from engine.sampling.top_k import Row
from engine.sequence import CachedSequence

SAFETY = 2.5  # times the largest difference that was seen
FLOOR = 1e-3  # of the logits' spread: a model that showed no difference in a short look is still looked at
_SAMPLE = 48  # rows that differ between the shapes which a look has to see, and tokens that are decoded at a time
_SHAPES = (4, 8, 2, 16, 3, 5)  # tokens of the passes of that look, in turn
BUDGET_S = 2.0
# Kernels change with the fill of the cache: on a CPU with several threads a single token's attention is split among
# them from 256 tokens on, which made differences of 0.2 where there had been none. So each of these gets a look.
_FILLS = tuple(256 * 2**i for i in range(12))


def decides_ties(request: ChatRequest) -> bool:
    """Say whether near ties are to be decided, and can be: the token of a place has to follow from its row."""
    return request.tie_safe and (request.sampling.greedy or request.sampling.seed is not None)


class TieBound:
    """The margin of the two best logits under which a token is decided in the plain shape; one for a loaded target."""

    def __init__(self) -> None:
        self._largest = self._floor = 0.0
        self._measured_fills = -1

    @property
    def margin(self) -> float:
        """In logits."""
        return max(self._floor, SAFETY * self._largest)

    def measure_at(self, sequence: CachedSequence, num_past: int) -> None:
        """Measure at this fill of the cache, if nothing is known of it yet; the cache ends as it was.

        Raises:
            DecodeError: a pass failed.
        """
        fill = bisect_right(_FILLS, num_past)
        if fill <= self._measured_fills:
            return
        _num_rows, largest, spread = measure_shapes(sequence, BUDGET_S)
        self._measured_fills = fill
        self._floor = max(self._floor, FLOOR * spread)
        self.observe(largest)

    def observe(self, difference: float) -> None:
        """Logits or a margin that were computed in both shapes differed by so much; the bound only grows."""
        self._largest = max(self._largest, difference)


class TieSafeVerifier:
    """The decisions of one answer. ``plain_past``: so many tokens of the cache are in the plain shape."""

    def __init__(self, target: CachedSequence, sampler: Sampler, bound: TieBound, stats: StatsRecorder) -> None:
        """The cache holds the prompt, as any mode would have read it."""
        self._target = target
        self._sampler = sampler
        self._bound = bound
        self._stats = stats
        self._contests: dict[int, Contest] = {}
        self.plain_past = target.num_past

    def begin_pass(self, num_tokens: int) -> None:
        """Prepare for a pass of so many tokens behind what the cache holds.

        Raises:
            DecodeError: a pass of a look at the shapes failed.
        """
        self._bound.measure_at(self._target, self._target.num_past + num_tokens)
        if num_tokens == 1 and self.plain_past == self._target.num_past:
            self.plain_past += 1  # this is what plain decoding does

    def verify(self, draft: Draft, rows: Rows, history: History) -> Verdict:
        """Verify as `verify_greedy` does up to the first near tie; decode that token again in the plain shape.

        Args:
            draft: proposed after ``history``.
            rows: of the pass over the last token and the draft; overwritten by a near tie, behind which the cache ends.
            history: prompt and answer so far.

        Raises:
            DecodeError: a pass failed, or the model computes no numbers.
        """
        for i in range(len(draft.ids) + 1):
            contest = self._sampler.contest(rows[i], history, draft.ids[:i], self._bound.margin)
            best, end = contest.best, len(history) + i
            if end > self.plain_past:
                self._contests[end] = contest
                if contest.is_near_tie:
                    tokens = np.append(history, np.asarray(draft.ids[:i], dtype=np.int32))
                    return Verdict(i, self._redecode(tokens), Source.TARGET)
            if i == len(draft.ids):
                return Verdict(i, best, Source.BONUS if i else Source.TARGET)
            if best != draft.ids[i]:
                return Verdict(i, best, Source.RECOVERED)
        raise AssertionError("the last row always decides")

    def _redecode(self, tokens: History) -> int:
        """Decode what is not in the plain shape of ``tokens`` one by one; the token that follows all of them."""
        started, first = perf_counter(), self.plain_past
        _go_back(self._target, first)
        best = 0
        for end in range(first + 1, len(tokens) + 1):
            row = self._target.forward(tokens[end - 1 : end], 1)[0]
            if end in self._contests or end == len(tokens):
                best = self._compare(row, tokens[:end])
        self.plain_past = len(tokens)
        self._contests.clear()
        self._stats.tie_checks += 1
        self._stats.tie_tokens += len(tokens) - first
        self._stats.tie_s += perf_counter() - started
        return best

    def _compare(self, row: Row, tokens: History) -> int:
        """Give the best token of a row in the plain shape; its difference to the row before corrects the bound."""
        best = self._sampler.choose(row, tokens, [])
        contest = self._contests.get(len(tokens))
        if contest is not None and contest.second != contest.best:
            difference = abs(float(row[contest.best] - row[contest.second]) - contest.gap)
            if np.isfinite(difference):
                self._bound.observe(difference)
        return best


def measure_shapes(sequence: CachedSequence, budget_s: float) -> tuple[int, float, float]:
    """Decode the model's own greedy tokens one by one, then in passes of several, and compare the logits.

    Ends after about ``budget_s`` seconds, or once `_SAMPLE` rows differed: a cache of f16 hides most differences, and a
    rare one is as large as any other model's. The cache ends as it was.

    Returns:
        Rows compared, largest difference of a logit, mean standard deviation of a row's logits.

    Raises:
        DecodeError: a pass failed, or the memory can't go back.
    """
    past, begun = sequence.num_past, perf_counter()
    most = min(_FILLS[0], sequence.n_ctx - past)
    ids, deviations = [1 % sequence.n_vocab], list[float]()
    largest, num_differing = 0.0, 0
    while len(deviations) < most:
        known = len(deviations)
        for token_id in ids[:known]:  # the cache has to be in the plain shape
            sequence.forward([token_id], 1)
        rows = _plain_rows(sequence, ids, min(_SAMPLE, most - known), begun + budget_s / 2)
        deviations += [float(row.std()) for row in rows]
        _go_back(sequence, past)
        differences = _shaped_rows(sequence, ids[:-1], known) - np.stack(rows)
        _go_back(sequence, past)
        num_differing += int(differences.any(axis=1).sum())
        largest = max(largest, float(np.abs(differences).max()))
        now = perf_counter()
        if num_differing >= _SAMPLE or now - begun > begun + budget_s - now:  # as long again does not fit
            break
    return len(deviations), largest, float(np.mean(deviations)) if deviations else 0.0


def _go_back(sequence: CachedSequence, num_past: int) -> None:
    if not sequence.rollback(num_past):
        raise DecodeError("The model's memory could not go back to a near tie.", "Switch tie-safe off.")


def _plain_rows(sequence: CachedSequence, ids: list[int], most: int, until: float) -> list[Row]:
    """Decode on one by one, which adds to ``ids``; at least as many as the largest pass of a look has."""
    rows = list[Row]()
    while len(rows) < most and (len(rows) < max(_SHAPES) or perf_counter() < until):
        rows.append(sequence.forward(ids[-1:], 1)[0].copy())
        ids.append(int(rows[-1].argmax()))
    return rows


def _shaped_rows(sequence: CachedSequence, ids: list[int], known: int) -> Rows:
    """Give the rows [num_ids - known, n_vocab] behind the first ``known`` of ``ids``, decoded in passes of several."""
    rows, done = list[Rows](), 0
    for shape in itertools.cycle(_SHAPES):
        chunk = ids[done : done + shape]
        if not chunk:
            return np.concatenate(rows)
        reported = sequence.forward(chunk, len(chunk))
        rows.append(reported[max(known - done, 0) :].copy())
        done += len(chunk)
    raise AssertionError("the shapes go round")
