"""Tests throughput ratios, paired by prompt and round, with correct confidence intervals."""

from random import Random

import pytest

from app.core.benchmark.ratios import (
    BEST_PEER,
    BEST_PEER_DRAFT,
    EACH_PEER,
    FIXED_BASELINE,
    PLAIN_PEER,
    best_of_half,
    compare,
    ratio_of,
    student_quantile,
)
from app.core.benchmark.runs import AUTO, PLAIN, BenchmarkRun, Variant
from tests.app.core.benchmark.made_runs import DRAFT, made_run

NGRAM = Variant("ngram", 7)
SERVER = [Variant(name, None, "llama-server") for name in ("plain", "draft-3", "ngram-mod")]


def test_what_a_prompt_does_to_both_sides_cancels() -> None:
    runs = []
    for i in range(20):
        slow = 1.0 + i % 3
        runs += [made_run(f"p{i}", PLAIN, slow), made_run(f"p{i}", DRAFT, slow / 1.5)]
    ratio = ratio_of(runs, DRAFT, PLAIN)
    assert ratio is not None
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((1.5, 1.5, 1.5))
    assert ratio.measured_low is None
    assert ratio.half_width_percent is None


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
    assert ratio.half_width_percent == pytest.approx(0.0)


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


def test_each_half_is_compared_with_what_was_best_on_the_other() -> None:
    runs = []
    for i in range(6):
        fast, slow = (DRAFT, NGRAM) if i % 2 == 0 else (NGRAM, DRAFT)
        runs += [made_run(f"p{i}", fast, 1.0), made_run(f"p{i}", slow, 2.0), made_run(f"p{i}", AUTO, 1.0)]
    chosen, picked = best_of_half(runs, [DRAFT, NGRAM])
    assert picked == (DRAFT, NGRAM)
    assert [chosen[f"p{i}"] for i in range(6)] == [NGRAM, DRAFT, NGRAM, DRAFT, NGRAM, DRAFT]


def test_the_best_of_equals_is_not_better_than_the_rest() -> None:
    rng = Random(3)  # noqa: S311  (repeatable draws are the point)
    candidates = [Variant("draft", depth) for depth in range(1, 9)]
    runs: list[BenchmarkRun] = []
    for i in range(200):
        runs += [made_run(f"p{i}", variant, rng.uniform(0.8, 1.2)) for variant in (*candidates, AUTO, PLAIN)]
    fixed = next(one for one in compare(runs) if one.name == FIXED_BASELINE and one.category == "all")
    assert fixed.ratio.value == pytest.approx(1.0, abs=0.03)
    assert 1 <= len(fixed.against) <= 2


def test_a_peer_is_compared_in_every_way() -> None:
    speeds = dict(zip(SERVER, (1.0, 0.8, 0.5), strict=True))
    runs = []
    for i in range(4):
        runs += [made_run(f"p{i}", PLAIN, 0.9), made_run(f"p{i}", AUTO, 0.4)]
        runs += [made_run(f"p{i}", variant, seconds) for variant, seconds in speeds.items()]
    found = {(one.name, one.against): one.ratio.value for one in compare(runs) if one.category == "all"}
    assert found == {
        (PLAIN_PEER, ("plain",)): pytest.approx(1.0 / 0.9),
        (EACH_PEER, ("plain",)): pytest.approx(2.5),
        (EACH_PEER, ("draft-3",)): pytest.approx(2.0),
        (EACH_PEER, ("ngram-mod",)): pytest.approx(1.25),
        (BEST_PEER, ("ngram-mod",)): pytest.approx(1.25),
        (BEST_PEER_DRAFT, ("draft-3",)): pytest.approx(2.0),
    }


def test_without_auto_only_plain_is_compared() -> None:
    runs = [made_run("x", PLAIN, 1.0), made_run("x", SERVER[0], 1.0), made_run("x", SERVER[1], 1.0)]
    assert {one.name for one in compare(runs)} == {PLAIN_PEER}
