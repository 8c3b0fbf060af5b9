"""Tests estimates of acceptance: initial guesses, learning, forgetting."""

from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drafters.base import Draft
from engine.pacing.acceptance import (
    TEXT_PRIORS,
    AcceptanceEstimate,
    AcceptanceStats,
    draft_kind,
    text_kinds,
)
from engine.pacing.constants import (
    AMBIGUOUS_CHANCES,
    GREEDY_CHANCES,
    MATCH_CHANCES,
    MATCH_LENGTHS,
    SAMPLED_CHANCES,
)
from engine.pacing.cost_curve import CostCurve
from engine.pacing.pacer import Pacer
from engine.records import Source

SURE, UNSURE = draft_kind(0.93), draft_kind(0.4)


def test_a_class_learns_its_own_chance() -> None:
    estimate = AcceptanceEstimate(GREEDY_CHANCES)
    rng = np.random.default_rng(0)
    for _ in range(600):
        estimate.observe([SURE], int(rng.random() < 0.6))
        estimate.observe([UNSURE], int(rng.random() < 0.1))
    assert estimate.probability(SURE) == pytest.approx(0.6, abs=0.15)
    assert estimate.probability(UNSURE) == pytest.approx(0.1, abs=0.1)


def test_until_something_was_looked_at_a_chance_is_what_others_gave() -> None:
    for greedy, chances in ((True, GREEDY_CHANCES), (False, SAMPLED_CHANCES)):
        estimate = AcceptanceStats(greedy=greedy).draft
        assert [estimate.probability(kind) for kind in range(len(chances))] == pytest.approx(list(chances))
        assert not estimate.is_observed
        estimate.observe([SURE], 1)
        assert estimate.is_observed
        assert estimate.probability(SURE) > chances[SURE]
        assert estimate.probability(UNSURE) == pytest.approx(chances[UNSURE])


def test_what_changes_is_forgotten() -> None:
    estimate = AcceptanceEstimate(GREEDY_CHANCES)
    for _ in range(300):
        estimate.observe([SURE], 1)
    for _ in range(100):
        estimate.observe([SURE], 0)
    assert estimate.probability(SURE) < 0.3


@given(st.integers(0, len(TEXT_PRIORS) - 1), st.lists(st.booleans(), max_size=50), st.booleans())
def test_a_chance_is_a_probability(kind: int, seen: list[bool], watches: bool) -> None:
    estimate = AcceptanceEstimate(TEXT_PRIORS, adapts_to_answer=watches)
    for kept in seen:
        estimate.observe([kind], int(kept))
    assert 0.0 <= estimate.probability(kind) <= 1.0


def test_tokens_count_up_to_the_first_rejection() -> None:
    estimate = AcceptanceEstimate([0.5] * 4)
    for _ in range(200):
        estimate.observe([0, 1, 2], 1)
    assert estimate.probability(0) > 0.9
    assert estimate.probability(1) < 0.1
    assert estimate.probability(2) == estimate.probability(3) == 0.5  # nothing is known


def test_an_unusual_answer_is_noticed_and_forgotten_at_its_end() -> None:
    estimate = AcceptanceStats(greedy=True).text
    kind = text_kinds(Draft([1], Source.NGRAM, match_length=8))[0]
    for _ in range(300):
        estimate.observe([kind], 1)
    estimate.begin()
    known = estimate.probability(kind)
    for _ in range(5):
        estimate.observe([kind], 0)
    assert estimate.probability(kind) < 0.5
    estimate.begin()
    assert estimate.probability(kind) > known - 0.1


def test_bad_text_of_one_class_lowers_all_classes_of_the_answer() -> None:
    estimate = AcceptanceStats(greedy=True).text
    one, other = (text_kinds(Draft([1], Source.NGRAM, match_length=length))[0] for length in (1, 20))
    before = estimate.probability(other)
    for _ in range(8):
        estimate.observe([one], 0)
    assert estimate.probability(other) < 0.8 * before
    estimate.begin()
    assert estimate.probability(other) == pytest.approx(before)


def chances_of(draft: Draft) -> list[float]:
    """The chances before anything was learnt."""
    estimate = AcceptanceStats(greedy=True).text
    return [estimate.probability(kind) for kind in text_kinds(draft)]


@pytest.mark.parametrize("length", [1, 2, 8, 20])
def test_match_length_and_index_count_for_a_single_continuation(length: int) -> None:
    once = chances_of(Draft([1] * 20, Source.NGRAM, scores=[0.75] * 20, match_length=length))
    assert once == sorted(once)
    assert once[0] == pytest.approx(MATCH_CHANCES[bisect_left(MATCH_LENGTHS, length)][0])
    assert once == chances_of(Draft([1] * 20, Source.NGRAM, scores=[0.95] * 20, match_length=length))
    assert once == chances_of(Draft([1] * 20, Source.NGRAM, match_length=length))  # nothing is known of it


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.65, 0.74])
def test_ambiguous_text_is_hardly_trusted_however_long_the_match(share: float) -> None:
    for length in (1, 16, 32):
        chances = chances_of(Draft([1] * 3, Source.NGRAM, scores=[share] * 3, match_length=length))
        assert chances == pytest.approx([AMBIGUOUS_CHANCES[length > 1]] * 3)
        assert max(chances) < 0.4


def test_sampled_answers_learn_apart_from_greedy_ones() -> None:
    pacer = Pacer(CostCurve({1: 7.0}), 0.3)
    pacer.begin("greedy")
    pacer.acceptance.observe_drafted([0.91] * 3, 0)
    pacer.begin("sampled", greedy=False)
    assert not pacer.acceptance.drafted.is_observed
    pacer.begin("greedy")
    assert pacer.acceptance.drafted.is_observed
