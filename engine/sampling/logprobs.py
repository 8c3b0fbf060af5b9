"""Log probabilities from raw logits, before the sampling chain."""

from typing import NamedTuple

import numpy as np

from engine.sampling.top_k import Row, candidates


class RowLogprob(NamedTuple):
    """Log probability of the chosen token, and of the most likely tokens in descending order."""

    logprob: float
    top: list[tuple[int, float]]


def row_logprob(row: Row, token_id: int, num_top: int) -> RowLogprob:
    """Log probabilities of a token and of the ``num_top`` most likely tokens from a row of logits [n_vocab].

    Raises:
        DecodeError: the row is not finite (a damaged model).
    """
    found = candidates(row, np.inf, max(num_top, 1))
    total = found.highest + float(np.log(np.exp(row.astype(np.float64) - found.highest).sum()))
    order = np.argsort(-found.logits, kind="stable")[:num_top]
    ids = found.ids_of(order)
    top = [(int(one), float(row[one]) - total) for one in ids]
    return RowLogprob(float(row[token_id]) - total, top)
