"""Tests prompt lookup: its proposals equal a plain scan."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.drafters.prompt_lookup import PromptLookupDrafter
from engine.records import SamplingParams
from engine.sampling.sampler import History, Sampler

SAMPLER = Sampler(SamplingParams())


def history(*ids: int) -> History:
    return np.array(ids, dtype=np.int32)


def propose(ids: History, limit: int, min_match: int = 2, max_match: int = 3) -> list[int]:
    drafter = PromptLookupDrafter(min_match, max_match)
    drafter.begin(ids, SAMPLER)
    return drafter.propose(ids, limit).ids


def test_the_example_of_the_docstring() -> None:
    assert propose(history(1, 2, 3, 4, 2, 3), 3) == [4, 2, 3]


def test_the_longest_match_wins() -> None:
    assert propose(history(1, 2, 3, 7, 9, 2, 3, 8, 1, 2, 3), 1) == [7]


def test_a_proposal_tells_how_much_matched_and_claims_no_estimate() -> None:
    drafter = PromptLookupDrafter(2, 3)
    draft = drafter.propose(history(7, 2, 3, 8, 9, 2, 3), 1)
    assert (draft.match_length, draft.scores) == (2, None)


def test_the_end_of_an_answer_and_what_followed_it_are_not_proposed() -> None:
    drafter = PromptLookupDrafter(2, 3, ends=frozenset({99}))
    ids = history(1, 2, 3, 4, 99, 5, 6, 1, 2, 3)
    assert drafter.propose(ids, 15).ids == [4]
    assert drafter.propose(history(*ids, 4), 15).ids == []


def test_of_equal_matches_the_most_recent_wins() -> None:
    assert propose(history(2, 3, 7, 2, 3, 8, 2, 3), 1) == [8]


def test_no_match_proposes_nothing() -> None:
    assert propose(history(1, 2, 3, 4), 5) == []


def test_a_repetition_goes_on_around_its_end() -> None:
    assert propose(history(5, 6, 5, 6, 5, 6), 5) == [5, 6, 5, 6, 5]


def test_limit_zero_proposes_nothing() -> None:
    assert propose(history(1, 2, 1, 2), 0) == []


def scan(ids: list[int], limit: int, min_match: int, max_match: int) -> list[int]:
    """The reference: scans for the longest match, then the most recent."""
    for size in range(max_match, min_match - 1, -1):
        tail = ids[-size:]
        for end in range(len(ids) - 1, size - 1, -1):
            if len(ids) >= size and ids[end - size : end] == tail:
                period = ids[end:]
                return (period * limit)[:limit]
    return []


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(1, 6), st.integers(1, 59))
def test_growing_turn_by_turn_equals_a_scan(ids: list[int], limit: int, begun: int) -> None:
    drafter = PromptLookupDrafter(2, 4)
    everything = np.array(ids, dtype=np.int32)
    drafter.begin(everything[:begun], SAMPLER)
    for end in range(min(begun, len(ids)), len(ids) + 1):
        assert drafter.propose(everything[:end], limit).ids == scan(ids[:end], limit, 2, 4)


def test_another_conversation_starts_over() -> None:
    drafter = PromptLookupDrafter(2, 3)
    drafter.begin(history(1, 2, 3, 1, 2), SAMPLER)
    assert drafter.propose(history(1, 2, 3, 1, 2), 1).ids == [3]
    drafter.begin(history(9, 1, 2), SAMPLER)
    assert drafter.propose(history(9, 1, 2), 1).ids == []
