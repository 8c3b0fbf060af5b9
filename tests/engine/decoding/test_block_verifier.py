"""Proves block verification exact: by enumerating every draft and decision, and by samples of the real function.

The enumeration runs the real function with numbers that answer each comparison both ways and record its threshold. So
the distribution of emitted tokens is computed exactly, without sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import engine.decoding.verifier
from engine.decoding.verifier import Verdict, verify, verify_block
from engine.drafters.base import Draft
from engine.records import Source, TokenProbs
from engine.sampling.distribution import Distribution, point_mass, residual, weighted_excess
from tests.engine.decoding.test_verifier import N_VOCAB, Scripted, chi_square_p

NUM_TOKENS = 3
Prefix = tuple[int, ...]
Verify = Callable[[Draft, Callable[[int], Distribution], Callable[[], float]], Verdict]
Chain = dict[Prefix, float]


@dataclass
class Forks:
    """Uniform numbers whose comparisons have given results, then True; records the probability of each result."""

    told: list[bool]
    taken: list[bool] = field(default_factory=list)
    probability: float = 1.0

    def __call__(self) -> Number:
        return Number(self)

    def below(self, threshold: float) -> bool:
        threshold = min(1.0, max(0.0, threshold))
        outcome = self.told[len(self.taken)] if len(self.taken) < len(self.told) else True
        self.taken.append(outcome)
        self.probability *= threshold if outcome else 1.0 - threshold
        return outcome


@dataclass
class Number:
    """A number in [0, 1) that is undecided until it is compared."""

    forks: Forks
    scale: float = 1.0

    def __mul__(self, factor: float) -> Number:
        return Number(self.forks, self.scale * factor)

    def __lt__(self, threshold: float) -> bool:
        return self.forks.below(threshold / self.scale)


def outcomes(how: Verify, draft: Draft, p_at: Callable[[int], Distribution]) -> Iterator[tuple[float, int, Chain]]:
    """Every possible (probability, number of accepted tokens, distribution of the next token) of the function."""
    drawn: list[Distribution] = []

    def note(distribution: Distribution, _uniform: object) -> int:
        drawn.append(distribution)
        return -1

    waiting: list[list[bool]] = [[]]
    while waiting:
        forks = Forks(waiting.pop())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Distribution, "index_at", note)
            verdict = how(draft, p_at, forks)  # type: ignore[arg-type]
        waiting += [[*forks.taken[:i], False] for i in range(len(forks.told), len(forks.taken))]
        if forks.probability > 0.0:
            yield forks.probability, verdict.num_accepted, {(x,): drawn[-1].prob(x) for x in range(NUM_TOKENS)}


class Instance:
    """A random target and draft; each distribution depends on all earlier tokens, or only on the last one."""

    def __init__(self, seed: int, depth: int, *, markov: bool, adaptive: bool) -> None:
        self._rng = np.random.default_rng(seed)
        self._markov = markov
        self._tables: dict[tuple[str, Prefix], Distribution] = {}
        self._stops: dict[Prefix, bool] = {}
        self.depth = depth
        self._adaptive = adaptive

    def p(self, prefix: Prefix) -> Distribution:
        return self._table("p", prefix)

    def q(self, prefix: Prefix) -> Distribution:
        return self._table("q", prefix)

    def stops(self, prefix: Prefix) -> bool:
        """Whether drafting ends here; known before the next token is sampled."""
        if len(prefix) == self.depth:
            return True
        if self._adaptive and prefix not in self._stops:
            self._stops[prefix] = bool(self._rng.random() < 0.4)
        return self._adaptive and self._stops[prefix]

    def drafts(self, prefix: Prefix = (), probability: float = 1.0) -> Iterator[tuple[float, Draft]]:
        """Every draft with its probability."""
        if self.stops(prefix):
            q = [self.q(prefix[:i]) for i in range(len(prefix))]
            yield probability, Draft(list(prefix), Source.DRAFT, q)
            return
        for x in range(NUM_TOKENS):
            share = self.q(prefix).prob(x)
            if share > 0.0:
                yield from self.drafts((*prefix, x), probability * share)

    def _table(self, which: str, prefix: Prefix) -> Distribution:
        key = (which, prefix[-1:] if self._markov else prefix)
        if key not in self._tables:
            other = self._tables.get(("q" if which == "p" else "p", key[1]))
            same = other is not None and self._rng.random() < 0.2
            self._tables[key] = other if other is not None and same else self._random()
        return self._tables[key]

    def _random(self) -> Distribution:
        weights = self._rng.choice([0.0, 1.0, 2.0, 5.0, 40.0], NUM_TOKENS) * self._rng.random(NUM_TOKENS)
        weights[self._rng.integers(NUM_TOKENS)] += 0.1
        probs = weights / weights.sum()
        ids = np.flatnonzero(probs)
        return Distribution(probs[ids], ids) if self._rng.random() < 0.5 else Distribution(probs)


def target_chain(instance: Instance, prefix: Prefix = (), probability: float = 1.0) -> Iterator[tuple[Prefix, float]]:
    """The exact distribution of ``depth + 1`` tokens after ``prefix``."""
    if len(prefix) == instance.depth + 1:
        yield prefix, probability
        return
    for x in range(NUM_TOKENS):
        yield from target_chain(instance, (*prefix, x), probability * instance.p(prefix).prob(x))


def emitted_chain(how: Verify, instance: Instance, change: Callable[[Draft], Draft] = lambda draft: draft) -> Chain:
    """The exact distribution of the first ``depth + 1`` emitted tokens; short blocks are continued with plain p."""
    chain: Chain = {}
    for drawn, whole in instance.drafts():
        draft = change(whole)
        ids = tuple(draft.ids)
        for decided, kept, following in outcomes(how, draft, lambda i, ids=ids: instance.p(ids[:i])):  # type: ignore[misc]
            for (x,), share in following.items():
                for path, probability in target_chain(instance, (*ids[:kept], x), drawn * decided * share):
                    chain[path] = chain.get(path, 0.0) + probability
    return chain


def mean_kept(how: Verify, instance: Instance) -> float:
    """The expected number of accepted tokens, exactly."""
    total = 0.0
    for drawn, draft in instance.drafts():
        ids = tuple(draft.ids)
        for decided, kept, _ in outcomes(how, draft, lambda i, ids=ids: instance.p(ids[:i])):  # type: ignore[misc]
            total += drawn * decided * kept
    return total


def largest_error(how: Verify, instance: Instance, change: Callable[[Draft], Draft] = lambda draft: draft) -> float:
    """The largest difference of any path's probability from the target's own."""
    chain = emitted_chain(how, instance, change)
    return max(abs(chain.get(path, 0.0) - probability) for path, probability in target_chain(instance))


@settings(max_examples=150)
@given(st.integers(0, 2**31), st.integers(1, 3), st.booleans(), st.booleans())
def test_what_comes_out_is_the_target_exactly(seed: int, depth: int, markov: bool, adaptive: bool) -> None:
    assert largest_error(verify_block, Instance(seed, depth, markov=markov, adaptive=adaptive)) < 1e-9


@settings(max_examples=50)
@given(st.integers(0, 2**31), st.integers(1, 3), st.booleans())
def test_the_same_proof_holds_token_by_token(seed: int, depth: int, adaptive: bool) -> None:
    assert largest_error(verify, Instance(seed, depth, markov=False, adaptive=adaptive)) < 1e-9


@settings(max_examples=100)
@given(st.integers(0, 2**31), st.integers(1, 3), st.booleans())
def test_never_fewer_tokens_than_token_by_token(seed: int, depth: int, adaptive: bool) -> None:
    instance = Instance(seed, depth, markov=False, adaptive=adaptive)
    assert mean_kept(verify_block, instance) >= mean_kept(verify, instance) - 1e-12


class TwoCoins(Instance):
    """The example in the paper's introduction: p = (1/3, 2/3), q = (2/3, 1/3), two tokens."""

    def __init__(self) -> None:
        super().__init__(0, 2, markov=False, adaptive=False)

    def p(self, prefix: Prefix) -> Distribution:
        return Distribution(np.array([1 / 3, 2 / 3]), np.array([0, 1]))

    def q(self, prefix: Prefix) -> Distribution:
        return Distribution(np.array([2 / 3, 1 / 3]), np.array([0, 1]))


