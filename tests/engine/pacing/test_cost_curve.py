"""Tests the cost curve: shape from few points, corrections by measured passes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.pacing.constants import DEFAULT_COST_CURVE, MAX_PASS, MEASURED_SIZES
from engine.pacing.cost_curve import CostCurve

STAIRCASE = {1: 1.0, 2: 1.64, 3: 2.24, 4: 1.57, 5: 2.24, 6: 2.85, 8: 2.71, 10: 3.96, 12: 3.82, 16: 3.73, 32: 7.95}


def test_unmeasured_sizes_are_interpolated_and_continue_the_shape() -> None:
    curve = CostCurve({1: 10.0, 8: 55.0})
    points = [curve.points_ms[n] for n in range(1, MAX_PASS + 1)]
    assert points == sorted(points)
    assert 55.0 < curve.points_ms[16] <= 55.0 * DEFAULT_COST_CURVE[16] / DEFAULT_COST_CURVE[8]


def test_what_was_measured_of_another_model_here_is_the_shape_of_this_one() -> None:
    other = {n: ms / STAIRCASE[1] for n, ms in STAIRCASE.items()}
    curve = CostCurve({1: 50.0}, other)
    assert {n: curve.points_ms[n] for n in STAIRCASE} == pytest.approx({n: 50.0 * ms for n, ms in other.items()})
    assert CostCurve({1: 50.0, 4: 120.0}, other).points_ms[4] == pytest.approx(120.0)


@given(st.dictionaries(st.integers(2, MAX_PASS), st.floats(0.5, 50.0)), st.floats(0.1, 100.0))
def test_what_was_measured_is_believed_as_it_is(measured: dict[int, float], plain_ms: float) -> None:
    curve = CostCurve({1: plain_ms, **measured})
    assert {n: curve.points_ms[n] for n in measured} == pytest.approx(measured)
    assert curve.known_ms == {1: plain_ms, **measured}
    assert sorted(curve.points_ms) == list(range(1, MAX_PASS + 1))


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
def test_it_stays_positive(seen: list[tuple[int, float]]) -> None:
    curve = CostCurve(STAIRCASE)
    for num_tokens, milliseconds in seen:
        curve.observe(num_tokens, milliseconds)
    assert all(value > 0 for value in curve.points_ms.values())


AMX = {n: 27.1 + 2.1 * n for n in range(2, 17)} | {n: 13.5 + 3.5 * n for n in range(17, 33)} | {1: 15.2, 33: 227.0}


def test_jumps_after_tiles_of_16_and_32_rows_are_not_smoothed() -> None:
    curve = CostCurve({n: AMX[n] for n in MEASURED_SIZES})
    assert curve.points_ms == pytest.approx(AMX, rel=0.01)


@pytest.mark.parametrize("sizes", [(4,), (4, 8)])
def test_one_size_cheaper_than_measured_says_little_of_the_others(sizes: tuple[int, ...]) -> None:
    curve = CostCurve(STAIRCASE)
    for _ in range(200):
        for size in sizes:
            curve.observe(size, STAIRCASE[size] / (3.0 if size == sizes[0] else 1.0))
    assert curve.cost_ms(1) > STAIRCASE[1] / 1.5


def test_passes_that_are_dearer_than_measured_pull_up_no_other_at_once() -> None:
    """A GPU that replays passes of one token may take longer for all other sizes."""
    curve = CostCurve(STAIRCASE)
    for _ in range(50):
        for size in (4, 8):
            curve.observe(size, 2.0 * STAIRCASE[size])
    assert curve.cost_ms(1) < 1.5 * STAIRCASE[1]


@pytest.mark.parametrize("size", [5, 6, 7])
def test_a_size_below_a_smaller_one_shows_no_disturbance(size: int) -> None:
    """Three rows cost more than four and five if kernels work on four at a time."""
    curve = CostCurve({n: STAIRCASE[n] for n in (1, 2, 3, 4, 8)})
    for _ in range(3):
        curve.observe(size, 1.9)
    assert curve.points_ms[size] == pytest.approx(1.9)
    assert {n: curve.points_ms[n] for n in (1, 2, 3, 4, 8)} == pytest.approx({n: STAIRCASE[n] for n in (1, 2, 3, 4, 8)})


def test_a_size_below_a_plain_pass_shows_a_disturbed_measurement() -> None:
    curve = CostCurve({1: 60.0, 2: 70.0})
    curve.observe(4, 20.0)
    assert curve.cost_ms(1) <= 20.0


def test_sizes_beyond_what_was_measured_say_nothing_of_the_others() -> None:
    """Their costs were only extrapolated."""
    curve = CostCurve({1: 1.0, 4: 1.6})
    for _ in range(200):
        for size in (12, 16):
            curve.observe(size, 2.0)
    assert curve.cost_ms(1) > 1.0 / 1.5
    assert curve.cost_ms(16) == pytest.approx(2.0, rel=0.1)


def test_plain_passes_correct_only_a_hurried_measurement_at_once() -> None:
    hurried = CostCurve({1: 60.0, 2: 100.0})
    assert hurried.is_plain_uncertain
    hurried.observe(1, 15.0)
    assert hurried.cost_ms(1) == pytest.approx(15.0)
    assert hurried.cost_ms(2) == pytest.approx(25.0)  # equally too expensive
    hurried.observe(1, 30.0)
    assert hurried.cost_ms(1) == pytest.approx(15.0)  # the minimum of the first few
    assert not hurried.is_plain_uncertain
    hurried.observe(1, 5.0)  # from here on it changes slowly
    assert hurried.cost_ms(1) > 12.0
    thorough = CostCurve({1: 60.0, 4: 120.0})
    assert not thorough.is_plain_uncertain
    thorough.observe(1, 15.0)
    assert thorough.cost_ms(1) > 50.0


@pytest.mark.parametrize(
    ("measured_ms", "largest"),
    [
        ({1: 1.0, 8: 2.6, 16: 3.7, 17: 4.6, 32: 8.0, 33: 8.9}, {16}),  # a step after 16, and none that pays beyond
        ({1: 1.0, 8: 4.1, 12: 5.9, 16: 7.4, 32: 15.0, 33: 16.0}, {16}),  # one of 32 costs hardly less than two of 16
        ({1: 1.0, 8: 4.1, 12: 5.9, 16: 7.6, 24: 10.0, 32: 12.0, 33: 14.0}, {32}),
        ({1: 1.0, 16: 1.05, 32: 1.1, 33: 1.1}, {32, MAX_PASS}),  # a GPU
        ({1: 1.0, 4: 1.1, 8: 9.0, 33: 80.0}, {8}),  # the pacer chooses small passes
        ({1: 7.4, 8: 16.2, 12: 26.5, 16: 33.3, 24: 50.5, 29: 50.0, 32: 70.0, 33: 74.0}, {8}),  # 29 was lucky
        ({1: 1.0, 4: 1.2}, {24, 32, MAX_PASS}),  # the cost of larger passes is unknown
    ],
)
def test_no_pass_is_larger_than_the_cheapest_a_token(measured_ms: dict[int, float], largest: set[int]) -> None:
    assert CostCurve(measured_ms).largest in largest


@pytest.mark.parametrize("now_ms", [2.0, 30.0])
def test_a_guessed_curve_is_soon_right_at_all_sizes(now_ms: float) -> None:
    curve = CostCurve({1: 10.0, 4: 16.0, 8: 27.0}, guessed=True)
    for _ in range(5):
        curve.observe(1, now_ms)
    assert curve.points_ms[1] == pytest.approx(now_ms, rel=0.1)
    assert curve.points_ms[8] == pytest.approx(2.7 * now_ms, rel=0.1)


def test_the_first_passes_alone_do_not_decide_about_a_guessed_curve() -> None:
    curve = CostCurve({1: 10.0, 4: 16.0, 8: 27.0}, guessed=True)
    curve.observe(1, 10_000.0)
    for _ in range(60):
        curve.observe(1, 10.0)
    assert curve.points_ms[1] < 12.0


def test_the_plain_share_is_known_for_measured_sizes_only() -> None:
    curve = CostCurve({1: 10.0, 4: 16.0})
    for _ in range(50):
        curve.observe(4, 40.0)
        curve.observe(2, 12.0)
    assert curve.plain_share(4) == pytest.approx(10.0 / 16.0)
    assert curve.plain_share(2) is None


def test_doubted_larger_passes_are_assumed_cheap_until_tried() -> None:
    curve = CostCurve({1: 10.0})
    curve.replace({1: 10.0, 4: 200.0, 8: 300.0}, doubted=True)
    assert curve.is_plain_uncertain
    assert curve.cost_ms(4) <= 10.0 * DEFAULT_COST_CURVE[4]
    assert curve.known_ms == {1: 10.0}
    for _ in range(3):
        curve.observe(4, 45.0)
    assert curve.cost_ms(4) == pytest.approx(45.0)
    curve.replace({1: 10.0, 4: 30.0, 8: 60.0})
    assert curve.known_ms == {1: 10.0, 4: 30.0, 8: 60.0}


def test_one_pass_that_met_another_program_is_not_believed_at_once() -> None:
    curve = CostCurve({1: 10.0, 2: 18.0})
    curve.observe(4, 90.0)
    assert curve.cost_ms(4) < 0.45 * 90.0
    curve.observe(4, 19.5)
    curve.observe(4, 21.0)
    assert curve.cost_ms(4) == pytest.approx(19.5)


def test_one_pass_that_is_cheaper_than_hoped_is_believed_at_once() -> None:
    curve = CostCurve({1: 10.0, 2: 18.0})
    before = curve.cost_ms(8)
    curve.observe(8, 12.0)
    assert before > 18.0
    assert curve.cost_ms(8) == pytest.approx(12.0)


def test_what_a_try_says_of_a_size_says_something_of_larger_ones() -> None:
    curve = CostCurve({1: 10.0})
    before = curve.points_ms[16]
    assert before == pytest.approx(10.0 * DEFAULT_COST_CURVE[16])
    for _ in range(3):
        curve.observe(4, 12.0)
    assert curve.points_ms[16] < 0.9 * before


def test_what_is_only_hoped_is_not_kept_and_what_was_learnt_is() -> None:
    curve = CostCurve({1: 10.0, 2: 18.0})
    assert curve.known_ms == {1: 10.0, 2: 18.0}
    for _ in range(2):
        curve.observe(4, 20.0)
    assert set(curve.known_ms) == {1, 2}
    curve.observe(4, 20.0)
    assert curve.known_ms == pytest.approx({1: 10.0, 2: 18.0, 4: 20.0})


def test_what_was_learnt_outlives_a_measurement_that_is_no_longer() -> None:
    curve = CostCurve({1: 10.0})
    for _ in range(3):
        curve.observe(8, 30.0)
    curve.replace({1: 5.0, 2: 9.0})
    assert curve.points_ms[8] == pytest.approx(15.0)
    curve.replace({1: 5.0, 8: 20.0, 16: 40.0})
    assert curve.points_ms[8] == pytest.approx(20.0)
