"""Logits to distributions: the sampling chain and drawing from it. Knows neither models nor drafts.

The chain, in this order: penalties over the last tokens, temperature, top-k, top-p, min-p. Target and draft go
through the same chain: p and q are what the *whole* chain gives, which is what makes verification exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from engine.errors import DecodeError
from engine.interfaces import Candidates
from engine.records import SamplingParams

Row = NDArray[np.float32]  # [n_vocab] logits
History = NDArray[np.int32]  # [num_tokens] ids, oldest first

# Below this share of the most likely token a float64 sum does not change any more: exp(-40) is 4e-18.
_NEGLIGIBLE_LOG = 40.0
# A large row is first reduced to the maxima of blocks of so many tokens: few blocks then hold all that matters.
_BLOCK = 128
_SMALLEST_BLOCKED = 4096
_FEW_BLOCKS = 256
# For top-k the blocks are lanes of so many tokens, and so many lanes make a group: sorting groups costs least.
_LANE, _GROUP = 64, 8
# Without top-k, tokens of this share of the best are looked at first, then those of its square, down to the last share.
_FIRST_LEAST, _LAST_LEAST, _AND_MORE = 1e-2, 1e-17, 1.0 + 1e-9
_NEAR = 12.0  # the rest adds less than a 150,000th of the best each
_SAMPLED = 8  # of a flat row one in so many tokens is looked at: a draft that is so unsure need not be known exactly


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution over tokens: ``probs`` [n] of ``ids`` [n], ascending; without ``ids``, ``probs`` is [n_vocab]."""

    probs: NDArray[np.float64]
    ids: NDArray[np.int64] | None = None

    def prob(self, token_id: int) -> float:
        """The probability of one token."""
        if self.ids is None:
            return float(self.probs[token_id]) if token_id < len(self.probs) else 0.0
        i = int(self.ids.searchsorted(token_id))
        return float(self.probs[i]) if i < len(self.ids) and self.ids[i] == token_id else 0.0

    def draw(self, uniform: float) -> int:
        """The token at ``uniform`` in [0, 1) of the cumulated distribution."""
        return self.id_at(self.place(uniform))

    def place(self, uniform: float) -> int:
        """Where in ``probs`` that token stands."""
        cumulated = self.probs.cumsum()
        i = int(cumulated.searchsorted(uniform * cumulated[-1], side="right"))
        i = min(i, len(cumulated) - 1)
        while self.probs[i] == 0.0:  # only rounding at the very end can get here
            i -= 1
        return i

    def id_at(self, place: int) -> int:
        """The token that stands there."""
        return place if self.ids is None else int(self.ids[place])


def point_mass(token_id: int) -> Distribution:
    """All probability on one token: what a deterministic proposal is."""
    return Distribution(np.ones(1), np.array([token_id], dtype=np.int64))


def excess(p: Distribution, q: Distribution, weight: float = 1.0) -> NDArray[np.float64]:
    """max(0, weight p - q) at each token of ``p``, not normalised."""
    rest = p.probs * weight
    if q.ids is None:
        # A draft's vocabulary may be the smaller one.
        q_at_p = q.probs[: len(rest)] if p.ids is None else q.probs[p.ids[: p.ids.searchsorted(len(q.probs))]]
        rest[: len(q_at_p)] -= q_at_p
    elif p.ids is None:
        inside = q.ids < len(rest)
        rest[q.ids[inside]] -= q.probs[inside]
    else:
        where = np.minimum(p.ids.searchsorted(q.ids), len(p.ids) - 1)
        shared = p.ids[where] == q.ids
        rest[where[shared]] -= q.probs[shared]
    return np.maximum(rest, 0.0, out=rest)


def residual(p: Distribution, q: Distribution, weight: float = 1.0) -> Distribution:
    """norm(max(0, weight p - q)): what to draw from after a rejection (Leviathan et al. 2022, arXiv 2211.17192, A.1).

    A rejection has probability 0 where nothing is left; rounding can still ask for it, and then p is the limit.
    """
    rest = excess(p, q, weight)
    total = rest.sum()
    return Distribution(rest / total, p.ids) if total > 0.0 else p


