"""The cost curve: shape from few points, padding where it pays, corrections by what passes really take."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import cost_curve
from engine.cost_curve import MAX_PASS, POINTS, CostCurve, measure
from engine.measuring import Interrupted
from engine.pacer import Pacer

STAIRCASE = {1: 1.0, 2: 1.64, 3: 2.24, 4: 1.57, 5: 2.24, 6: 2.85, 8: 2.71, 10: 3.96, 12: 3.82, 16: 3.73, 32: 7.95}


def test_a_pass_is_padded_up_to_a_cheaper_size() -> None:
    curve = CostCurve(STAIRCASE)
    assert [curve.padded(n) for n in (1, 2, 3, 4, 6)] == [1, 4, 4, 4, 8]
    assert curve.cost_ms(3) == curve.cost_ms(4) == pytest.approx(1.57)


def test_a_flat_curve_pads_nothing() -> None:
    curve = CostCurve({1: 5.0, 32: 5.2})
    assert all(curve.padded(n) == n for n in range(1, MAX_PASS + 1))


def test_what_lies_between_is_interpolated_and_beyond_goes_on() -> None:
    curve = CostCurve({1: 1.0, 5: 3.0})
    assert curve.points_ms[3] == pytest.approx(2.0)
    assert curve.points_ms[10] == pytest.approx(5.5)


def test_without_the_cost_of_one_token_there_is_no_curve() -> None:
    with pytest.raises(ValueError, match="one token"):
        CostCurve({4: 2.0})


def test_a_slower_machine_is_learnt_everywhere_and_most_where_it_was_seen() -> None:
    curve = CostCurve(STAIRCASE)
    for _ in range(100):
        curve.observe(4, 3.14)
    assert curve.points_ms[4] == pytest.approx(3.14, rel=0.02)
    assert curve.points_ms[16] > 3.73 * 1.1


def test_one_disturbed_pass_changes_little() -> None:
    curve = CostCurve(STAIRCASE)
    curve.observe(4, 500.0)
    assert curve.points_ms[4] < 1.57 * 1.1


@given(st.lists(st.tuples(st.integers(1, 40), st.floats(0.001, 1000)), max_size=80))
def test_it_stays_positive_and_pads_within_reason(seen: list[tuple[int, float]]) -> None:
    curve = CostCurve(STAIRCASE)
    for num_tokens, milliseconds in seen:
        curve.observe(num_tokens, milliseconds)
    assert all(value > 0 for value in curve.points_ms.values())
    assert all(n <= curve.padded(n) <= min(n + 3, MAX_PASS) for n in range(1, MAX_PASS + 1))


def test_measuring_takes_minima_of_all_points() -> None:
    calls: list[int] = []

    def run_pass(num_tokens: int) -> None:
        calls.append(num_tokens)

    assert set(measure(run_pass, 1.0)) == set(POINTS)
    assert len(calls) == 3 * (len(POINTS) + 1) + 1


def test_measuring_ends_with_its_budget_and_knows_one_token_at_least() -> None:
    def slow(_num_tokens: int) -> None:
        time.sleep(0.02)

    points = measure(slow, 0.1)  # all would take more than a second
    assert 1 in points
    assert len(points) < len(POINTS)


def test_a_big_models_steps_are_found_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes of 100 ms and more: a line from the pass of one token would leave out what is affordable."""
    now = 0.0

    def run_pass(num_tokens: int) -> None:
        nonlocal now
        now += 0.1 + 0.01 * num_tokens if num_tokens > 1 else 0.1

    monkeypatch.setattr(cost_curve, "time", SimpleNamespace(perf_counter=lambda: now))
    points = measure(run_pass, 2.0)
    assert {1, 2, 3, 4, 5, 6, 7, 8, 16} <= set(points)
    assert now <= 2.2


def test_measuring_ends_when_somebody_waits_with_a_whole_curve_or_as_its_passes_say() -> None:
    calls: list[int] = []
    assert set(measure(calls.append, 5.0, lambda: True)) == set(POINTS)
    assert calls == [1, 1, *POINTS]

    def run_pass(num_tokens: int) -> None:
        if num_tokens == 4:
            raise Interrupted

    with pytest.raises(Interrupted):
        measure(run_pass, 5.0, lambda: True)


AMX = {n: 27.1 + 2.1 * n for n in range(2, 17)} | {n: 13.5 + 3.5 * n for n in range(17, 33)} | {1: 15.2, 33: 227.0}