@pytest.mark.parametrize(("how", "kept"), [(verify_block, Fraction(11, 9)), (verify, Fraction(10, 9))])
def test_the_example_of_the_paper(how: Verify, kept: Fraction) -> None:
    assert mean_kept(how, TwoCoins()) == pytest.approx(float(kept), abs=1e-12)


def instances() -> list[Instance]:
    return [Instance(seed, 2, markov=False, adaptive=False) for seed in range(20)]


def test_the_proof_notices_a_residual_without_the_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.decoding.verifier, "residual", lambda p, q, _weight: residual(p, q))
    assert max(largest_error(verify_block, instance) for instance in instances()) > 1e-3


def test_the_proof_notices_a_last_token_judged_like_the_inner_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    def like_inner(i: int, rows: list[Distribution], q: list[Distribution], weights: list[float]) -> float:
        left = float(weighted_excess(rows[i], q[min(i, len(q) - 1)], weights[i]).sum())
        return left / (left + 1.0 - weights[i]) if left > 0.0 else 0.0

    monkeypatch.setattr(engine.decoding.verifier, "_acceptance_probability", like_inner)
    assert max(largest_error(verify_block, instance) for instance in instances()) > 1e-3


def test_the_proof_notices_weights_that_forget_the_tokens_before(monkeypatch: pytest.MonkeyPatch) -> None:
    weigh = engine.decoding.verifier._rows_and_weights

    def forgetful(
        ids: list[int], q: list[Distribution], p_at: Callable[[int], Distribution], looks: list[TokenProbs]
    ) -> tuple[list[Distribution], list[float]]:
        rows, weights = weigh(ids, q, p_at, looks)
        alone = [min(1.0, rows[i].prob(ids[i]) / q[i].prob(ids[i])) for i in range(len(weights) - 1)]
        return rows, [1.0, *alone]

    monkeypatch.setattr(engine.decoding.verifier, "_rows_and_weights", forgetful)
    assert max(largest_error(verify_block, instance) for instance in instances()) > 1e-3


