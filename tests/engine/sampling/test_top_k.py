"""Tests candidates of large rows: a single maximum, ties, and rows whose lanes leave a remainder."""

import numpy as np
import pytest

from engine.errors import DecodeError
from engine.sampling.top_k import TopTokens, candidates

REACH = 30.0


def ids_of(found: TopTokens) -> list[int]:
    ids = found.ids_of(np.arange(len(found.logits)))
    assert ids.tolist() == found.ids_at(list(range(len(found.logits))))
    return ids.tolist()


@pytest.mark.parametrize("size", [900, 6400, 6401, 6463])
@pytest.mark.parametrize("place", [0, 77, 899, 6399, -1])
def test_the_greatest_is_alone_where_no_other_is_near(size: int, place: int) -> None:
    row = np.random.default_rng(1).normal(0.0, 1.0, size).astype(np.float32)
    row[place % size] = 20.0
    found = candidates(row, REACH, 40, margin=5.0)
    ids = ids_of(found)
    if place % size < 6400:  # beyond the lanes it is found like others
        assert ids == [place % size]
    assert place % size in ids
    assert found.highest == 20.0


@pytest.mark.parametrize("other", [4, 3 + 100, 3 + 64 * 100 - 1])
@pytest.mark.parametrize("size", [900, 6400, 6463])
def test_the_greatest_is_not_alone_beside_another(other: int, size: int) -> None:
    row = np.random.default_rng(1).normal(0.0, 1.0, size).astype(np.float32)
    row[3], row[min(other, size - 1)] = 20.0, 16.0
    found = candidates(row, REACH, 40, margin=5.0)
    assert len(found.logits) >= 40
    assert {3, min(other, size - 1)} <= set(ids_of(found))


@pytest.mark.parametrize("size", [5000, 6400, 6463])
def test_candidates_are_the_greatest_in_the_order_of_their_ids(size: int) -> None:
    row = np.round(np.random.default_rng(2).normal(0.0, 3.0, size)).astype(np.float32)
    found = candidates(row, REACH, 40)
    ids = ids_of(found)
    assert ids == sorted(ids)
    np.testing.assert_array_equal(row[ids], found.logits)
    least = np.sort(row)[-40]
    assert set(np.flatnonzero(row > least)) <= set(ids)
    assert set(np.flatnonzero(row == least)) <= set(ids)


@pytest.mark.parametrize("place", [0, 6399, 6400, 6462])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_found_wherever_it_stands(place: int, value: float) -> None:
    row = np.zeros(6463, dtype=np.float32)
    row[place] = value
    with pytest.raises(DecodeError, match="not numbers"):
        candidates(row, REACH, 40, margin=1.0)


def test_a_logit_at_the_exact_distance_is_near_despite_rounding() -> None:
    row = np.full(900, -50.0, dtype=np.float32)
    for highest in np.random.default_rng(3).uniform(0.0, 60.0, 200).astype(np.float32):
        row[3], row[5] = highest, highest - np.float32(2.3965858)
        assert 5 in ids_of(candidates(row, REACH, 40, margin=float(row[3]) - float(row[5])))


def test_lanes_or_a_rest_without_any_possible_token_are_no_damage() -> None:
    row = np.full(6463, -np.inf, dtype=np.float32)
    row[6450] = 1.0
    assert ids_of(candidates(row, REACH, 40, margin=1.0)) == [6450]
    row[6450], row[5] = -np.inf, 1.0
    assert ids_of(candidates(row, REACH, 40, margin=1.0)) == [5]
