"""Two tokens are read the way that takes less here, found out by trying both in turn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.two_tokens import TwoTokens
from engine.fake_model import MarkovModel
from engine.records import SamplingParams
from engine.sampling import Sampler
from engine.sequence import CachedSequence

LOGITS = np.random.default_rng(5).normal(0, 2, (10, 10)).astype(np.float32)


def tried(seconds_of: Callable[[bool], float], times: int = 40) -> TwoTokens:
    two_tokens = TwoTokens()
    for _ in range(times):
        two_tokens.took(seconds_of(two_tokens.apart))
    return two_tokens


def test_the_quicker_way_is_found_and_kept() -> None:
    assert tried(lambda apart: 4e-4 if apart else 5e-4).apart
    assert not tried(lambda apart: 5e-4 if apart else 4e-4).apart
    assert not tried(lambda apart: 4.9e-4 if apart else 5e-4).apart  # hardly quicker
    settled = tried(lambda apart: 4e-4 if apart else 5e-4)
    for _ in range(20):
        settled.took(1.0)
    assert settled.apart


def test_both_ways_are_tried_in_turn_and_one_disturbed_try_decides_nothing() -> None:
    ways: list[bool] = []

    def seconds_of(apart: bool) -> float:
        ways.append(apart)
        return 0.03 if len(ways) == 4 else 4e-4 if apart else 5e-4

    assert tried(seconds_of, 12).apart
    assert ways == [False, True] * 6


def test_a_first_try_beside_another_program_does_not_end_the_tries() -> None:
    ways: list[bool] = []

    def seconds_of(apart: bool) -> float:
        ways.append(apart)
        return 0.03 if len(ways) < 3 else 4e-4 if apart else 5e-4

    assert tried(seconds_of).apart
    assert ways[:4] == [False, False, False, True]


def test_with_a_slow_draft_the_other_way_is_never_tried() -> None:
    ways: list[bool] = []

    def seconds_of(apart: bool) -> float:
        ways.append(apart)
        return 0.1

    assert not tried(seconds_of).apart
    assert not any(ways)


class Recording(MarkovModel):
    """Remembers how many tokens each pass had, and for how many rows it was asked."""

    def __init__(self) -> None:
        super().__init__(LOGITS)
        self.passes: list[tuple[int, int]] = []

    def forward(self, ids, n_rows, num_padding=0):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
        self.passes.append((len(ids), n_rows))
        return super().forward(ids, n_rows, num_padding)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@given(seed=st.integers(0, 1000))
def test_read_apart_the_proposals_are_the_same_and_all_passes_have_one_shape(temperature: float, seed: int) -> None:
    proposals, passes = [], []
    for apart in (False, True):
        model = Recording()
        drafter = DraftModelDrafter(CachedSequence(model), 10, frozenset())
        drafter.two_tokens = TwoTokens()
        drafter.two_tokens.apart = apart
        sampler = Sampler(SamplingParams(temperature=temperature, seed=seed))
        history = np.array([1, 2, 3], dtype=np.int32)
        drafter.begin(history, sampler)
        first = drafter.propose(history, 4)
        drafter.observe(4)
        after = np.array([*history, *first.ids, 5], dtype=np.int32)
        model.passes.clear()
        second = drafter.propose(after, 3)
        proposals.append((first.ids, second.ids))
        passes.append(model.passes)
    assert proposals[0] == proposals[1]
    assert passes == [[(2, 1), (1, 1), (1, 1)], [(1, 1)] * 4]


def test_a_draft_learns_it_from_what_reading_two_tokens_takes() -> None:
    drafter = DraftModelDrafter(CachedSequence(MarkovModel(LOGITS)), 10, frozenset())
    drafter.two_tokens = TwoTokens()
    history = np.array([1, 2, 3], dtype=np.int32)
    drafter.begin(history, Sampler(SamplingParams(temperature=0.0)))
    ways = []
    for _ in range(3):
        draft = drafter.propose(history, 3)
        drafter.observe(3)
        history = np.array([*history, *draft.ids, 5], dtype=np.int32)
        ways.append(drafter.two_tokens.apart)
    assert ways == [False, True, False]  # three tokens say nothing; then one way and the other