def test_the_proof_notices_a_drawn_tail_dropped_for_low_confidence() -> None:
    def drop(draft: Draft) -> Draft:
        assert draft.q is not None
        if draft.q[1].prob(draft.ids[1]) < 0.4:
            return Draft(draft.ids[:1], draft.source, draft.q[:1])
        return draft

    assert max(largest_error(verify_block, instance, drop) for instance in instances()) > 1e-3


class Harsh(Scripted):
    """A smooth target and a draft that prefers its unlikely tokens, so that blocks are often cut."""

    def __init__(self) -> None:
        super().__init__()
        rng = np.random.default_rng(3)
        ramp = np.arange(1.0, N_VOCAB + 1) / np.arange(1.0, N_VOCAB + 1).sum()
        self.p = np.array([rng.permutation(ramp) for _ in range(N_VOCAB + 1)])
        self.q = 2 / N_VOCAB - self.p
        self.exact = self.p[N_VOCAB][:, None] * self.p[:N_VOCAB]


def sample(rng: np.random.Generator, scripted: Scripted, depth_after: Callable[[list[int]], int]) -> Draft:
    ids: list[int] = []
    q: list[Distribution] = []
    last = N_VOCAB
    while len(ids) < depth_after(ids):
        q.append(Distribution(scripted.q[last]))
        last = q[-1].sample(rng.random())
        ids.append(last)
    return Draft(ids, Source.DRAFT, q)


def sample_pairs(scripted: Scripted, depth_after: Callable[[list[int]], int], num_samples: int) -> NDArray[np.int64]:
    """Counts of the first two emitted tokens [n_vocab, n_vocab]; the second from plain p if the block was short."""
    rng = np.random.default_rng(5)
    counts = np.zeros((N_VOCAB, N_VOCAB), dtype=np.int64)
    for _ in range(num_samples):
        draft = sample(rng, scripted, depth_after)
        path = [N_VOCAB, *draft.ids]
        verdict = verify_block(draft, lambda i, path=path: Distribution(scripted.p[path[i]]), rng.random)  # type: ignore[misc]
        emitted = [*draft.ids[: verdict.num_accepted], verdict.next_id]
        if len(emitted) < 2:
            emitted.append(Distribution(scripted.p[emitted[0]]).sample(rng.random()))
        counts[emitted[0], emitted[1]] += 1
    return counts