class Sampler:
    """The chain for one answer. Rows given to it may be written into."""

    def __init__(self, params: SamplingParams, banned_ids: frozenset[int] = frozenset()) -> None:
        self.params = params
        self.rng = np.random.Generator(np.random.PCG64(params.seed))
        self._banned = np.array(sorted(banned_ids), dtype=np.int64)
        self._penalties = params.penalty_last_n > 0 and (
            params.repeat_penalty != 1.0 or params.frequency_penalty != 0.0 or params.presence_penalty != 0.0
        )

    @property
    def greedy(self) -> bool:
        """Whether every choice is the argmax."""
        return self.params.greedy

    def uniform(self) -> float:
        """One number of the answer's own random stream, in [0, 1)."""
        return self.rng.random()

    def argmax(self, row: Row, history: History, pending: list[int]) -> int:
        """The most likely token after penalties; of equal ones the lowest id.

        Raises:
            DecodeError: the row holds no numbers (a damaged model).
        """
        self._edit(row, history, pending)
        return argmax(row)

    def distribution(self, row: Row, history: History, pending: list[int]) -> Distribution:
        """What the chain gives for ``row``, after ``history`` followed by the ``pending`` tokens of a draft.

        Raises:
            DecodeError: the row holds no numbers (a damaged model).
        """
        self._edit(row, history, pending)
        return point_mass(argmax(row)) if self.params.greedy else _chain(row, self.params)

    def allowed(self, candidates: Candidates, n_vocab: int, history: History, pending: list[int]) -> Candidates:
        """Those of the ``candidates`` that are below ``n_vocab`` and not banned, penalties applied; maybe none."""
        ids, logits = candidates.ids, candidates.logits
        if ids[-1] >= n_vocab or len(self._banned):
            kept = (ids < n_vocab) & ~np.isin(ids, self._banned)
            ids, logits = ids[kept], logits[kept]
        if self._penalties and len(ids):
            self._penalize(logits, history, pending, ids)
        return Candidates(ids, logits)

    def narrow_distribution(self, allowed: Candidates) -> Distribution:
        """What the chain after the penalties gives, above temperature 0, where only what `allowed` gave can be drawn.

        Raises:
            DecodeError: the logits are no numbers (a damaged model).
        """
        found = _chain(allowed.logits, self.params)
        return Distribution(found.probs, allowed.ids if found.ids is None else allowed.ids[found.ids])

    def _edit(self, row: Row, history: History, pending: list[int]) -> None:
        if len(self._banned):
            row[self._banned[self._banned < len(row)]] = -np.inf
        if self._penalties:
            self._penalize(row, history, pending)

    def _penalize(
        self, row: Row, history: History, pending: list[int], of_ids: NDArray[np.int64] | None = None
    ) -> None:
        """Repetition, frequency and presence penalties, as llama.cpp's `llama_sampler_penalties` applies them.

        ``row`` [n] is of the tokens ``of_ids`` [n], ascending; without them of all tokens.
        """
        params = self.params
        window = params.penalty_last_n
        tail = history[-window:]
        if pending:
            tail = np.concatenate((tail, np.asarray(pending, dtype=np.int32)))[-window:]
        ids, counts = np.unique(tail, return_counts=True)
        if of_ids is None:
            inside = ids < len(row)
            places = ids[inside]
        else:
            places = np.minimum(of_ids.searchsorted(ids), len(of_ids) - 1)
            inside = of_ids[places] == ids
            places = places[inside]
        counts = counts[inside]
        values = row[places]
        values = np.where(values > 0, values / params.repeat_penalty, values * params.repeat_penalty)
        row[places] = values - counts * params.frequency_penalty - params.presence_penalty


def argmax(row: Row) -> int:
    """Where the greatest value of ``row`` is; of equal ones the first.

    Raises:
        DecodeError: the row holds no numbers (a damaged model).
    """
    best = int(row.argmax())
    if row[best] != row[best]:  # NaN is the only value that differs from itself, and argmax finds it
        raise _not_numbers()
    return best


def top_probability(row: Row, best: int) -> float:
    """The softmax probability of ``best``, the argmax of ``row``: how sure a greedy draft is."""
    highest = row[best]
    if len(row) < _SMALLEST_BLOCKED:
        near = row[row > highest - np.float32(_NEAR)]
        return 1.0 / float(np.exp(near - highest).sum())
    width = len(row) // _BLOCK
    blocks, tail = row[: _BLOCK * width].reshape(_BLOCK, width), row[_BLOCK * width :]
    columns = np.flatnonzero(np.maximum.reduce(blocks, axis=0) > highest - np.float32(_NEAR))
    if len(columns) <= _FEW_BLOCKS:
        total = float(np.exp(blocks[:, columns] - highest).sum()) + float(np.exp(tail - highest).sum())
        return min(1.0, 1.0 / total)
    sampled = float(np.exp(row[::_SAMPLED] - highest).sum()) - (best % _SAMPLED == 0)
    return 1.0 / (1.0 + _SAMPLED * sampled)


def _chain(row: Row, params: SamplingParams) -> Distribution:
    """Temperature, top-k, top-p, min-p over a row whose penalties are already applied."""
    highest, logits, ids = _candidates(row, params)
    if params.top_p < 1.0 or 0 < params.top_k < len(logits):
        places, weights = _likeliest(logits, highest, params)
        return Distribution(weights / np.add.reduce(weights), places if ids is None else ids[places])
    weights = np.exp((logits.astype(np.float64) - highest) / params.temperature)
    if params.min_p > 0.0:
        weights[weights < params.min_p] = 0.0  # the best weighs exactly 1
    if ids is not None:
        kept = weights > 0.0
        ids, weights = ids[kept], weights[kept]
    return Distribution(weights / weights.sum(), ids)


