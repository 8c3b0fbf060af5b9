"""The sampling chain: converts a row of logits to a distribution over tokens, or to the argmax at temperature 0.

The chain, in this order: bias, penalties over the last tokens, temperature, top-k, top-p, min-p. Target and draft use
the same chain: p and q are its results, which makes verification exact.

Under a grammar p is the chain's distribution without forbidden tokens, normalised: as if tokens were sampled until one
is allowed. If the chain leaves no allowed token, forbidden tokens are removed before the chain. At temperature 0 both
give the most likely allowed token.
"""

from collections.abc import Callable
from functools import cache
from math import exp, fsum, inf, log

import numpy as np
from numpy.random import PCG64, Generator  # imported early, since it would delay the first answer
from numpy.typing import NDArray

from engine.errors import GrammarError
from engine.interfaces import Candidates, Constraint
from engine.records import SamplingParams
from engine.sampling.distribution import Distribution, point_mass
from engine.sampling.top_k import MIN_CANDIDATE_VOCABULARY, Row, candidates, not_finite_error, within_reach

_GAMMA, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_MASK = 2**64 - 1
_UNUSED_BITS, _UNIT = 12, 2.0**-52  # leaves a bit to add 0.5, so that numbers are never 0 or 1
History = NDArray[np.int32]  # [num_tokens] ids, oldest first
# Log of a share of the most likely token that does not change a float64 sum: exp(-40) is 4e-18.
_NEGLIGIBLE_LOG = 40.0
# For the confidence of a draft, a large row is reduced to the maxima of blocks of this many tokens.
_BLOCK_TOKENS = 128
_MAX_SPARSE_BLOCKS = 256
# For fewer tokens, searching for the relevant ones takes longer than using all.
_MAX_DENSE_VOCABULARY = 49_152
# A dot product with ones takes about half of the time of NumPy's sum with the maximum subtracted; for more tokens
# OpenBLAS uses threads. Exponentials of logits up to the second value can be summed in single precision.
_MAX_SUMMED, _MAX_SUMMABLE_LOGIT = 8192, 60.0
_NUM_RANDOM = 256  # random numbers generated at once
_MAX_LISTED = 192  # up to this number, candidates are lists instead of arrays
_MIN_POSITIVE = 5e-324  # the smallest number above 0
# From this min-p on, the tokens that min-p leaves are tried first; with a lower value top-p mostly needs more.
_MIN_USEFUL_MIN_P = 0.02
# Without top-k, tokens with at least this share of the best token's probability are tried first. Then the share is
# squared, down to the last share.
_FIRST_SHARE, _LAST_SHARE, _ROUNDING = 1e-2, 1e-17, 1.0 + 1e-9
_CONFIDENCE_REACH = 12.0  # every token further below the best adds less than a 150,000th of the best
# If a grammar forbids the best token, these numbers of the most likely tokens are checked, then all tokens: a grammar
# checks three tokens per microsecond.
_NUM_LIKELIEST = (256, 4096)
_MAX_REFUSED = 2  # best tokens that are checked one by one before many are checked at once
_SAMPLING_STEP = 8  # of a flat row only every 8th token is read, since a low confidence need not be exact


# Samples the tokens of a seeded answer, which depend on the seed, the position and p, but not on drafts.
#
# The Gumbel-max trick with common random numbers: a counter-based generator gives a number for each (seed, position,
# token), and the sampled token is argmax log p + Gumbel. A draft that samples from q with the same numbers proposes the
# target's token with probability at least (1 - d) / (1 + d) for a total variation distance d of p and q (Daliri et al.
# 2024, arXiv 2408.07978); rejection sampling has 1 - d. The output is the same for every drafter, depth and batch.
#
# The generator is SplitMix64 (Steele, Lea, Flood 2014, doi 10.1145/2660193.2660195), one stream for each position, with
# the token's id as the counter.