def test_the_jumps_behind_tiles_of_16_and_32_rows_are_measured_and_not_smoothed_over() -> None:
    curve = CostCurve({n: AMX[n] for n in POINTS})
    assert curve.points_ms == pytest.approx(AMX, rel=0.01)
    assert [n for n in range(1, MAX_PASS + 1) if curve.padded(n) != n] == []


def test_a_pass_before_a_jump_is_used_and_one_behind_it_is_not() -> None:
    pacer = Pacer(CostCurve({n: AMX[n] for n in POINTS}))
    for _ in range(100):
        pacer.learnt.text_chances.observe(0.98, kept=True)
    assert pacer.text_gain([0.98] * 32)[1] == 31
    uncertain = [0.98] * 14 + [0.3] * 4
    assert pacer.text_gain(uncertain)[1] <= 15


def test_a_plain_pass_is_never_padded_though_it_alone_became_slower() -> None:
    curve = CostCurve(STAIRCASE)
    for _ in range(200):
        curve.observe(1, 2.0)
    assert curve.points_ms[4] < 0.97 * curve.points_ms[1]
    assert curve.padded(1) == 1
    assert curve.cost_ms(1) == pytest.approx(2.0, rel=0.01)


def test_passes_that_were_not_seen_follow_where_all_that_were_are_far_cheaper_than_measured() -> None:
    """It was measured on a busy machine: its plain pass must not stay dear until somebody tries one."""
    busy = {n: 6.0 * ms for n, ms in STAIRCASE.items()}
    curve = CostCurve(busy)
    for _ in range(100):
        for size in (4, 8, 4, 16):
            curve.observe(size, STAIRCASE[size])
    assert curve.cost_ms(1) == pytest.approx(STAIRCASE[1], rel=0.25)
    assert curve.points_ms[32] == pytest.approx(STAIRCASE[32], rel=0.25)


def test_a_plain_pass_follows_that_became_dear_while_another_program_ran() -> None:
    curve = CostCurve(STAIRCASE)
    for _ in range(100):
        curve.observe(1, 4.0 * STAIRCASE[1])
    for _ in range(60):
        for size in (4, 8):
            curve.observe(size, STAIRCASE[size])
    assert curve.cost_ms(1) == pytest.approx(STAIRCASE[1], rel=0.3)


@pytest.mark.parametrize("sizes", [(4,), (4, 8)])
def test_one_size_alone_that_is_cheaper_than_measured_says_little_of_the_others(sizes: tuple[int, ...]) -> None:
    curve = CostCurve(STAIRCASE)
    for _ in range(200):
        for size in sizes:
            curve.observe(size, STAIRCASE[size] / (3.0 if size == sizes[0] else 1.0))
    assert curve.cost_ms(1) > STAIRCASE[1] / 1.5


def test_passes_that_are_dearer_than_measured_pull_up_no_other_at_once() -> None:
    """A graphics processor that repeats its passes of one token may take longer over all others."""
    curve = CostCurve(STAIRCASE)
    for _ in range(50):
        for size in (4, 8):
            curve.observe(size, 2.0 * STAIRCASE[size])
    assert curve.cost_ms(1) < 1.5 * STAIRCASE[1]


def test_sizes_beyond_what_was_measured_say_nothing_of_the_others() -> None:
    """Their cost was a line that went on: of a short look, up to four times what they take."""
    curve = CostCurve({1: 1.0, 4: 1.6})
    for _ in range(200):
        for size in (12, 16):
            curve.observe(size, 2.0)
    assert curve.cost_ms(1) > 1.0 / 1.5


def test_plain_passes_correct_a_hurried_look_at_once_and_only_a_hurried_one() -> None:
    hurried = CostCurve({1: 60.0, 2: 100.0})
    assert hurried.doubts_plain
    assert hurried.observe(1, 15.0) == pytest.approx(0.25)
    assert hurried.cost_ms(1) == pytest.approx(15.0)
    assert hurried.cost_ms(2) == pytest.approx(25.0)  # as much too dear
    assert hurried.observe(1, 30.0) == 1.0  # the least of the first few
    assert hurried.cost_ms(1) == pytest.approx(15.0)
    assert not hurried.doubts_plain
    assert hurried.observe(1, 5.0) == 1.0  # from here on slowly
    assert hurried.cost_ms(1) > 12.0
    thorough = CostCurve({1: 60.0, 4: 120.0})
    assert not thorough.doubts_plain
    assert thorough.observe(1, 15.0) == 1.0
    assert thorough.cost_ms(1) > 50.0


