"""The fastest way through a stretch of tokens, against every way there is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.stretch import best_depth

STEEP = {1: 7.7, 2: 13.3, 4: 26.2, 8: 43.2, 16: 57.5}
STEEP_MS = [min(ms for size, ms in STEEP.items() if size > num_proposed) for num_proposed in range(16)]


def every_way(chances: list[float], costs: list[float], token_ms: float, *, ends: bool = False) -> float:
    """Expected milliseconds to the end of the stretch, the best depth at each place."""
    if not chances:
        return 0.0
    best = float("inf")
    for depth in range(len(chances) + 1):
        ms, alive = costs[depth], 1.0
        for kept in range(depth):
            ms += alive * (1.0 - chances[kept]) * (len(chances) - kept - 1) * token_ms
            alive *= chances[kept]
        if depth == len(chances):
            ms -= alive * (costs[0] if ends else token_ms)  # one token beyond the stretch, or the end
        else:
            ms += alive * chances[depth] * every_way(chances[depth + 1 :], costs, token_ms, ends=ends)
            ms += alive * (1.0 - chances[depth]) * (len(chances) - depth - 1) * token_ms
        best = min(best, ms)
    return best


@given(
    st.lists(st.floats(0.01, 1.0), min_size=1, max_size=4),
    st.lists(st.floats(0.0, 9.0), min_size=4, max_size=4),
    st.floats(1.0, 9.0),
    st.booleans(),
)
def test_no_way_is_faster(chances: list[float], steps: list[float], token_ms: float, ends: bool) -> None:
    costs = [9.0 + sum(steps[:i]) for i in range(5)]
    saved_ms, depth = best_depth(chances, costs, token_ms, ends=ends)
    assert 0 <= depth <= len(chances)
    assert saved_ms == pytest.approx(len(chances) * token_ms - every_way(chances, costs, token_ms, ends=ends))


def test_the_last_pass_gives_the_end_of_the_answer_as_well() -> None:
    costs = [7.7, 9.0, 9.0, 9.1, 9.2, *[15.3] * 3, 29.0]
    assert best_depth([0.999] * 8, costs, 2.4)[1] == 7  # the pass gives the eighth, and others follow
    assert best_depth([0.999] * 8, costs, 2.4, ends=True)[1] < 7  # two passes: the second gives the end


def test_a_sure_stretch_is_taken_at_once_and_a_hopeless_one_not_at_all() -> None:
    assert best_depth([0.999] * 15, STEEP_MS, 7.7)[1] == 15
    assert best_depth([0.05] * 15, STEEP_MS, 7.7)[1] == 0
    assert best_depth([], STEEP_MS, 7.7) == (0.0, 0)


def test_what_ends_a_stretch_is_passed_before_a_large_pass_is_paid_for() -> None:
    assert best_depth([0.1, *[0.999] * 14], STEEP_MS, 6.0)[1] == 0
    assert best_depth([0.99, 0.1, *[0.999] * 13], STEEP_MS, 6.0)[1] <= 1


def test_proposing_may_cost_beside_the_pass() -> None:
    assert best_depth([0.999] * 15, STEEP_MS, 7.7, lambda _num, _alive: 100.0)[1] == 0