class GumbelNoise:
    """The random numbers of one seed at every position of a sequence."""

    def __init__(self, seed: int) -> None:
        self._key = _mix(seed + _GAMMA & _MASK)

    def sample(self, p: Distribution, position: int) -> int:
        """Sample the token at index ``position`` of the sequence from ``p``."""
        if p.sparse_ids is not None:
            return self._sample_of_few(*p.sparse_ids, position)
        nonzero = p.probs.nonzero()[0]
        ids = nonzero if p.ids is None else p.ids[nonzero]
        return int(ids[(self.exponentials(ids, position) / p.probs[nonzero]).argmin()])

    def exponentials(self, ids: NDArray[np.int64], position: int) -> NDArray[np.float64]:
        """Exponentially distributed numbers E [n] of these tokens, with mean 1; -log E are Gumbel numbers."""
        numbers = ids.astype(np.uint64) * np.uint64(_GAMMA) + np.uint64(self._stream(position))
        numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(_MIX_1)
        numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(_MIX_2)
        numbers ^= numbers >> np.uint64(31)
        found: NDArray[np.float64] = -np.log(((numbers >> np.uint64(_UNUSED_BITS)).astype(np.float64) + 0.5) * _UNIT)
        return found

    def _sample_of_few(self, probs: list[float], ids: list[int], position: int) -> int:
        """In plain Python, which is faster for a few dozen tokens right after a pass, as in `Distribution`."""
        if len(ids) == 1:
            return ids[0]
        stream, best_id, least = self._stream(position), ids[0], inf
        for prob, token_id in zip(probs, ids, strict=True):
            if prob > 0.0:
                number = _mix(token_id * _GAMMA + stream & _MASK)
                time = -log(((number >> _UNUSED_BITS) + 0.5) * _UNIT) / prob
                if time < least:
                    best_id, least = token_id, time
        return best_id

    def _stream(self, position: int) -> int:
        return _mix(self._key + (position + 1) * _GAMMA & _MASK)


def _mix(number: int) -> int:
    """The output function of SplitMix64."""
    number = (number ^ number >> 30) * _MIX_1 & _MASK
    number = (number ^ number >> 27) * _MIX_2 & _MASK
    return number ^ number >> 31


