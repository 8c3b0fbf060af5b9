"""A choice that is told to be no near tie stays the same whatever moves the logits by less than the bound."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.records import SamplingParams
from engine.sampling.sampler import Sampler
from tests.engine.sampling.test_constrained import Allowed

HISTORY = np.array([1, 2, 3, 2], dtype=np.int32)
CHAINS = st.sampled_from(
    [
        SamplingParams(temperature=0.0),
        SamplingParams(temperature=0.8, seed=5),
        SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=1),
        SamplingParams(temperature=1.0, top_k=4, top_p=1.0, min_p=0.0, seed=2),
        SamplingParams(temperature=0.7, top_k=0, top_p=0.8, min_p=0.0, seed=3),
        SamplingParams(temperature=1.2, top_k=0, top_p=1.0, min_p=0.2, seed=4),
        SamplingParams(temperature=1.0, top_k=6, top_p=0.9, min_p=0.1, repeat_penalty=1.3, seed=6),
    ]
)


@settings(deadline=None, max_examples=300)
@given(
    params=CHAINS,
    dice=st.integers(0, 10**6),
    bound=st.sampled_from([1e-3, 0.02, 0.2]),
    n_vocab=st.sampled_from([12, 300]),
    constrained=st.booleans(),
)
def test_what_is_no_near_tie_is_chosen_however_the_logits_move_within_the_bound(
    params: SamplingParams, dice: int, bound: float, n_vocab: int, constrained: bool
) -> None:
    rng = np.random.default_rng(dice)
    row = rng.normal(0, 2, n_vocab).astype(np.float32)
    ids = set(rng.choice(n_vocab, n_vocab // 2, replace=False).tolist())
    sampler = Sampler(params, constraint=Allowed(ids) if constrained else None)
    contest = sampler.contest(row.copy(), HISTORY, [], bound)
    assert contest.best == sampler.choose(row.copy(), HISTORY, [])
    if contest.is_near_tie:
        return
    # Penalties scale what a logit is off by, at most as their strength says.
    reach = bound / (2 * params.repeat_penalty)
    for _ in range(20):
        moved = row + rng.choice([-reach, reach], n_vocab).astype(np.float32) * np.float32(0.999)
        assert sampler.choose(moved, HISTORY, []) == contest.best


@settings(deadline=None, max_examples=50)
@given(params=CHAINS, dice=st.integers(0, 10**6))
def test_most_choices_are_none_where_the_bound_is_small(params: SamplingParams, dice: int) -> None:
    rng = np.random.default_rng(dice)
    rows = rng.normal(0, 2, (40, 300)).astype(np.float32)
    contests = [Sampler(params).contest(row, HISTORY, [0] * place, 1e-3) for place, row in enumerate(rows)]
    assert sum(contest.is_near_tie for contest in contests) < 8
