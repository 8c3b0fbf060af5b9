"""Estimates of acceptance: believed at first, then learnt, then forgotten."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.acceptance import AcceptanceByDepth, AcceptanceEstimate


def test_a_class_learns_its_own_chance() -> None:
    estimate = AcceptanceEstimate()
    rng = np.random.default_rng(0)
    for _ in range(600):
        estimate.observe(0.93, kept=bool(rng.random() < 0.6))
        estimate.observe(0.4, kept=bool(rng.random() < 0.1))
    assert estimate.chance(0.93) == pytest.approx(0.6, abs=0.15)
    assert estimate.chance(0.4) == pytest.approx(0.1, abs=0.1)


def test_an_unsure_token_is_hoped_to_be_kept_where_sure_ones_are_kept_more_often_than_stated() -> None:
    good, poor = AcceptanceEstimate(), AcceptanceEstimate()
    for i in range(200):
        good.observe(0.6, kept=i % 20 > 0)  # drawn from nearly the target's distribution
        poor.observe(0.6, kept=i % 20 > 9)
    assert good.chance(0.3) > 0.75
    assert poor.chance(0.3) < 0.3
    again = AcceptanceEstimate()
    again.restore(good.numbers)
    assert again.chance(0.3) == good.chance(0.3)
    for _ in range(30):
        good.observe(0.3, kept=False)
    assert good.chance(0.3) < 0.15  # what is seen counts for more


def test_what_changes_is_forgotten() -> None:
    estimate = AcceptanceEstimate()
    for _ in range(300):
        estimate.observe(0.9, kept=True)
    for _ in range(100):
        estimate.observe(0.9, kept=False)
    assert estimate.chance(0.9) < 0.25


@given(st.floats(0, 1), st.lists(st.booleans(), max_size=50))
def test_a_chance_is_a_probability(confidence: float, seen: list[bool]) -> None:
    estimate = AcceptanceEstimate()
    for kept in seen:
        estimate.observe(confidence, kept=kept)
    assert 0.0 <= estimate.chance(confidence) <= 1.0


def test_what_was_seen_behind_kept_tokens_counts_where_it_stood() -> None:
    depths = AcceptanceByDepth(0.5, 6)
    before = [depths.chance(depth) for depth in range(6)]
    for _ in range(50):
        depths.observe(3, 1, start=2)  # one more was right, the next was not
    assert [depths.chance(depth) for depth in range(2)] == before[:2]
    assert not depths.is_seen
    assert depths.chance(2) > 0.9
    assert depths.chance(3) < 0.1
    depths.observe(9, 9, start=4)  # beyond the deepest that is counted
    assert depths.chance(5) > before[5]


def test_depths_count_up_to_the_first_rejection() -> None:
    by_depth = AcceptanceByDepth(0.5, 4)
    for _ in range(200):
        by_depth.observe(num_proposed=3, num_accepted=1)
    assert by_depth.chance(0) > 0.95
    assert by_depth.chance(1) < 0.05
    assert by_depth.chance(2) == by_depth.chance(1)
    assert by_depth.chance(99) == by_depth.chance(3)


def test_an_answer_unlike_the_others_is_noticed_and_does_not_outlive_itself() -> None:
    estimate = AcceptanceEstimate()
    for _ in range(300):
        estimate.observe(0.9, kept=True)
    estimate.begin()
    known = estimate.chance(0.9)
    for _ in range(4):
        estimate.observe(0.9, kept=False)
    assert estimate.chance(0.9) < 0.5
    estimate.begin()
    assert estimate.chance(0.9) > known - 0.1