class Sampler:
    """The chain for one answer. It may write into rows that are passed to it."""

    def __init__(
        self,
        params: SamplingParams,
        banned_ids: frozenset[int] = frozenset(),
        constraint: Constraint | None = None,
        random: Generator | None = None,
        *,
        banned_before: float = inf,
    ) -> None:
        """``banned_ids`` cannot be chosen at indices below ``banned_before``.

        ``constraint`` is the answer's grammar; ``random`` is used without a seed.
        """
        self.params = params
        self._constraint = constraint
        self._biased = np.array([token_id for token_id, _ in params.logit_bias], dtype=np.int64)
        self._biases = np.array([bias for _, bias in params.logit_bias], dtype=np.float32)
        self._rng = random or Generator(PCG64())
        self._numbers: list[float] = []
        self._banned = np.array(sorted(banned_ids), dtype=np.int64)
        self._banned_before = banned_before
        self._penalties = params.penalty_last_n > 0 and (
            params.repeat_penalty != 1.0 or params.frequency_penalty != 0.0 or params.presence_penalty != 0.0
        )
        self.greedy = params.greedy  # whether every choice is the argmax
        self.noise = GumbelNoise(params.seed) if params.seed is not None and not params.greedy else None
        self._edits = self._penalties or len(self._banned) > 0 or len(self._biased) > 0
        self._decisive_margin, self._min_p_reach = _decisive_margin(params), _min_p_reach(params)

    def bans(self, ids: frozenset[int]) -> bool:
        """Whether none of ``ids`` can ever be chosen; False if ``ids`` is empty."""
        return bool(ids) and self._banned_before == inf and ids.issubset(self._banned.tolist())

    def uniform(self) -> float:
        """The next number in [0, 1) of the answer's random stream."""
        if not self._numbers:  # generated in blocks, since right after a pass a call takes 20 microseconds
            self._numbers = self._rng.random(_NUM_RANDOM)[::-1].tolist()
        return self._numbers.pop()

    def sample(self, distribution: Distribution, position: int) -> int:
        """Sample the token at index ``position`` of the sequence."""
        if self.noise is None:
            return distribution.sample(self.uniform())
        return self.noise.sample(distribution, position)

    def choose(self, row: Row, history: History, pending: list[int]) -> int:
        """Choose the token after ``history`` and ``pending``: the argmax at temperature 0, else sampled.

        Raises:
            DecodeError: the row is not finite (a damaged model).
            GrammarError: no token may follow.
        """
        if self.greedy:
            return self.argmax(row, history, pending)
        return self.sample(self.distribution(row, history, pending), len(history) + len(pending))

    def argmax(self, row: Row, history: History, pending: list[int]) -> int:
        """The most likely token after penalties that the grammar allows; of equally likely tokens the lowest id.

        Raises:
            DecodeError: the row is not finite (a damaged model).
            GrammarError: no token may follow.
        """
        if self._edits:
            self._apply_biases_and_penalties(row, history, pending)
        if self._constraint is not None:
            return self._allowed_argmax(row, self._constraint, history, pending)
        return argmax(row)

    def distribution(self, row: Row, history: History, pending: list[int]) -> Distribution:
        """The chain's distribution for ``row``, which follows ``history`` and the ``pending`` tokens of a draft.

        Raises:
            DecodeError: the row is not finite (a damaged model).
            GrammarError: no token may follow.
        """
        if self.greedy:
            return point_mass(self.argmax(row, history, pending))
        if self._edits:
            self._apply_biases_and_penalties(row, history, pending)
        found = _chain(row, self.params, self._min_p_reach, self._decisive_margin)
        if self._constraint is None:
            return found
        return self._constrained(found, row, self._constraint, history, pending)

    def allowed_candidates(
        self, candidates: Candidates, n_vocab: int, history: History, pending: list[int]
    ) -> Candidates:
        """The ``candidates`` below ``n_vocab`` that may follow, with penalties applied; possibly none."""
        ids, logits = candidates.ids, candidates.logits
        if not len(ids):
            return candidates
        if self._constraint is not None:
            may_follow = self._constraint.allows(history, pending, ids.tolist())
            if may_follow is not None:
                ids, logits = ids[may_follow], logits[may_follow]
                if not len(ids):
                    return Candidates(ids, logits)
        banned = self._banned_at(history, pending)
        if ids[-1] >= n_vocab or len(banned):
            kept = (ids < n_vocab) & ~np.isin(ids, banned)
            ids, logits = ids[kept], logits[kept]
        if len(self._biased) and len(ids):
            indices = np.minimum(ids.searchsorted(self._biased), len(ids) - 1)
            inside = ids[indices] == self._biased
            logits[indices[inside]] += self._biases[inside]
        if self._penalties and len(ids):
            self._penalize(logits, history, pending, ids)
        return Candidates(ids, logits)

    def allowed_distribution(self, allowed: Candidates) -> Distribution:
        """The chain's distribution, above temperature 0, of candidates from `allowed_candidates`.

        Raises:
            DecodeError: the logits are not finite (a damaged model).
        """
        found = _chain(allowed.logits, self.params, self._min_p_reach)
        if found.sparse_ids is not None:
            return Distribution.sparse(found.sparse_ids[0], allowed.ids[found.sparse_ids[1]].tolist())
        return Distribution(found.probs, allowed.ids if found.ids is None else allowed.ids[found.ids])

    def _allowed_argmax(self, row: Row, constraint: Constraint, history: History, pending: list[int]) -> int:
        """The most likely allowed token of ``row``; sets the logits of likelier forbidden tokens to -inf."""
        best = argmax(row)
        for _ in range(_MAX_REFUSED):
            allowed = constraint.allows(history, pending, [best])
            if allowed is None or allowed[0]:
                return best
            row[best] = -np.inf
            best = int(row.argmax())
        ids = self._likely_allowed(
            row, constraint, history, pending, lambda allowed, least: bool(allowed.max() > least)
        )
        ids.sort()
        kept = row[ids]
        row[row > kept.max()] = -np.inf
        return int(ids[kept.argmax()])

    def _constrained(
        self, found: Distribution, row: Row, constraint: Constraint, history: History, pending: list[int]
    ) -> Distribution:
        """Remove forbidden tokens from ``found``, the chain's distribution for ``row``."""
        if found.sparse_ids is not None:
            probs, ids = found.sparse_ids
            allowed = constraint.allows(history, pending, ids)
            if allowed is None or allowed.all():
                return found
            kept = [(probs[i], ids[i]) for i in allowed.nonzero()[0].tolist()]
            if (total := fsum(x for x, _ in kept)) > 0.0:
                return Distribution.sparse([x / total for x, _ in kept], [token_id for _, token_id in kept])
        else:
            nonzero = found.probs.nonzero()[0]
            many = nonzero if found.ids is None else found.ids[nonzero]
            allowed = constraint.allows(history, pending, many)
            if allowed is None:
                return found
            weights = found.probs[nonzero[allowed]]
            if (total := float(weights.sum())) > 0.0:
                return Distribution(weights / total, many[allowed])
        return self._chain_of_allowed(row, constraint, history, pending)

    def _chain_of_allowed(self, row: Row, constraint: Constraint, history: History, pending: list[int]) -> Distribution:
        """Apply the chain to the allowed tokens of ``row``."""
        params = self.params
        reach = _NEGLIGIBLE_LOG * params.temperature
        if params.top_p == 1.0:  # otherwise tokens that min-p drops count for top-p
            reach = min(reach, self._min_p_reach)

        def is_enough(allowed: Row, least: float) -> bool:
            """Whether the chain would drop all tokens below ``least``."""
            return 0 < params.top_k <= len(allowed) or bool(least < allowed.max() - reach)

        ids = self._likely_allowed(row, constraint, history, pending, is_enough)
        ids.sort()
        return self.allowed_distribution(Candidates(ids, row[ids]))

    @staticmethod
    def _likely_allowed(
        row: Row,
        constraint: Constraint,
        history: History,
        pending: list[int],
        is_enough: Callable[[Row, float], bool],
    ) -> NDArray[np.int64]:
        """Ids of allowed tokens, unordered: at least one, and all tokens above some logit.

        ``is_enough`` is called with the logits of the found tokens, and the least checked logit.

        Raises:
            GrammarError: no token is allowed.
        """
        for count in _NUM_LIKELIEST:
            if count >= len(row):
                break
            ids = np.argpartition(row, len(row) - count)[-count:]
            allowed = constraint.allows(history, pending, ids)
            if allowed is None:
                break
            found = ids[allowed]
            found = found[row[found] > -np.inf]
            if len(found) and is_enough(row[found], float(row[ids].min())):
                return found
        everything = constraint.all_allowed(history, pending)
        if everything is None:
            return np.arange(len(row))
        everything = everything[everything < len(row)]
        everything = everything[row[everything] > -np.inf]
        if not len(everything):
            raise GrammarError("No token of this model can continue as the grammar requires.")
        return everything

    def _banned_at(self, history: History, pending: list[int]) -> NDArray[np.int64]:
        return self._banned if len(history) + len(pending) < self._banned_before else self._banned[:0]

    def _apply_biases_and_penalties(self, row: Row, history: History, pending: list[int]) -> None:
        banned = self._banned_at(history, pending)
        if len(banned):
            row[banned[banned < len(row)]] = -np.inf
        if len(self._biased):
            inside = self._biased < len(row)
            row[self._biased[inside]] += self._biases[inside]
        if self._penalties:
            self._penalize(row, history, pending)

    def _penalize(
        self, row: Row, history: History, pending: list[int], of_ids: NDArray[np.int64] | None = None
    ) -> None:
        """Repetition, frequency and presence penalties, as in llama.cpp's `llama_sampler_penalties`.

        ``row`` [n] has the logits of the tokens ``of_ids`` [n], ascending; None: of all tokens.
        """
        params = self.params
        window = params.penalty_last_n
        tail = history[-window:]
        if pending:
            tail = np.concatenate((tail, np.asarray(pending, dtype=np.int32)))[-window:]
        ids, counts = np.unique(tail, return_counts=True)
        if of_ids is None:
            inside = (ids >= 0) & (ids < len(row))  # ids of pictures are negative
            indices = ids[inside]
        else:
            indices = np.minimum(of_ids.searchsorted(ids), len(of_ids) - 1)
            inside = of_ids[indices] == ids
            indices = indices[inside]
        counts = counts[inside]
        values = row[indices]
        values = np.where(values > 0, values / params.repeat_penalty, values * params.repeat_penalty)
        row[indices] = values - counts * params.frequency_penalty - params.presence_penalty


