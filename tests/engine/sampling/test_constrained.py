"""Under a grammar: the chain's distribution without rejected tokens, or the chain over allowed tokens."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.errors import GrammarError
from engine.interfaces import Candidates
from engine.records import SamplingParams
from engine.sampling.sampler import Sampler

HISTORY = np.array([1, 2], dtype=np.int32)


class Allowed:
    """Implements `Constraint` by a set; None: nothing is known."""

    def __init__(self, ids: set[int] | None) -> None:
        self.ids = ids
        self.num_asked = 0

    def allows(
        self, _history: NDArray[np.int32], _pending: Sequence[int], ids: Sequence[int] | NDArray[np.int64]
    ) -> NDArray[np.bool_] | None:
        self.num_asked += len(ids)
        return None if self.ids is None else np.array([int(one) in self.ids for one in ids], dtype=np.bool_)

    def all_allowed(self, _history: NDArray[np.int32], _pending: Sequence[int]) -> NDArray[np.int64] | None:
        return None if self.ids is None else np.array(sorted(self.ids), dtype=np.int64)


def dense(sampler: Sampler, row: NDArray[np.float32]) -> NDArray[np.float64]:
    found = sampler.distribution(row.copy(), HISTORY, [])
    return np.array([found.prob(i) for i in range(len(row))])


CHAINS = st.sampled_from(
    [
        SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0),
        SamplingParams(temperature=0.7, top_k=5, top_p=0.9, min_p=0.05),
        SamplingParams(temperature=1.3, top_k=40, top_p=1.0, min_p=0.1),
        SamplingParams(temperature=0.8, top_k=0, top_p=0.9, min_p=0.0),
        SamplingParams(temperature=1.0, top_k=3, top_p=1.0, min_p=0.0, logit_bias=((0, 5.0), (3, -4.0))),
    ]
)


@settings(deadline=None)
@given(params=CHAINS, seed=st.integers(0, 999), n_vocab=st.sampled_from([6, 300, 6000]), share=st.floats(0.002, 1.0))
def test_it_is_the_chain_without_what_is_refused_or_the_chain_of_the_rest(
    params: SamplingParams, seed: int, n_vocab: int, share: float
) -> None:
    rng = np.random.default_rng(seed)
    row = rng.normal(0, 3, n_vocab).astype(np.float32)
    allowed = {int(rng.integers(n_vocab)), *np.flatnonzero(rng.random(n_vocab) < share).tolist()}
    mask = np.array([i in allowed for i in range(n_vocab)])
    wanted = dense(Sampler(params), row) * mask
    if wanted.sum() == 0.0:
        wanted = dense(Sampler(params), np.where(mask, row, np.float32(-np.inf)))
    found = dense(Sampler(params, constraint=Allowed(allowed)), row)
    np.testing.assert_allclose(found, wanted / wanted.sum(), atol=1e-9)


@settings(deadline=None)
@given(seed=st.integers(0, 999), n_vocab=st.sampled_from([6, 300, 6000]), share=st.floats(0.001, 1.0))
def test_at_temperature_0_it_is_the_likeliest_that_is_allowed(seed: int, n_vocab: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    row = rng.normal(0, 3, n_vocab).astype(np.float32)
    allowed = {int(rng.integers(n_vocab)), *np.flatnonzero(rng.random(n_vocab) < share).tolist()}
    sampler = Sampler(SamplingParams(temperature=0.0), constraint=Allowed(allowed))
    assert sampler.argmax(row.copy(), HISTORY, []) == max(allowed, key=lambda i: row[i])
    assert sampler.distribution(row.copy(), HISTORY, []).sparse_ids == ([1.0], [max(allowed, key=lambda i: row[i])])


def test_few_tokens_are_asked_about_where_the_chain_leaves_few() -> None:
    row = np.random.default_rng(1).normal(0, 3, 50_000).astype(np.float32)
    constraint = Allowed(set(range(0, 50_000, 2)))
    Sampler(SamplingParams(temperature=0.8, top_k=40), constraint=constraint).distribution(row, HISTORY, [])
    assert constraint.num_asked <= 40


def test_where_nothing_is_known_all_may_follow() -> None:
    row = np.array([0.0, 1.0, 2.0], dtype=np.float32)
    params = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)
    np.testing.assert_array_equal(dense(Sampler(params, constraint=Allowed(None)), row), dense(Sampler(params), row))
    assert Sampler(SamplingParams(temperature=0.0), constraint=Allowed(None)).argmax(row, HISTORY, []) == 2


def test_a_dead_end_is_an_error() -> None:
    row = np.array([0.0, 1.0, 2.0], dtype=np.float32)
    for temperature in (0.0, 1.0):
        with pytest.raises(GrammarError):
            Sampler(SamplingParams(temperature=temperature), constraint=Allowed(set())).distribution(row, HISTORY, [])


def test_candidates_lose_what_is_refused_and_get_their_bias() -> None:
    candidates = Candidates(np.array([1, 4, 9]), np.array([1.0, 2.0, 3.0], dtype=np.float32))
    params = SamplingParams(logit_bias=((2, 1.0), (4, 0.5)))
    left = Sampler(params, constraint=Allowed({1, 4})).allowed_candidates(candidates, 10, HISTORY, [])
    assert (left.ids.tolist(), left.logits.tolist()) == ([1, 4], [1.0, 2.5])
    assert len(Sampler(params, constraint=Allowed(set())).allowed_candidates(candidates, 10, HISTORY, []).ids) == 0