@pytest.mark.parametrize(
    "depth_after",
    [lambda _ids: 3, lambda ids: 1 if ids and ids[0] % 2 else 3],
    ids=["fixed", "stopped-by-the-first-token"],
)
def test_samples_of_the_real_function_are_distributed_as_plain_decoding(
    depth_after: Callable[[list[int]], int],
) -> None:
    scripted = Harsh()
    assert chi_square_p(sample_pairs(scripted, depth_after, 20_000), scripted.exact) > 0.001


def test_samples_notice_a_residual_without_the_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.decoding.verifier, "residual", lambda p, q, _weight: residual(p, q))
    scripted = Harsh()
    assert chi_square_p(sample_pairs(scripted, lambda _ids: 3, 20_000), scripted.exact) < 1e-6


P = Distribution(np.array([0.5, 0.5]))


def test_a_draft_without_q_is_verified_token_by_token() -> None:
    draft = Draft([0, 0], Source.NGRAM)
    numbers = [0.4, 0.6, 0.0]
    verdict = verify_block(draft, lambda _i: P, iter(numbers).__next__)
    assert verdict == verify(draft, lambda _i: P, iter(numbers).__next__)
    assert verdict[:3] == (1, 1, Source.RECOVERED)


def test_a_chained_token_without_choice_has_a_point_mass() -> None:
    draft = Draft([0, 1], Source.DRAFT, [point_mass(0), P])
    assert verify_block(draft, lambda _i: P, iter([0.4, 0.9]).__next__)[:3] == (2, 1, Source.BONUS)
    assert verify_block(draft, lambda _i: P, iter([0.6, 0.6, 0.0]).__next__)[:3] == (0, 1, Source.RECOVERED)


def test_an_empty_draft_is_plain_decoding() -> None:
    assert verify_block(Draft([], Source.DRAFT, []), lambda _i: P, lambda: 0.9)[:3] == (0, 1, Source.TARGET)


def test_equal_models_keep_everything_and_every_row_is_asked_for_once() -> None:
    asked: list[int] = []

    def p_at(i: int) -> Distribution:
        asked.append(i)
        return P

    draft = Draft([0, 1, 0], Source.DRAFT, [P, P, P])
    assert verify_block(draft, p_at, lambda: 1 - 2**-53)[:3] == (3, 1, Source.BONUS)
    assert asked == [0, 1, 2, 3]


def test_rows_after_a_token_that_the_target_cannot_give_are_not_asked_for() -> None:
    asked: list[int] = []

    def p_at(i: int) -> Distribution:
        asked.append(i)
        return point_mass(1)

    verdict = verify_block(Draft([1, 0, 1], Source.DRAFT, [P, P, P]), p_at, lambda: 0.0)
    assert (verdict.num_accepted, verdict.next_id) == (1, 1)
    assert asked == [0, 1]


@pytest.mark.parametrize("p_sparse", [False, True])
@pytest.mark.parametrize("q_sparse", [False, True])
def test_a_draft_with_a_smaller_vocabulary(p_sparse: bool, q_sparse: bool) -> None:
    p = Distribution(np.array([0.2, 0.3, 0.5]), np.array([0, 1, 2]) if p_sparse else None)
    q = Distribution(np.array([0.6, 0.4]), np.array([0, 1]) if q_sparse else None)
    np.testing.assert_allclose(weighted_excess(p, q, 0.5), [0.0, 0.0, 0.25])


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_the_looks_are_what_the_decision_was_made_with(seed: int, depth: int) -> None:
    instance, rng = Instance(seed, depth, markov=False, adaptive=False), np.random.default_rng(seed)
    ids: list[int] = []
    q = []
    for _ in range(depth):
        q.append(instance.q(tuple(ids)))
        ids.append(q[-1].sample(rng.random()))
    draft = Draft(ids, Source.DRAFT, q)
    for how in (verify, verify_block):
        verdict = how(draft, lambda i: instance.p(tuple(ids[:i])), rng.random)
        told = [(instance.p(tuple(ids[:i])).prob(ids[i]), q[i].prob(ids[i])) for i in range(depth)]
        assert list(verdict.probs) == told[: len(verdict.probs)]
        assert len(verdict.probs) >= min(verdict.num_accepted + 1, depth)
        before = tuple(ids[: verdict.num_accepted])
        assert verdict.next_p == instance.p(before).prob(verdict.next_id)
