"""Tests the suffix index: given cases, and equality with counting every substring by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine.drafters.suffix.index
from engine.drafters.suffix.index import BOUNDARY, MAX_SUBSTRING, NO_MATCH, Match, SuffixIndex

Ids = st.lists(st.integers(0, 2), max_size=50)


def followers(ids: list[int], pattern: list[int]) -> list[int]:
    """The tokens after each occurrence of ``pattern``, oldest first."""
    size = len(pattern)
    return [ids[end] for end in range(size, len(ids)) if ids[end - size : end] == pattern]


def longest_end(ids: list[int], pattern: list[int], max_length: int) -> int:
    """The length of the longest suffix of ``pattern`` that has a following token in ``ids``."""
    lengths = range(min(max_length, len(pattern)), 0, -1)
    return next((size for size in lengths if followers(ids, pattern[len(pattern) - size :])), 0)


def most_frequent(ids: list[int], pattern: list[int]) -> tuple[int, int, int]:
    """The most frequent next token, the latest of equally frequent ones; its count, and the total count."""
    found = followers(ids, pattern)
    latest = {token_id: i for i, token_id in enumerate(found)}
    best = max(latest, key=lambda token_id: (found.count(token_id), latest[token_id]))
    return best, found.count(best), len(found)


def occurs(ids: list[int], pattern: list[int]) -> bool:
    return any(ids[i : i + len(pattern)] == pattern for i in range(len(ids) - len(pattern) + 1))


def find(index: SuffixIndex, pattern: list[int], max_length: int) -> Match:
    match = NO_MATCH
    for token_id in pattern:
        match = index.follow(match, token_id, max_length)
    return match


def estimate(best: int, count: int, total: int) -> tuple[int, float]:
    """Adds half a case for the most frequent token, and half for all others together."""
    return best, (count + 0.5) / (total + 1.0)


def first(index: SuffixIndex, match: Match, min_length: int = 1) -> tuple[int, float] | None:
    """The most frequent next token, and its estimate."""
    return next(zip(*index.continuation(match, 1, min_length), strict=True), None)


def continuation(
    ids: list[int], pattern: list[int], limit: int, min_length: int, min_probability: float
) -> tuple[list[int], list[float]]:
    """The most frequent continuation, token by token, counting everything again for each."""
    found: list[tuple[int, float]] = []
    probability = 1.0
    while len(found) < limit:
        size = longest_end(ids, pattern, engine.drafters.suffix.index.MAX_SUBSTRING)
        if size < min_length:
            break
        best, count, total = most_frequent(ids, pattern[len(pattern) - size :])
        probability *= count / total
        if best == BOUNDARY or probability < min_probability:
            break
        found.append(estimate(best, count, total))
        pattern = [*pattern, best]
    return [token_id for token_id, _ in found], [score for _, score in found]


def check_suffix(index: SuffixIndex, ids: list[int], max_length: int) -> None:
    """Check that the longest earlier suffix and its continuation equal those counted by hand."""
    match = index.suffix(max_length)
    assert match.length == longest_end(ids, ids, max_length)
    wanted = estimate(*most_frequent(ids, ids[len(ids) - match.length :])) if match.length else None
    assert first(index, match) == wanted


@given(Ids, st.integers(1, 12))
def test_every_growth_equals_counting_by_hand(ids: list[int], max_length: int) -> None:
    index = SuffixIndex()
    for end, token_id in enumerate(ids, 1):
        index.append(token_id)
        check_suffix(index, ids[:end], max_length)


@given(Ids, st.integers(1, 4))
def test_substrings_longer_than_the_depth_do_not_disturb_the_counts(ids: list[int], depth: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine.drafters.suffix.index, "MAX_SUBSTRING", depth)
        index = SuffixIndex()
        for end, token_id in enumerate(ids, 1):
            index.append(token_id)
            check_suffix(index, ids[:end], depth)


@given(Ids, Ids, st.integers(1, 12))
def test_following_another_sequence_equals_a_search(ids: list[int], other: list[int], max_length: int) -> None:
    index = SuffixIndex(ids)
    match = NO_MATCH
    for end, token_id in enumerate(other, 1):
        match = index.follow(match, token_id, max_length)
        sizes = range(min(max_length, end), 0, -1)
        assert match.length == next((n for n in sizes if occurs(ids, other[end - n : end])), 0)
        matched = index.longest_continuable(match).length
        assert matched == longest_end(ids, other[:end], max_length)
        wanted = estimate(*most_frequent(ids, other[end - matched : end])) if matched else None
        assert first(index, match) == wanted


@given(Ids, st.lists(st.integers(0, 2), min_size=1, max_size=6), Ids)
def test_a_match_stays_true_while_the_sequence_grows(ids: list[int], pattern: list[int], more: list[int]) -> None:
    index = SuffixIndex(ids)
    match = find(index, pattern, 6)
    held = pattern[len(pattern) - match.length :]
    index.extend(more)
    following = index.follow(match, 0, 7)
    whole = ids + more
    assert following.length == next((n for n in range(match.length + 1, 0, -1) if occurs(whole, [*held, 0][-n:])), 0)


Some = st.lists(st.integers(BOUNDARY, 3), max_size=30)
Loops = st.builds(lambda period: (period * 60)[:60], st.lists(st.integers(0, 9), min_size=1, max_size=12))


@given(
    st.builds(lambda *parts: [token_id for part in parts for token_id in part], Some, Loops, Some, Loops),
    st.sampled_from([2, 3, 5, 32]),
    st.integers(1, 32),
    st.integers(0, 12),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.1, 0.4, 0.7, 1.0]),
)
def test_a_continuation_equals_counting_for_each_of_its_tokens(
    ids: list[int], depth: int, size: int, limit: int, min_length: int, min_probability: float
) -> None:
    """Includes sequences that occurred once, cycles, and ends of conversations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine.drafters.suffix.index, "MAX_SUBSTRING", depth)
        index = SuffixIndex(ids)
        for end in {len(ids), len(ids) // 2, len(ids) // 3}:
            pattern = ids[max(0, end - size) : end]
            match = find(index, pattern, depth)
            wanted = continuation(ids, pattern, limit, min_length, min_probability)
            assert index.continuation(index.longest_continuable(match), limit, min_length, min_probability) == wanted


def test_what_came_once_is_not_followed_beyond_the_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    """(1, 2, 3) occurred once, but (2, 3), which counts at the limit, has another continuation."""
    monkeypatch.setattr(engine.drafters.suffix.index, "MAX_SUBSTRING", 2)
    ids = [1, 2, 3, 5, 7, 2, 3, 4, 8, 2, 3, 4, 9]
    index = SuffixIndex(ids)
    assert index.continuation(find(index, [1], 2), 3, 1) == continuation(ids, [1], 3, 1, 0.0)


@pytest.mark.parametrize("min_probability", [0.0, 0.3, 0.6, 0.7, 0.75, 0.8, 0.85, 0.95])
def test_going_round_gets_less_likely_each_time(monkeypatch: pytest.MonkeyPatch, min_probability: float) -> None:
    monkeypatch.setattr(engine.drafters.suffix.index, "MAX_SUBSTRING", 4)
    ids = [1, 2, 3, 4] * 6 + [1, 2, 9] + [1, 2, 3, 4] * 3
    index = SuffixIndex(ids)
    wanted = continuation(ids, ids, 11, 1, min_probability)
    assert index.continuation(index.suffix(4), 11, 1, min_probability) == wanted


@given(st.lists(st.integers(0, 20), max_size=60), st.integers(1, 6))
def test_states_with_many_transitions_equal_counting_by_hand(ids: list[int], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine.drafters.suffix.index, "_MAX_LISTED_EDGES", most)
        index = SuffixIndex()
        for end, token_id in enumerate(ids, 1):
            index.append(token_id)
            check_suffix(index, ids[:end], 4)


def test_a_match_is_not_lengthened_by_what_was_never_matched() -> None:
    """(5) shares a state with (4, 5), which splits off (3, 4, 5) while the sequence grows."""
    index = SuffixIndex([3, 4, 5])
    match = find(index, [5], 6)
    index.extend([9, 4, 5, 0])
    assert index.follow(match, 0, 6).length == 2


@given(Ids)
def test_never_more_than_twice_as_many_states_as_tokens(ids: list[int]) -> None:
    assert SuffixIndex(ids).num_states <= max(2, 2 * len(ids))


def test_memory_is_linear_where_everything_repeats() -> None:
    index = SuffixIndex([7] * 5000)
    assert index.num_states == 5001
    assert first(index, index.suffix(MAX_SUBSTRING)) == estimate(7, 5000 - MAX_SUBSTRING, 5000 - MAX_SUBSTRING)


def test_nothing_is_proposed_beyond_a_conversation() -> None:
    index = SuffixIndex([1, 2, 3, BOUNDARY, 4, 5, BOUNDARY])
    assert first(index, find(index, [1, 2], 8)) == estimate(3, 1, 1)
    assert first(index, find(index, [2, 3], 8)) is None
    assert find(index, [3, 4], 8).length == 1


def test_too_short_a_match_gives_nothing() -> None:
    index = SuffixIndex([1, 2, 3])
    match = find(index, [9, 2], 8)
    assert first(index, match, 2) is None
    assert first(index, match, 1) == estimate(3, 1, 1)
