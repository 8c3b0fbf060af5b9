"""Decides on a drawn draft as a whole, where `verifier` goes token by token: as exact, and never keeps fewer.

Block verification: Sun et al. 2024, arXiv 2403.10444, Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.decoding.verifier import Verdict, after_all, after_rejection, verify
from engine.drafters.base import Draft
from engine.records import TokenProbs
from engine.sampling.distribution import Distribution, excess_sum, residual


def verify_block(draft: Draft, p_at: Callable[[int], Distribution], uniform: Callable[[], float]) -> Verdict:
    """Temperature above 0: keep the longest prefix whose own draw accepts it.

    With w_0 = 1 and w_i = min(1, w_{i-1} p(x_i) / q(x_i)): accept all k tokens with probability w_k, else i < k tokens
    with s / (s + 1 - w_i), s = sum max(0, w_i p - q), longest first. Draw the next from norm(max(0, w_i p - q)), after
    k tokens from p. So i tokens are kept with probability w_i whatever follows them: the depth may depend on them.

    Needs every row up to the first token with p = 0, where `verify` stops at the first rejection. Without ``q`` both
    keep the same, and `verify` is used.

    Args:
        draft: ids [k] and q [k], each token drawn from its q; a chained n-gram token has a point mass there.
        p_at: the target's distribution after i kept tokens, i from 0 to k; asked for in order and at most once each.
        uniform: numbers in [0, 1), independent of those that the draft was drawn with.

    Example:
        p = (1/3, 2/3) and q = (2/3, 1/3) twice: 11/9 tokens are kept on average, token by token 10/9.
    """
    if draft.q is None:
        return verify(draft, p_at, uniform)
    probs: list[TokenProbs] = []
    rows, weights = _weigh(draft.ids, draft.q, p_at, probs)
    num_drafted = len(draft.ids)
    kept = len(weights) - 1
    while kept > 0 and not uniform() < _keep_probability(kept, rows, draft.q, weights):
        kept -= 1
    if kept == num_drafted:
        return after_all(draft, rows[kept], uniform(), probs)
    rest = residual(rows[kept], draft.q[kept], weights[kept])
    return after_rejection(kept, rows[kept], rest, uniform(), probs)


def _weigh(
    ids: list[int], q: list[Distribution], p_at: Callable[[int], Distribution], probs: list[TokenProbs]
) -> tuple[list[Distribution], list[float]]:
    """Give the target's rows and w_i for i from 0 to k, or up to the last one above 0: what follows it cannot be kept.

    ``probs`` gets p and q of the tokens that were looked at.
    """
    rows, weights = [p_at(0)], [1.0]
    for i, token_id in enumerate(ids):
        p_x, q_x = rows[i].prob(token_id), q[i].prob(token_id)
        probs.append((p_x, q_x))
        weight = min(1.0, weights[i] * p_x / q_x)
        if weight == 0.0:
            break
        weights.append(weight)
        rows.append(p_at(i + 1))
    return rows, weights


def _keep_probability(i: int, rows: list[Distribution], q: list[Distribution], weights: list[float]) -> float:
    """Give the probability that exactly i tokens are kept where no longer prefix was."""
    weight = weights[i]
    if i == len(q):
        return weight
    left = excess_sum(rows[i], q[i], weight)
    # Nothing left means that p and q agree here with all weight: then a longer prefix is kept but for rounding.
    return left / (left + 1.0 - weight) if left > 0.0 else 0.0
