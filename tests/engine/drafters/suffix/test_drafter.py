"""Tests suffix decoding: proposals and estimates, compared with counting by hand."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.drafters.base import Draft
from engine.drafters.suffix import drafter as drafter_module
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.drafters.suffix.index import BOUNDARY, MAX_SUBSTRING, SuffixIndex
from engine.records import SamplingParams, Source
from engine.sampling.sampler import History, Sampler
from tests.engine.drafters.suffix.test_index import longest_end, most_frequent

SAMPLER = Sampler(SamplingParams())


def history(*ids: int) -> History:
    return np.array(ids, dtype=np.int32)


def propose(ids: History, limit: int) -> Draft:
    drafter = SuffixDrafter()
    drafter.begin(ids, SAMPLER)
    return drafter.propose(ids, limit)


def test_the_example_of_the_docstring() -> None:
    with patch.object(drafter_module, "_MAX_MATCH", 2):
        draft = propose(history(1, 2, 3, 1, 2, 4, 1, 2, 4, 1, 2), 1)
    assert draft == Draft([4], Source.NGRAM, scores=[2.5 / 4], match_length=2)


def test_a_repetition_goes_on_around_its_end() -> None:
    assert propose(history(5, 6, 5, 6, 5, 6), 5).ids == [5, 6, 5, 6, 5]
    assert propose(history(*[4] * 200), 60).ids == [4] * 60


def test_the_end_of_an_answer_and_what_followed_it_are_not_proposed() -> None:
    ids = history(1, 2, 3, 4, 99, 5, 6, 1, 2, 3)
    drafter = SuffixDrafter()
    drafter.ends = frozenset({99, 100})
    drafter.begin(ids, SAMPLER)
    draft = drafter.propose(ids, 15)
    assert draft.ids == [4]
    assert draft.scores is not None
    assert len(draft.scores) == 1


def by_hand(ids: list[int], limit: int, rules: dict[str, float], past: list[int] | None) -> Draft:
    """The reference: counts everything again for every token."""
    min_match, max_match = int(rules["_MIN_MATCH"]), int(rules["_MAX_MATCH"])
    seen, length = ids, longest_end(ids, ids, max_match)
    past_length = longest_end(past or [], ids, max_match)
    if past is not None and past_length > length:
        seen, length = past, past_length
    if length < min_match:
        return Draft([], Source.NGRAM)
    draft = Draft([], Source.NGRAM, scores=[], match_length=length)
    assert draft.scores is not None
    pattern, probability = ids[len(ids) - length :], 1.0
    while len(draft.ids) < min(limit, int(rules["_TOKENS_PER_MATCH"] * length)):
        size = longest_end(seen, pattern, MAX_SUBSTRING)
        if size < min_match:
            break
        best, count, total = most_frequent(seen, pattern[len(pattern) - size :])
        probability *= count / total
        if best == BOUNDARY or probability < rules["_MIN_PROBABILITY"]:
            break
        draft.ids.append(best)
        draft.scores.append((count + 0.5) / (total + 1))
        pattern = [*pattern, best]
    return draft


RULES = st.fixed_dictionaries(
    {
        "_MIN_MATCH": st.integers(1, 3),
        "_MAX_MATCH": st.integers(3, 10),
        "_TOKENS_PER_MATCH": st.sampled_from([0.5, 1.0, 3.0]),
        "_MIN_PROBABILITY": st.sampled_from([0.0, 0.15, 0.45, 0.9]),
    }
)


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=50),
    st.integers(1, 12),
    st.integers(1, 49),
    RULES,
    st.none() | st.lists(st.integers(BOUNDARY, 2), max_size=40),
)
def test_growing_turn_by_turn_equals_counting_by_hand(
    ids: list[int], limit: int, begun: int, rules: dict[str, float], past: list[int] | None
) -> None:
    drafter = SuffixDrafter(int(rules["_MIN_MATCH"]))
    drafter.past = None if past is None else SuffixIndex(past)
    everything = np.array(ids, dtype=np.int32)
    with patch.dict(vars(drafter_module), rules):
        drafter.begin(everything[:begun], SAMPLER)
        for end in range(min(begun, len(ids)), len(ids) + 1):
            assert drafter.propose(everything[:end], limit) == by_hand(ids[:end], limit, rules, past)


def test_another_conversation_starts_over() -> None:
    drafter = SuffixDrafter()
    drafter.begin(history(1, 2, 3, 1, 2), SAMPLER)
    assert drafter.propose(history(1, 2, 3, 1, 2), 1).ids == [3]
    drafter.begin(history(9, 1, 2), SAMPLER)
    assert drafter.propose(history(9, 1, 2), 1).ids == []


def test_the_next_turn_of_a_conversation_keeps_its_index() -> None:
    drafter = SuffixDrafter()
    drafter.begin(history(1, 2, 3, 4), SAMPLER)
    index = drafter._index
    drafter.begin(history(1, 2, 3, 4, 1, 2), SAMPLER)
    assert drafter._index is index
    assert drafter.propose(history(1, 2, 3, 4, 1, 2), 2).ids == [3, 4]


def test_begin_follows_the_past_from_the_end_of_the_history() -> None:
    drafter = SuffixDrafter()
    drafter.past = SuffixIndex(list(range(100)))
    ids = np.arange(60, dtype=np.int32)
    for known in (30, 60):
        drafter.begin(ids[:known], SAMPLER)
        draft = drafter.propose(ids[:known], 2)
        assert (draft.ids, draft.match_length) == ([known, known + 1], min(known, 32))
    assert drafter.propose(np.append(ids, np.int32(60)), 1).ids == [61]
