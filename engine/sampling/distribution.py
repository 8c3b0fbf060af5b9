"""Distributions over tokens, with sampling and the residual of two distributions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from math import fsum

import numpy as np
from numpy.typing import NDArray


class Distribution:
    """``probs`` [n] of ``ids`` [n], ascending; without ``ids``, ``probs`` is [n_vocab]. Immutable.

    For few tokens use `sparse` with lists: right after a pass, which has evicted the processor's caches, the first call
    of each NumPy function takes longer than a Python loop over a few dozen numbers.
    """

    __slots__ = ("_few", "_ids", "_probs")

    def __init__(
        self,
        probs: NDArray[np.float64] | None,
        ids: NDArray[np.int64] | None = None,
        few: tuple[list[float], list[int]] | None = None,
    ) -> None:
        self._probs, self._ids, self._few = probs, ids, few

    @staticmethod
    def sparse(probs: list[float], ids: list[int]) -> Distribution:
        return Distribution(None, None, (probs, ids))

    @property
    def probs(self) -> NDArray[np.float64]:
        if self._probs is None:
            self._probs = np.array(self._few[0] if self._few else [], dtype=np.float64)
        return self._probs

    @property
    def ids(self) -> NDArray[np.int64] | None:
        """Ids of ``probs``; None: the whole vocabulary."""
        if self._ids is None and self._few is not None:
            self._ids = np.array(self._few[1], dtype=np.int64)
        return self._ids

    @property
    def sparse_ids(self) -> tuple[list[float], list[int]] | None:
        """Probabilities and ids as lists; None if the distribution was made from arrays."""
        return self._few

    def prob(self, token_id: int) -> float:
        if self._few is not None:
            few_probs, few_ids = self._few
            i = bisect_left(few_ids, token_id)
            return few_probs[i] if i < len(few_ids) and few_ids[i] == token_id else 0.0
        probs, ids = self.probs, self._ids
        if ids is None:
            return float(probs[token_id]) if token_id < len(probs) else 0.0
        i = int(ids.searchsorted(token_id))
        return float(probs[i]) if i < len(ids) and ids[i] == token_id else 0.0

    def sample(self, uniform: float) -> int:
        """The token at ``uniform`` in [0, 1) of the cumulative distribution."""
        if self._few is not None and len(self._few[1]) == 1:
            return self._few[1][0]
        return self.id_at(self.index_at(uniform))

    def index_at(self, uniform: float) -> int:
        """Index in ``probs`` of the token that `sample` returns."""
        if self._few is not None:
            few_cumulated = list(accumulate(self._few[0]))
            i = bisect_right(few_cumulated, uniform * few_cumulated[-1])
            i = min(i, len(few_cumulated) - 1)
        else:
            cumulated = self.probs.cumsum()
            i = int(cumulated.searchsorted(uniform * cumulated[-1], side="right"))
            i = min(i, len(cumulated) - 1)
        while self.prob_at(i) == 0.0:  # can only happen by rounding at the end
            i -= 1
        return i

    def id_at(self, index: int) -> int:
        if self._few is not None:
            return self._few[1][index]
        return index if self._ids is None else int(self._ids[index])

    def prob_at(self, index: int) -> float:
        return self._few[0][index] if self._few is not None else float(self.probs[index])

    def highest(self) -> float:
        return max(self._few[0]) if self._few is not None else float(self.probs.max())


def point_mass(token_id: int) -> Distribution:
    """A distribution with all probability on one token, as for deterministic proposals."""
    return Distribution.sparse([1.0], [token_id])


def weighted_excess(p: Distribution, q: Distribution, weight: float = 1.0) -> NDArray[np.float64]:
    """max(0, weight p - q) for each token of ``p``, not normalised."""
    few = _few_excess(p, q, weight)
    if few is not None:
        return np.array(few, dtype=np.float64)
    rest = p.probs * weight
    p_ids, q_ids = p.ids, q.ids
    if q_ids is None:
        # A draft's vocabulary may be smaller.
        q_at_p = q.probs[: len(rest)] if p_ids is None else q.probs[p_ids[: p_ids.searchsorted(len(q.probs))]]
        rest[: len(q_at_p)] -= q_at_p
    elif p_ids is None:
        inside = q_ids < len(rest)
        rest[q_ids[inside]] -= q.probs[inside]
    else:
        where = np.minimum(p_ids.searchsorted(q_ids), len(p_ids) - 1)
        shared = p_ids[where] == q_ids
        rest[where[shared]] -= q.probs[shared]
    return np.maximum(rest, 0.0, out=rest)


def excess_sum(p: Distribution, q: Distribution, weight: float = 1.0) -> float:
    few = _few_excess(p, q, weight)
    return fsum(few) if few is not None else float(weighted_excess(p, q, weight).sum())


def residual(p: Distribution, q: Distribution, weight: float = 1.0) -> Distribution:
    """norm(max(0, weight p - q)): the distribution after a rejection (Leviathan et al. 2022, arXiv 2211.17192, A.1).

    If nothing is left, a rejection has probability 0, but rounding can still cause one: then p is returned.
    """
    few = _few_excess(p, q, weight)
    if few is not None and p.sparse_ids is not None:
        few_total = fsum(few)
        return Distribution.sparse([x / few_total for x in few], p.sparse_ids[1]) if few_total > 0.0 else p
    rest = weighted_excess(p, q, weight)
    total = rest.sum()
    return Distribution(rest / total, p.ids) if total > 0.0 else p


def _few_excess(p: Distribution, q: Distribution, weight: float) -> list[float] | None:
    """`weighted_excess` if both distributions have lists; else None."""
    if p.sparse_ids is None or q.sparse_ids is None:
        return None
    q_of = dict(zip(q.sparse_ids[1], q.sparse_ids[0], strict=True))
    return [max(0.0, x * weight - q_of.get(token_id, 0.0)) for x, token_id in zip(*p.sparse_ids, strict=True)]
