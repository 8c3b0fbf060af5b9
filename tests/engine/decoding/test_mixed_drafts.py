"""Proves block verification of drafts that mix n-gram and sampled tokens, by enumerating every outcome."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.decoding.verifier import verify, verify_block
from engine.drafters.base import Draft
from engine.sampling.distribution import Distribution, point_mass
from tests.engine.decoding.test_block_verifier import NUM_TOKENS, Instance, Prefix, largest_error, mean_kept


class Mixed(Instance):
    """Some tokens are n-gram tokens: which ones is a function of earlier tokens, so q is a point mass."""

    def __init__(self, seed: int, depth: int, *, adaptive: bool) -> None:
        super().__init__(seed, depth, markov=False, adaptive=adaptive)
        self._texts: dict[Prefix, Distribution] = {}

    def q(self, prefix: Prefix) -> Distribution:
        drawn = super().q(prefix)
        if prefix not in self._texts:
            text = self._rng.random() < 0.5
            self._texts[prefix] = point_mass(int(self._rng.integers(NUM_TOKENS))) if text else drawn
        return self._texts[prefix]


@settings(max_examples=150)
@given(st.integers(0, 2**31), st.integers(1, 3), st.booleans())
def test_text_and_drawn_tokens_in_one_draft_give_the_target_exactly(seed: int, depth: int, adaptive: bool) -> None:
    assert largest_error(verify_block, Mixed(seed, depth, adaptive=adaptive)) < 1e-9


@settings(max_examples=100)
@given(st.integers(0, 2**31), st.integers(1, 3), st.booleans())
def test_text_and_drawn_tokens_are_kept_no_less_than_token_by_token(seed: int, depth: int, adaptive: bool) -> None:
    instance = Mixed(seed, depth, adaptive=adaptive)
    assert mean_kept(verify_block, instance) >= mean_kept(verify, instance) - 1e-12


def test_a_draft_of_text_alone_is_kept_as_token_by_token() -> None:
    """With point masses only, w_i is the product of p so far: both methods accept with the same probability."""

    class Text(Mixed):
        def q(self, prefix: Prefix) -> Distribution:
            return point_mass(sum(prefix) % NUM_TOKENS)

    for seed in range(20):
        instance = Text(seed, 3, adaptive=False)
        assert mean_kept(verify_block, instance) == pytest.approx(mean_kept(verify, instance), abs=1e-12)
        assert largest_error(verify_block, instance) < 1e-9


def test_the_proof_notices_text_handed_on_with_the_models_q() -> None:
    """A likely mistake in chains: an n-gram token with the draft model's distribution."""

    def wrong(draft: Draft) -> Draft:
        q = [Distribution(np.full(NUM_TOKENS, 1 / NUM_TOKENS)) if len(q.probs) == 1 else q for q in draft.q or []]
        return Draft(draft.ids, draft.source, q)

    mixed = [Mixed(seed, 2, adaptive=False) for seed in range(20)]
    assert max(largest_error(verify_block, instance, wrong) for instance in mixed) > 1e-3
