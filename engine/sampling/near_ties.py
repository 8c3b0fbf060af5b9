"""Whether a choice would be the same if every logit were off by a little, as it is in a pass of another shape."""

from __future__ import annotations

from math import exp, inf, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.records import SamplingParams
from engine.sampling.top_k import Row

_NEGLIGIBLE_LOG = 40.0  # in units of the temperature: below this share of the best, nothing is drawn


class Contest(NamedTuple):
    """The ``best`` token of a place and the ``second``, and how far apart their logits are.

    ``is_near_tie``: logits that differ by less than the bound could have made another one the best.
    """

    best: int
    second: int
    gap: float
    is_near_tie: bool


def greedy_contest(row: Row, best: int, bound: float) -> Contest:
    """At temperature 0, where ``best`` is the argmax."""
    value = row[best]
    row[best] = -np.inf
    second = int(row.argmax())
    row[best] = value
    gap = float(value - row[second])
    return Contest(best, second, gap, gap < bound)


class Uncertain(NamedTuple):
    """Tokens [n] that top-k, top-p and min-p leave, or would leave if their logits [n] were off by the bound.

    ``is_certain`` [n]: of which it is certain.
    """

    ids: NDArray[np.int64]
    logits: NDArray[np.float64]
    is_certain: NDArray[np.bool_]


def uncertain_candidates(row: Row, params: SamplingParams, bound: float) -> Uncertain:
    """What the chain after the penalties may leave of ``row`` where differences of two logits are off by ``bound``."""
    ids, logits = _in_reach(row, params, bound)
    order = (-logits).argsort(kind="stable")
    ids, logits = ids[order], logits[order]
    certain, possible = np.ones(len(ids), dtype=bool), np.ones(len(ids), dtype=bool)
    if 0 < params.top_k < len(ids):
        certain &= logits - logits[params.top_k] > bound
        possible &= logits >= logits[params.top_k - 1] - bound
    if params.min_p > 0.0:
        below, reach = logits[0] - logits, -params.temperature * log(params.min_p)
        certain &= below + bound < reach
        possible &= below - bound <= reach
    if params.top_p < 1.0:
        least, most = _share_before(logits, params, bound)
        certain &= most < params.top_p
        possible &= least < params.top_p
    possible |= certain
    return Uncertain(ids[possible], logits[possible], certain[possible])


def seeded_contest(
    found: Uncertain, exponentials: NDArray[np.float64], drawn: int, row: Row, params: SamplingParams, bound: float
) -> Contest:
    """With a seed, where ``drawn`` is what it draws, and ``exponentials`` [n] are its numbers of the ``found`` ones."""
    scores = found.logits - params.temperature * np.log(exponentials)
    order = (-scores).argsort(kind="stable")
    first = int(order[0]) if len(order) else -1
    if first < 0 or found.ids[first] != drawn or not found.is_certain[first]:
        return Contest(drawn, drawn, 0.0, is_near_tie=True)
    if len(order) == 1:
        return Contest(drawn, drawn, inf, is_near_tie=False)
    second = int(order[1])
    gap = float(row[drawn] - row[found.ids[second]])
    return Contest(drawn, int(found.ids[second]), gap, bool(scores[first] - scores[second] < bound))


def _in_reach(row: Row, params: SamplingParams, bound: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Ids and logits of all that can matter, the sum that top-p is a share of included."""
    reach = _NEGLIGIBLE_LOG * params.temperature
    if params.min_p > 0.0 and params.top_p == 1.0:
        reach = min(reach, -params.temperature * log(params.min_p))
    least = float(row.max()) - reach
    if 0 < params.top_k < len(row):
        least = max(least, float(np.partition(row, len(row) - params.top_k)[len(row) - params.top_k]))
    ids = (row >= least - bound - 1e-6).nonzero()[0]
    return ids, row[ids].astype(np.float64)


def _share_before(
    logits: NDArray[np.float64], params: SamplingParams, bound: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The share of the likelier tokens before each [n], descending: the least and the most that it can be.

    Whoever is within ``bound`` may stand before or behind; and the ratio of two sums of weights changes by no more than
    the ratio of two weights does, twice: once for the share, once for what top-k takes in its place.
    """
    weights = np.exp((logits - logits[0]) / params.temperature)
    kept = weights[: params.top_k] if params.top_k > 0 else weights
    cumulated, total, factor = (
        np.concatenate(([0.0], weights.cumsum())),
        float(kept.sum()),
        exp(2 * bound / params.temperature),
    )
    descending = -logits
    before_least = cumulated[descending.searchsorted(descending - bound, side="left")]
    before_most = cumulated[descending.searchsorted(descending + bound, side="right")] - weights
    return _scaled(before_least, total, 1.0 / factor), _scaled(before_most, total, factor)


def _scaled(part: NDArray[np.float64], total: float, factor: float) -> NDArray[np.float64]:
    """The share of ``part`` in ``total`` where its ratio to the rest is multiplied by ``factor``."""
    rest = np.maximum(total - part, 0.0)
    scaled: NDArray[np.float64] = part * factor / np.maximum(part * factor + rest, 1e-300)
    return scaled
