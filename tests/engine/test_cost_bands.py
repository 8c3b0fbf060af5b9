"""Curves by fill and threads: guessed where nothing was measured, corrected fast there, kept apart."""

from __future__ import annotations

import pytest

from engine.cost_bands import BAND_ENDS, CostBands, band_of
from engine.cost_curve import CostCurve

CURVE = {1: 10.0, 4: 16.0, 8: 27.0, 32: 80.0}


def test_bands_by_fill() -> None:
    assert [band_of(n) for n in (0, 1024, 1025, 4096, 5000, 60_000, 10**6)] == [0, 0, 1, 1, 2, 3, 4]
    assert len(BAND_ENDS) == 4


def test_a_band_that_was_not_measured_is_guessed_and_soon_right() -> None:
    bands = CostBands(2, CURVE)
    curve = bands.use(2, 1)
    assert curve.cost_ms(8) == pytest.approx(27.0)
    assert not bands.is_measured
    for _ in range(5):
        curve.observe(1, 30.0)
    assert curve.points_ms[1] == pytest.approx(30.0, rel=0.1)
    assert curve.points_ms[8] == pytest.approx(81.0, rel=0.1)


def test_a_long_chat_is_not_judged_by_an_empty_cache_nor_the_other_way_round() -> None:
    bands = CostBands(2, CURVE)
    for _ in range(50):
        bands.use(2, 2).observe(4, 64.0)
    assert bands.use(2, 0).cost_ms(4) == pytest.approx(16.0)
    assert bands.use(2, 2).cost_ms(4) == pytest.approx(64.0, rel=0.05)


def test_fewer_threads_have_a_curve_of_their_own() -> None:
    bands = CostBands(2, CURVE)
    one = bands.use(1, 0)
    for _ in range(20):
        one.observe(1, 19.0)
    assert bands.use(2, 0).cost_ms(1) == pytest.approx(10.0)
    assert bands.use(1, 0).cost_ms(1) == pytest.approx(19.0, rel=0.05)


def test_a_guess_prefers_the_same_threads_and_a_lower_band() -> None:
    bands = CostBands(2, CURVE)
    bands.use(1, 0).observe(1, 20.0)
    bands.use(2, 3).observe(1, 40.0)
    assert bands.use(1, 3).cost_ms(1) == pytest.approx(20.0)
    assert bands.use(2, 1).cost_ms(1) == pytest.approx(10.0)


def test_what_is_kept_are_measured_curves_of_these_threads() -> None:
    bands = CostBands(2, CURVE)
    bands.use(2, 1).observe(1, 20.0)
    bands.use(1, 0)
    assert set(bands.measured_points(2)) == {0}
    bands.use(2, 1)
    bands.add(1, {1: 21.0})
    assert bands.is_measured
    points = bands.measured_points(2)
    assert set(points) == {0, 1}
    assert points[1][1] == pytest.approx(21.0)


def test_a_wrong_curve_takes_the_others_with_it() -> None:
    bands = CostBands(2, CURVE)
    bands.use(2, 1).observe(1, 50.0)
    bands.use(2, 0)
    bands.forget_others()
    assert bands.use(2, 1).cost_ms(1) == pytest.approx(10.0)


def test_a_guessed_curve_becomes_as_steady_as_a_measured_one() -> None:
    guessed, measured = CostCurve(CURVE, guessed=True), CostCurve(CURVE)
    for _ in range(200):
        guessed.observe(1, 10.0)
        measured.observe(1, 10.0)
    guessed.observe(1, 100.0)
    measured.observe(1, 100.0)
    assert guessed.points_ms[1] == pytest.approx(measured.points_ms[1], rel=0.01)


def test_the_first_passes_alone_do_not_decide() -> None:
    curve = CostCurve(CURVE, guessed=True)
    curve.observe(1, 10_000.0)
    for _ in range(60):
        curve.observe(1, 10.0)
    assert curve.points_ms[1] < 12.0
