"""Decides which proposed tokens the target accepts. Exact: the output has the target's own distribution.

A pass emits its accepted tokens and one more: a recovered token, sampled from the residual after a rejection, or a
bonus token after a full acceptance. Rows are passed as functions, which are called up to the first rejection only.

Leviathan et al. 2022, arXiv 2211.17192; Chen et al. 2023, arXiv 2302.01318. p is the target's, q the draft's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from engine.drafters.base import Draft
from engine.records import Source, TokenProbs
from engine.sampling.distribution import Distribution, excess_sum, point_mass, residual


def verify_block(draft: Draft, p_at: Callable[[int], Distribution], uniform: Callable[[], float]) -> Verdict:
    """Temperature above 0: accept the longest prefix that passes its test. Exact; never accepts fewer than `verify`.

    Block verification: Sun et al. 2024, arXiv 2403.10444, Algorithm 2.
    With w_0 = 1 and w_i = min(1, w_{i-1} p(x_i) / q(x_i)): accept all k tokens with probability w_k, else i < k tokens
    with s / (s + 1 - w_i), s = sum max(0, w_i p - q), longest first. Sample the next from norm(max(0, w_i p - q)),
    after k tokens from p. The first i tokens are all accepted with probability w_i whatever tokens follow, so the depth
    may depend on these i.

    Needs every row up to the first token with p = 0, while `verify` stops at the first rejection. Without ``q`` both
    accept the same tokens, so it calls `verify`.

    Args:
        draft: ids [k] and q [k], each token sampled from its q.
        p_at: the target's distribution after i accepted tokens, i from 0 to k; called in order, at most once each.
        uniform: numbers in [0, 1), independent of the draft's random numbers.

    Example:
        p = (1/3, 2/3) and q = (2/3, 1/3) for two tokens: 11/9 tokens are accepted on average, with `verify` 10/9.
    """
    if draft.q is None:
        return verify(draft, p_at, uniform)
    probs: list[TokenProbs] = []
    rows, weights = _rows_and_weights(draft.ids, draft.q, p_at, probs)
    num_drafted = len(draft.ids)
    kept = len(weights) - 1
    while kept > 0 and not uniform() < _acceptance_probability(kept, rows, draft.q, weights):
        kept -= 1
    if kept == num_drafted:
        return sample_bonus(draft, rows[kept], uniform(), probs)
    rest = residual(rows[kept], draft.q[kept], weights[kept])
    return recover_after_rejection(kept, rows[kept], rest, uniform(), probs)


def _rows_and_weights(
    ids: list[int], q: list[Distribution], p_at: Callable[[int], Distribution], probs: list[TokenProbs]
) -> tuple[list[Distribution], list[float]]:
    """Return the target's rows and w_i for i from 0 to k, or up to the last w_i above 0.

    Appends p and q of the tokens that were examined to ``probs``.
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


def _acceptance_probability(i: int, rows: list[Distribution], q: list[Distribution], weights: list[float]) -> float:
    """Probability that exactly i tokens are accepted, given that no longer prefix is."""
    weight = weights[i]
    if i == len(q):
        return weight
    left = excess_sum(rows[i], q[i], weight)
    # ``left`` is 0 only if p = q and the weight is 1; then a longer prefix is accepted, except for rounding.
    return left / (left + 1.0 - weight) if left > 0.0 else 0.0


class Verdict(NamedTuple):
    """``num_accepted`` proposed tokens are accepted, then ``next_id`` with provenance ``next_source`` follows.

    ``probs`` are p and q of the proposed tokens that were examined, ``next_p`` is p of ``next_id``; empty at
    temperature 0. They are for display only.
    """

    num_accepted: int
    next_id: int
    next_source: Source
    probs: Sequence[TokenProbs] = ()
    next_p: float | None = None


def verify_greedy(draft: Draft, argmax_at: Callable[[int], int]) -> Verdict:
    """Temperature 0: accept a proposed token iff it is the target's argmax; ``argmax_at(i)`` follows i accepted tokens.

    Example:
        draft [1, 2, 3], argmax 1, 5, ...: [1] is accepted and 5 recovered.
    """
    for i, token_id in enumerate(draft.ids):
        best = argmax_at(i)
        if best != token_id:
            return Verdict(i, best, Source.RECOVERED)
    return Verdict(len(draft.ids), argmax_at(len(draft.ids)), Source.BONUS if draft.ids else Source.TARGET)


def verify_seeded(
    draft: Draft, p_at: Callable[[int], Distribution], sample: Callable[[Distribution, int], int]
) -> Verdict:
    """With a seed: accept a proposed token iff the seed samples the same token from p at this position.

    The output equals that of plain decoding for every proposal (Daliri et al. 2024, arXiv 2408.07978).

    Args:
        draft: ids [k]; q is not used.
        p_at: the target's distribution after i accepted tokens, i from 0 to k; called in order, at most once each.
        sample: samples from a distribution with the seed's number for the position after i accepted tokens.
    """
    probs: list[TokenProbs] = []
    for i, token_id in enumerate(draft.ids):
        p = p_at(i)
        probs.append((p.prob(token_id), 1.0 if draft.q is None else draft.q[i].prob(token_id)))
        sampled = sample(p, i)
        if sampled != token_id:
            return Verdict(i, sampled, Source.RECOVERED, probs, p.prob(sampled))
    p = p_at(len(draft.ids))
    sampled = sample(p, len(draft.ids))
    return Verdict(len(draft.ids), sampled, Source.BONUS if draft.ids else Source.TARGET, probs, p.prob(sampled))


def verify(draft: Draft, p_at: Callable[[int], Distribution], uniform: Callable[[], float]) -> Verdict:
    """Temperature above 0: accept x with probability min(1, p(x) / q(x)), else end with norm(max(0, p - q)).

    Args:
        draft: ids [k], and q [k], or none if the proposal was deterministic (q = 1 on each token).
        p_at: the target's distribution after i accepted tokens, i from 0 to k; called in order, at most once each.
        uniform: numbers in [0, 1), independent of the draft's random numbers.
    """
    probs: list[TokenProbs] = []
    for i, token_id in enumerate(draft.ids):
        p = p_at(i)
        p_x = p.prob(token_id)
        q_x = 1.0 if draft.q is None else draft.q[i].prob(token_id)
        probs.append((p_x, q_x))
        if uniform() * q_x < p_x:
            continue
        q = point_mass(token_id) if draft.q is None else draft.q[i]
        return recover_after_rejection(i, p, residual(p, q), uniform(), probs)
    return sample_bonus(draft, p_at(len(draft.ids)), uniform(), probs)


def recover_after_rejection(
    kept: int, p: Distribution, rest: Distribution, uniform: float, probs: list[TokenProbs]
) -> Verdict:
    """Sample the next token from ``rest``, a residual of ``p``."""
    index = rest.index_at(uniform)
    return Verdict(kept, rest.id_at(index), Source.RECOVERED, probs, p.prob_at(index))


def sample_bonus(draft: Draft, p: Distribution, uniform: float, probs: list[TokenProbs]) -> Verdict:
    """All tokens are accepted; sample the next one from ``p``."""
    index = p.index_at(uniform)
    source = Source.BONUS if draft.ids else Source.TARGET
    return Verdict(len(draft.ids), p.id_at(index), source, probs, p.prob_at(index))
