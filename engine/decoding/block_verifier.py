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
    """Temperature above 0: keep as many tokens as the draft taken as a whole allows.

    With w_0 = 1 and w_i = min(1, w_{i-1} p(x_i) / q(x_i)), the longest prefix is kept whose own draw says so: the whole
    draft with probability w_k, i < k tokens with s / (s + 1 - w_i), s = sum max(0, w_i p - q). After i < k tokens the
    next comes from norm(max(0, w_i p - q)), after all of them from p. Then a prefix of i tokens is kept with
    probability w_i whatever was drafted after it, so the depth may be any function of the tokens drawn before.

    It asks for *every* row, not only for those up to a rejection (but for none after a token that the target cannot
    give): count that against its gain. A draft without ``q`` gains nothing and is verified token by token.

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