def argmax(row: Row) -> int:
    """Index of the greatest value of ``row``; of equal values the first.

    Raises:
        DecodeError: the row is not finite (a damaged model).
    """
    best = int(row.argmax())
    if row[best] != row[best]:  # NaN is the only value that differs from itself, and argmax finds it
        raise not_finite_error()
    return best


def top_probability(row: Row, best: int) -> float:
    """The softmax probability of ``best``, the argmax of ``row``: the draft's confidence. May change ``row``."""
    highest = row[best]
    if len(row) <= _MAX_SUMMED and -_MAX_SUMMABLE_LOGIT < highest < _MAX_SUMMABLE_LOGIT:
        np.exp(row, row)  # in place, since right after a pass other memory is not in the processor's caches
        return min(1.0, float(row.item(best) / row.dot(_ones(len(row))).item()))
    if len(row) < _MAX_DENSE_VOCABULARY:
        row -= highest
        return 1.0 / float(np.add.reduce(np.exp(row, row)))
    width = len(row) // _BLOCK_TOKENS
    blocks, tail = row[: _BLOCK_TOKENS * width].reshape(_BLOCK_TOKENS, width), row[_BLOCK_TOKENS * width :]
    columns = np.flatnonzero(np.maximum.reduce(blocks, axis=0) > highest - np.float32(_CONFIDENCE_REACH))
    if len(columns) <= _MAX_SPARSE_BLOCKS:
        total = float(np.exp(blocks[:, columns] - highest).sum()) + float(np.exp(tail - highest).sum())
        return min(1.0, 1.0 / total)
    sampled = float(np.exp(row[::_SAMPLING_STEP] - highest).sum()) - (best % _SAMPLING_STEP == 0)
    return 1.0 / (1.0 + _SAMPLING_STEP * sampled)


