"""Finds the most likely tokens of a row of logits without sorting the row.

After a pass neither the row nor NumPy's code is in the processor's caches. So reading a large row once is most of the
cost, and each NumPy function costs extra at its first call.
"""

from math import inf, isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import DecodeError

Row = NDArray[np.float32]  # [n_vocab] logits

MIN_LARGE_VOCABULARY = 4096  # tokens of the smallest large row
MIN_CANDIDATE_VOCABULARY = 16_384  # from this row length on `candidates` is faster than `within_reach`
_LANE = 64  # tokens in each lane of a large row; this length makes sorting the maxima cheapest
_ROUNDING = 1e-6  # relative bound of the error of a comparison in single precision


class TopTokens(NamedTuple):
    """Some ``logits`` [n] of a row, in the order of ids, and the ``highest`` logit.

    ``indices`` [n] are the ids; if None, ``logits`` is the whole row. With m ``columns`` the id of an index i is
    ``i // m * width + columns[i % m]``: callers need few of the ids, so they are computed on request.
    """

    highest: float
    logits: Row
    indices: NDArray[np.int64] | None = None
    columns: NDArray[np.int64] | None = None
    width: int = 0

    @property
    def is_row(self) -> bool:
        return self.indices is None

    def ids_at(self, kept: list[int]) -> list[int]:
        """Ids of the logits at indices ``kept``."""
        if self.indices is None:
            return kept
        indices = self.indices.tolist()
        if self.columns is None:
            return [indices[i] for i in kept]
        columns, width = self.columns.tolist(), self.width
        num = len(columns)
        return [indices[i] // num * width + columns[indices[i] % num] for i in kept]

    def ids_of(self, kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """As `ids_at`, for many indices in an array."""
        if self.indices is None:
            return kept
        indices = self.indices[kept]
        if self.columns is None:
            return indices
        rows, lanes = np.divmod(indices, len(self.columns))
        return rows * self.width + self.columns[lanes]


def candidates(row: Row, reach: float, count: int, margin: float = inf) -> TopTokens:
    """Tokens within ``reach`` of the highest logit that may be among the top ``count`` (0: no limit).

    Includes ties and may include some more. Returns only the highest if it exceeds all others by ``margin``.

    Raises:
        DecodeError: the row is not finite (a damaged model).
    """
    if count > 0 and len(row) >= MIN_LARGE_VOCABULARY and len(row) // _LANE > 2 * count:
        return _lane_candidates(row, reach, count, margin)
    highest = check_finite(float(np.maximum.reduce(row)))
    if margin < reach:
        ids = (row >= _threshold(highest, margin)).nonzero()[0]
        if len(ids) == 1:
            return TopTokens(highest, row[ids], ids)
    least = highest - reach
    if 0 < count < len(row):
        ranked = row.copy()
        ranked.partition(len(row) - count)
        ids = (row >= max(least, ranked.item(len(row) - count))).nonzero()[0]
        return TopTokens(highest, row[ids], ids)
    ids = (row >= least).nonzero()[0]
    return TopTokens(highest, row[ids], ids) if len(ids) * 4 < len(row) else TopTokens(highest, row)


def within_reach(row: Row, reach: float) -> tuple[list[float], list[int]]:
    """Logits and ids (ascending) of all tokens within ``reach`` of the highest logit; rounding may include a few more.

    Returns lists and calls NumPy rarely, so it is fast if few tokens are found. `candidates` is faster for large rows.

    Raises:
        DecodeError: the row is not finite (a damaged model).
    """
    best = int(row.argmax())  # finds NaN, too
    ids = (row >= _threshold(check_finite(row.item(best)), reach)).nonzero()[0].tolist()
    return [row.item(i) for i in ids], ids


def _threshold(highest: float, reach: float) -> float:
    """The least value within ``reach``, minus the possible error of a comparison in single precision."""
    return highest - reach - _ROUNDING * (abs(highest) + reach)


def _lane_candidates(row: Row, reach: float, count: int, margin: float) -> TopTokens:
    """`candidates` of a large row.

    The smallest of the ``count`` greatest lane maxima is a lower bound for candidates, and lanes whose maxima reach it
    contain all candidates. For 152k values this takes 40 microseconds, and a partition of the row 1,000. NumPy is
    called rarely, since each call is slow right after a pass has evicted the processor's caches.
    """
    width = len(row) // _LANE
    end = _LANE * width
    lanes, tail = row[:end].reshape(_LANE, width), row[end:]
    maxima = np.maximum.reduce(lanes)
    ranked = maxima.copy()
    ranked.sort()  # NaN comes last
    highest, second = ranked.item(-1), ranked.item(-2)
    if len(tail):
        of_tail = float(np.maximum.reduce(tail))
        highest, second = float(np.maximum(highest, of_tail)), max(second, of_tail)  # NumPy's maximum propagates NaN
    check_finite(highest)
    if second < highest - margin:
        column = int(maxima.argmax())
        lane = lanes[:, column].tolist()
        if sum(logit >= highest - margin for logit in lane) == 1:
            index = lane.index(highest) * width + column
            return TopTokens(highest, row[index : index + 1], np.array([index]))
    border = max(highest - reach, ranked.item(-count))
    columns = (maxima >= border).nonzero()[0]
    logits = lanes.take(columns, 1).ravel()
    indices = (logits >= border).nonzero()[0]
    logits = logits[indices]
    if not len(tail):
        return TopTokens(highest, logits, indices, columns, width)
    rows, of_columns = np.divmod(indices, len(columns))
    more = (tail >= border).nonzero()[0]
    ids = np.concatenate((rows * width + columns[of_columns], more + end))
    return TopTokens(highest, np.concatenate((logits, tail[more])), ids)


def check_finite(highest: float) -> float:
    """Return ``highest``; raises `DecodeError` if it is not finite (a damaged model)."""
    if not isfinite(highest):
        raise not_finite_error()
    return highest


def not_finite_error() -> DecodeError:
    return DecodeError(
        "The model computed values that are not numbers.",
        "The file is probably damaged: download it again, or choose another one.",
    )
