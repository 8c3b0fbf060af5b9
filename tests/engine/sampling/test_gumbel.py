"""Seeded samples are distributed as p, equal for lists and arrays, and independent between positions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from engine.sampling.distribution import Distribution
from engine.sampling.sampler import GumbelNoise

P = [0.5, 0.3, 0.15, 0.05]
IDS = [3, 9, 1_000, 151_000]


@pytest.mark.parametrize("over", ["places", "seeds"])
def test_tokens_are_distributed_as_p_over_places_and_over_seeds(over: str) -> None:
    p = Distribution.sparse(P, IDS)
    noise = GumbelNoise(8)
    drawn = [noise.sample(p, i) if over == "places" else GumbelNoise(i).sample(p, 17) for i in range(20_000)]
    counts = [drawn.count(token_id) for token_id in IDS]
    assert stats.chisquare(counts, np.array(P) * len(drawn)).pvalue > 0.001


def test_places_that_follow_each_other_are_independent() -> None:
    p, noise = Distribution.sparse([0.25] * 4, IDS), GumbelNoise(3)
    drawn = [IDS.index(noise.sample(p, place)) for place in range(20_001)]
    pairs = np.zeros((4, 4))
    np.add.at(pairs, (drawn[:-1], drawn[1:]), 1)
    assert stats.chi2_contingency(pairs).pvalue > 0.001


def test_the_numbers_are_those_of_the_exponential_distribution() -> None:
    found = GumbelNoise(2**63 - 1).exponentials(np.arange(150_000), 40_000)
    assert stats.kstest(found, "expon").pvalue > 0.001
    assert found.min() > 0.0


@given(
    seed=st.integers(0, 2**63 - 1),
    place=st.integers(0, 2**20),
    weights=st.lists(st.just(0.0) | st.floats(1e-17, 1.0), min_size=1, max_size=60).filter(
        lambda found: sum(found) > 0.0
    ),
)
def test_lists_and_arrays_sample_the_same_possible_token(seed: int, place: int, weights: list[float]) -> None:
    probs = [weight / sum(weights) for weight in weights]
    ids = [7 * i for i in range(len(probs))]
    drawn = GumbelNoise(seed).sample(Distribution.sparse(probs, ids), place)
    assert drawn == GumbelNoise(seed).sample(Distribution(np.array(probs), np.array(ids)), place)
    assert probs[ids.index(drawn)] > 0.0


def test_a_distribution_over_the_whole_vocabulary_needs_no_ids() -> None:
    probs = np.random.default_rng(1).dirichlet(np.ones(500))
    for place in range(50):
        whole = GumbelNoise(4).sample(Distribution(probs), place)
        assert whole == GumbelNoise(4).sample(Distribution(probs, np.arange(500)), place)


@pytest.mark.parametrize("distance", [0.0, 0.1, 0.3])
def test_a_draft_with_the_same_noise_agrees_as_its_distance_allows(distance: float) -> None:
    """At least (1 - d) / (1 + d): Daliri et al. 2024, arXiv 2408.07978."""
    p, noise = np.array([0.4, 0.3, 0.2, 0.1]), GumbelNoise(5)
    q = p + distance * np.array([-1.0, 0.5, -0.5, 1.0]) / 1.5
    ids = np.arange(4)
    same = sum(noise.sample(Distribution(p, ids), i) == noise.sample(Distribution(q, ids), i) for i in range(20_000))
    d = 0.5 * float(np.abs(p - q).sum())
    assert same / 20_000 >= (1 - d) / (1 + d) - 0.01