@cache
def _ones(count: int) -> Row:
    return np.ones(count, dtype=np.float32)


def _chain(row: Row, params: SamplingParams, reach: float = inf, margin: float = inf) -> Distribution:
    """Apply temperature, top-k, top-p and min-p to a row after penalties; see `_min_p_reach` and `_decisive_margin`."""
    if reach < inf and len(row) < MIN_CANDIDATE_VOCABULARY:
        few, ids = within_reach(row, reach)
        if len(ids) == 1:
            return point_mass(ids[0])
        if len(ids) <= _MAX_LISTED and (left := _truncate_few(few, params, is_all=False)) is not None:
            return Distribution.sparse(left[0], [ids[i] for i in left[1]])
    found = candidates(row, _NEGLIGIBLE_LOG * params.temperature, params.top_k, margin)
    logits = found.logits
    if params.top_p < 1.0 or 0 < params.top_k < len(row):
        if len(logits) <= _MAX_LISTED and (left := _truncate_few(logits.tolist(), params)) is not None:
            return Distribution.sparse(left[0], found.ids_at(left[1]))
        indices, weights = _truncate(logits, found.highest, params)
        return Distribution(weights / np.add.reduce(weights), found.ids_of(indices))
    weights = np.exp((logits.astype(np.float64) - found.highest) / params.temperature)
    if params.min_p > 0.0:
        weights[weights < params.min_p] = 0.0  # the best token's weight is exactly 1
    if found.is_row:
        return Distribution(weights / weights.sum())
    indices = weights.nonzero()[0]
    weights = weights[indices]
    return Distribution(weights / weights.sum(), found.ids_of(indices))


