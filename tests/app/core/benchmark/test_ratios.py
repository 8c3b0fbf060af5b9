"""Tests throughput ratios, paired by prompt and round, with correct confidence intervals."""

from random import Random

import pytest

from app.core.benchmark.ratios import ratio_of, student_quantile
from app.core.benchmark.runs import AUTO, PLAIN
from tests.app.core.benchmark.made_runs import DRAFT, made_run


def test_what_a_prompt_does_to_both_sides_cancels() -> None:
    runs = []
    for i in range(20):
        slow = 1.0 + i % 3
        runs += [made_run(f"p{i}", PLAIN, slow), made_run(f"p{i}", DRAFT, slow / 1.5)]
    ratio = ratio_of(runs, DRAFT, PLAIN)
    assert ratio is not None
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((1.5, 1.5, 1.5))
    assert ratio.measured_low is None


def test_prompts_that_differ_widen_the_interval_over_prompts_only() -> None:
    runs = []
    for number in range(3):
        for i in range(20):
            own = 0.5 if i % 2 else 2.0
            runs += [made_run(f"p{i}", PLAIN, 1.0, round_number=number)]
            runs += [made_run(f"p{i}", DRAFT, own, round_number=number)]
    ratio = ratio_of(runs, DRAFT, PLAIN)
    assert ratio is not None
    assert ratio.low is not None
    assert ratio.high is not None
    assert ratio.high - ratio.low > 0.2
    assert ratio.measured_low == pytest.approx(ratio.measured_high)


def test_the_interval_over_rounds_holds_the_truth_as_often_as_it_says() -> None:
    rng = Random(7)  # noqa: S311  (repeatable draws are the point)
    held, trials = 0, 200
    for _ in range(trials):
        runs = []
        for number in range(3):
            for i in range(8):
                speed = 0.7 + 0.1 * i  # every prompt has its own gain
                runs.append(made_run(f"p{i}", PLAIN, rng.gauss(1.0, 0.05), round_number=number))
                runs.append(made_run(f"p{i}", DRAFT, speed * rng.gauss(1.0, 0.05), round_number=number))
        ratio = ratio_of(runs, DRAFT, PLAIN)
        assert ratio is not None
        assert ratio.measured_low is not None
        assert ratio.measured_high is not None
        truth = 8 / sum(0.7 + 0.1 * i for i in range(8))
        held += ratio.measured_low <= truth <= ratio.measured_high
    assert 0.90 <= held / trials <= 0.99


def test_only_what_both_answered_counts() -> None:
    runs = [made_run("x", PLAIN, 1.0), made_run("x", DRAFT, 0.5), made_run("y", DRAFT, 0.1)]
    ratio = ratio_of(runs, DRAFT, PLAIN)
    assert ratio is not None
    assert ratio.value == pytest.approx(2.0)
    assert ratio_of(runs, AUTO, PLAIN) is None


@pytest.mark.parametrize(
    ("df", "quantile"), [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (1000, 1.962)]
)
def test_the_quantile_is_that_of_the_tables(df: int, quantile: float) -> None:
    assert student_quantile(df) == pytest.approx(quantile, rel=0.01)


def test_one_prompt_says_nothing_of_others() -> None:
    """Resampling a single prompt would give an interval of width zero."""
    runs = [made_run("p", variant, seconds) for variant, seconds in ((PLAIN, 2.0), (DRAFT, 1.0))]
    ratio = ratio_of(runs, DRAFT, PLAIN)
    assert ratio is not None
    assert ratio.value == pytest.approx(2.0)
    assert (ratio.low, ratio.high) == (None, None)