def test_what_larger_passes_took_stays_where_a_plain_one_turns_out_to_be_cheaper() -> None:
    curve = CostCurve({1: 60.0})
    for _ in range(3):
        curve.observe(4, 96.0)
    assert curve.observe(1, 15.0) == pytest.approx(0.25)
    assert curve.cost_ms(4) == pytest.approx(96.0)


@pytest.mark.parametrize(
    ("measured_ms", "largest"),
    [
        ({1: 1.0, 8: 2.6, 16: 3.7, 17: 4.6, 32: 8.0, 33: 8.9}, 16),  # a step behind 16, and none that pays beyond
        ({1: 1.0, 8: 4.1, 16: 7.4, 32: 15.0, 33: 16.0}, 32),  # two of 16 take hardly less
        ({1: 1.0, 32: 1.1, 33: 1.1}, MAX_PASS),  # a GPU
        ({1: 1.0, 4: 1.1, 8: 9.0, 33: 80.0}, 8),  # small passes are the pacer's to choose
        ({1: 7.4, 8: 16.2, 12: 26.5, 16: 33.3, 24: 50.5, 29: 50.0, 32: 70.0, 33: 74.0}, 8),  # 29 was luck
        ({1: 1.0, 4: 1.2}, MAX_PASS),  # what larger ones take has to be found out
    ],
)
def test_no_pass_is_larger_than_the_cheapest_a_token(measured_ms: dict[int, float], largest: int) -> None:
    assert CostCurve(measured_ms).largest == largest


def test_the_largest_pass_follows_what_passes_take() -> None:
    curve = CostCurve({1: 1.0, 8: 2.6, 16: 3.7, 17: 4.6, 32: 8.0, 33: 8.9})
    for _ in range(200):
        curve.observe(16, 9.0)
        curve.observe(32, 8.0)
    assert curve.largest > 16


NEAR = {1: 7.7, 4: 10.0, 8: 16.4, 9: 26.5, 12: 27.0, 13: 33.0, 16: 34.0, 17: 38.3, 24: 63.3, 32: 82.5, 33: 84.7}


@pytest.mark.parametrize(("takes", "is_used"), [(31.5, True), (34.5, False), (36.0, False)])
def test_a_size_that_is_nearly_as_cheap_a_token_as_the_best_is_tried_and_says_what_it_takes(
    takes: float, is_used: bool
) -> None:
    curve = CostCurve(NEAR)
    assert curve.largest == 8
    num_used = 0
    for number in range(2000):
        uses = curve.cost_ms(16) <= 1.02 * 2 * curve.cost_ms(8)  # texts are never longer
        num_used += uses and number >= 1000
        curve.observe(16 if uses else 8, takes if uses else 16.4)
    assert curve.points_ms[12] == pytest.approx(27.0, rel=0.05)  # nobody wonders about what is far from it
    assert num_used > 950 if is_used else num_used < 40


@pytest.mark.parametrize(("takes", "is_used"), [(30.0, True), (43.3, False)])
def test_a_pass_that_seems_to_take_more_than_its_parts_is_tried(takes: float, is_used: bool) -> None:
    curve = CostCurve({1: 6.4, 4: 9.0, 8: 17.3, 9: 23.1, 12: 26.2, 16: 43.3, 17: 44.3, 32: 96.0, 33: 99.0})
    num_used = 0
    for number in range(2000):
        uses = curve.cost_ms(16) <= 2 * 17.4
        num_used += uses and number >= 1000
        curve.observe(16 if uses else 8, takes if uses else 17.3)
    assert num_used > 950 if is_used else num_used < 40
    assert curve.cost_ms(16) == pytest.approx(takes, rel=0.02)


def test_a_size_that_is_never_chosen_while_it_is_tried_costs_again_what_was_measured() -> None:
    curve, hoped = CostCurve(NEAR), set()
    for _ in range(4000):
        curve.observe(8, 16.4)
        hoped.add(round(curve.points_ms[16], 1))
    assert min(hoped) < 33.0
    assert curve.points_ms[16] in (pytest.approx(34.0), pytest.approx(min(hoped), abs=0.1))
    assert max(hoped) == pytest.approx(34.0)


def test_nobody_wonders_about_sizes_while_the_best_one_is_not_used() -> None:
    curve = CostCurve(NEAR)
    for _ in range(100):
        curve.observe(1, 7.7)
    assert curve.points_ms == pytest.approx(CostCurve(NEAR).points_ms)
