"""Compares distributions of few tokens in lists with the same in arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.sampling.distribution import Distribution, excess_sum, point_mass, residual, weighted_excess

N_VOCAB = 30
WEIGHTS = st.dictionaries(st.integers(0, N_VOCAB - 1), st.floats(0.01, 1.0), min_size=1, max_size=12)


def both(weights: dict[int, float]) -> tuple[Distribution, Distribution]:
    """The same distribution in lists and in arrays."""
    ids = sorted(weights)
    total = sum(weights.values())
    probs = [weights[i] / total for i in ids]
    return Distribution.sparse(probs, ids), Distribution(np.array(probs), np.array(ids))


@given(WEIGHTS, st.floats(0.0, 1.0, exclude_max=True))
def test_lists_say_what_arrays_say(weights: dict[int, float], uniform: float) -> None:
    few, many = both(weights)
    assert few.ids is not None
    assert many.ids is not None
    np.testing.assert_array_equal(few.probs, many.probs)
    np.testing.assert_array_equal(few.ids, many.ids)
    assert [few.prob(i) for i in range(N_VOCAB)] == [many.prob(i) for i in range(N_VOCAB)]
    assert few.sample(uniform) == many.sample(uniform)
    index = few.index_at(uniform)
    assert few.prob_at(index) == many.prob_at(index) == few.prob(few.id_at(index)) > 0.0
    assert few.highest() == many.highest()


@given(WEIGHTS, WEIGHTS, st.floats(0.1, 1.0))
def test_what_is_left_is_the_same_of_lists_and_of_arrays(
    of_p: dict[int, float], of_q: dict[int, float], weight: float
) -> None:
    (p, p_arrays), (q, q_arrays) = both(of_p), both(of_q)
    left = weighted_excess(p_arrays, q_arrays, weight)
    np.testing.assert_array_equal(weighted_excess(p, q, weight), left)
    np.testing.assert_array_equal(weighted_excess(p, q_arrays, weight), left)
    for one, other in ((p, q), (p, q_arrays), (p_arrays, q), (p_arrays, q_arrays)):
        assert excess_sum(one, other, weight) == pytest.approx(left.sum(), abs=1e-15)
        np.testing.assert_allclose(residual(one, other, weight).probs, residual(p_arrays, q_arrays, weight).probs)


def test_nothing_is_drawn_that_has_no_probability() -> None:
    distribution = Distribution.sparse([0.25, 0.0, 0.75, 0.0], [3, 5, 9, 11])
    drawn = [distribution.sample(u) for u in np.linspace(0, 1, 1000, endpoint=False)]
    assert {token: drawn.count(token) for token in set(drawn)} == {3: 250, 9: 750}
    assert distribution.sample(float(np.nextafter(1.0, 0.0))) == 9


def test_nothing_is_left_of_what_is_taken_away_whole() -> None:
    assert excess_sum(point_mass(3), point_mass(3)) == 0.0
    assert residual(point_mass(3), point_mass(3)).prob(3) == 1.0