def _likeliest(logits: Row, highest: float, params: SamplingParams) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places (ascending) and weights of what top-k, top-p and min-p leave; of equal logits the first stay."""
    if params.top_k == 0:
        return _nucleus(logits, highest, params)
    order = (-logits).argsort(kind="stable")[: params.top_k]
    weights = _weights(logits[order], highest, params)
    if params.min_p > 0.0:
        count = int((-weights).searchsorted(-params.min_p, side="right"))
    else:
        count = int(np.count_nonzero(weights))
    if params.top_p < 1.0:  # the smallest set of the likeliest whose share reaches it
        cumulated = weights.cumsum()
        count = min(count, int(cumulated.searchsorted(params.top_p * cumulated[-1])) + 1)
    order = order[:count]
    ascending = order.argsort()
    return order[ascending], weights[ascending]


def _weights(logits: Row, highest: float, params: SamplingParams) -> NDArray[np.float64]:
    """Shares of the greatest one's."""
    weights: NDArray[np.float64] = np.subtract(logits, highest, dtype=np.float64)
    weights /= params.temperature
    return np.exp(weights, out=weights)


def _nucleus(logits: Row, highest: float, params: SamplingParams) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """`_likeliest` without top-k: no more are sorted than top-p can leave; sorting 152k takes tens of milliseconds."""
    weights = _weights(logits, highest, params)
    wanted, least = params.top_p * float(np.add.reduce(weights)), _FIRST_LEAST
    while True:
        places = (weights >= max(least, params.min_p)).nonzero()[0]
        found = weights[places]
        if least < params.min_p or least < _LAST_LEAST or np.add.reduce(found) > _AND_MORE * wanted:
            break
        least *= least
    order = (-logits[places]).argsort(kind="stable")
    order = order[: int(found[order].cumsum().searchsorted(wanted)) + 1]
    order.sort()
    return places[order], found[order]


def _candidates(row: Row, params: SamplingParams) -> tuple[float, Row, NDArray[np.int64] | None]:
    """The greatest value; values and ids (ascending) of all that top-k or rounding can leave.

    Without ids, of a small or flat row, the values are the row.
    """
    reach = np.float32(_NEGLIGIBLE_LOG * params.temperature)
    count = params.top_k
    if count > 0 and len(row) >= _SMALLEST_BLOCKED and len(row) // _LANE > 2 * count:
        return _of_lanes(row, reach, count)
    highest = _finite(float(row.max()))
    least = np.float32(highest) - reach
    if 0 < count < len(row):
        ids = np.flatnonzero(row >= max(least, np.partition(row, len(row) - count)[len(row) - count]))
        return highest, row[ids], ids
    ids = np.flatnonzero(row >= least)
    return (highest, row[ids], ids) if len(ids) * 4 < len(row) else (highest, row, None)


def _of_lanes(row: Row, reach: np.float32, count: int) -> tuple[float, Row, NDArray[np.int64]]:
    """`_candidates` of a large row: the ``count`` greatest values within ``reach``, ties and some more included.

    The least of the ``count`` greatest maxima of groups is a lower bound of what matters, and the lanes whose maxima
    reach it hold all that does. Partitioning 152k values costs a millisecond, this 40 microseconds. Right after a pass
    the weights have swept the caches and every call of NumPy costs twice its usual, so there are few calls.
    """
    width = len(row) // _LANE
    end = _LANE * width
    lanes, tail = row[:end].reshape(_LANE, width), row[end:]
    maxima = np.maximum.reduce(lanes, axis=0)
    num_groups = width // _GROUP
    if num_groups > 2 * count:
        groups = np.maximum.reduce(maxima[: _GROUP * num_groups].reshape(_GROUP, num_groups), axis=0)
    else:
        groups = maxima.copy()
    highest = np.maximum.reduce(maxima)
    if len(tail):
        highest = np.maximum(highest, np.maximum.reduce(tail))  # keeps what is no number
    highest = _finite(float(highest))
    groups.partition(len(groups) - count)
    border = max(np.float32(highest) - reach, groups[len(groups) - count])
    columns = (maxima >= border).nonzero()[0]
    values = lanes.take(columns, axis=1).ravel()
    found = (values >= border).nonzero()[0]
    values = values[found]
    rows, found = np.divmod(found, len(columns))
    rows *= width
    rows += columns[found]
    if len(tail):
        more = (tail >= border).nonzero()[0]
        values, rows = np.concatenate((values, tail[more])), np.concatenate((rows, more + end))
    return highest, values, rows


def _finite(highest: float) -> float:
    if not isfinite(highest):
        raise _not_numbers()
    return highest


def _not_numbers() -> DecodeError:
    return DecodeError(
        "The model computed values that are not numbers.",
        "The file is probably damaged: download it again, or choose another one.",
    )