def _min_p_reach(params: SamplingParams) -> float:
    """Distance below the greatest logit within which min-p keeps tokens; infinite if those would rarely suffice."""
    if params.greedy or params.min_p < _MIN_USEFUL_MIN_P:
        return inf
    return _ROUNDING * -params.temperature * log(params.min_p)


def _decisive_margin(params: SamplingParams) -> float:
    """How much the greatest logit must exceed all others so that the chain leaves only the best token.

    Then either min-p drops all others, or the best token alone has top-p's share of all that top-k leaves.
    """
    if params.greedy or params.top_k < 2:
        return inf
    share = max(params.min_p, (1.0 / params.top_p - 1.0) / (params.top_k - 1))
    return _ROUNDING * -params.temperature * log(min(share, 1.0)) if share > 0.0 else inf


def _truncate_few(
    logits: list[float], params: SamplingParams, *, is_all: bool = True
) -> tuple[list[float], list[int]] | None:
    """Probabilities and indices of the candidates that top-k, top-p and min-p leave; of equal logits the first wins.

    It uses lists, since right after a pass the first call of each NumPy function is slow. ``is_all`` False: ``logits``
    are only the candidates that min-p can leave. Then the result is None if top-p could depend on missing candidates.
    """
    ranked = sorted(logits, reverse=True)
    highest, temperature = ranked[0], params.temperature
    if params.top_k > 0:
        del ranked[params.top_k :]
    weights = [exp((logit - highest) / temperature) for logit in ranked]
    wanted = params.top_p * sum(weights) if is_all and params.top_p < 1.0 else inf
    least = params.min_p or _MIN_POSITIVE
    share, count = 0.0, 0
    for weight in weights:
        if weight < least:
            break
        share += weight
        count += 1
        if share >= wanted:  # the smallest set of the most likely tokens with top-p's share
            break
    if not is_all and _ROUNDING * (share - weights[count - 1]) >= params.top_p * share:
        return None
    last = ranked[count - 1]
    kept = [i for i, logit in enumerate(logits) if logit >= last]
    if len(kept) > count:
        ties = [i for i in kept if logits[i] == last]
        dropped = set(ties[count - len(kept) :])
        kept = [i for i in kept if i not in dropped]
    return [exp((logits[i] - highest) / temperature) / share for i in kept], kept


def _truncate(logits: Row, highest: float, params: SamplingParams) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Indices (ascending) and weights of tokens that top-k, top-p and min-p leave; of equal logits the first wins."""
    if params.top_k == 0:
        return _nucleus(logits, highest, params)
    order = (-logits).argsort(kind="stable")[: params.top_k]
    weights = _weights(logits[order], highest, params)
    if params.min_p > 0.0:
        count = int((-weights).searchsorted(-params.min_p, side="right"))
    else:
        count = int(np.count_nonzero(weights))
    if params.top_p < 1.0:  # the smallest set of the most likely tokens with top-p's share
        cumulated = weights.cumsum()
        count = min(count, int(cumulated.searchsorted(params.top_p * cumulated[-1])) + 1)
    order = order[:count]
    ascending = order.argsort()
    return order[ascending], weights[ascending]


def _weights(logits: Row, highest: float, params: SamplingParams) -> NDArray[np.float64]:
    """Probabilities relative to the most likely token's."""
    weights: NDArray[np.float64] = np.subtract(logits, highest, dtype=np.float64)
    weights /= params.temperature
    return np.exp(weights, out=weights)


def _nucleus(logits: Row, highest: float, params: SamplingParams) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """`_truncate` without top-k. Sorts only tokens that top-p can leave: sorting 152k takes tens of milliseconds."""
    weights = _weights(logits, highest, params)
    wanted, least = params.top_p * float(np.add.reduce(weights)), _FIRST_SHARE
    while True:
        indices = (weights >= max(least, params.min_p)).nonzero()[0]
        found = weights[indices]
        if least < params.min_p or least < _LAST_SHARE or np.add.reduce(found) > _ROUNDING * wanted:
            break
        least *= least
    order = (-logits[indices]).argsort(kind="stable")
    order = order[: int(found[order].cumsum().searchsorted(wanted)) + 1]
    order.sort()
    return indices[order], found[order]
