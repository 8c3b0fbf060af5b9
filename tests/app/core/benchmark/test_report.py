"""Tests the report: added counters, ratios, answers equal to plain decoding's, and the tables."""

from dataclasses import replace
from random import Random

import pytest

from app.core.benchmark.report import (
    Report,
    answers_verdict,
    as_markdown,
    lane_table,
    ratio_of,
    student_quantile,
    summarise,
)
from app.core.benchmark.runs import AUTO, PLAIN, BenchmarkRun, Variant
from tests.app.core.benchmark.made_runs import DRAFT, made_run

PEER = Variant("draft-3", None, "llama-server")


def test_counters_are_added_and_rates_follow() -> None:
    runs = [made_run(f"p{i}", variant, 1.0) for i in range(20) for variant in (PLAIN, DRAFT)]
    row = next(row for row in summarise(runs) if row.variant == DRAFT and row.category == "all")
    assert (row.answers, row.stats.tokens, row.stats.decode_s) == (20, 2000, 20.0)
    assert row.stats.tokens_per_pass == 2.0
    assert row.stats.acceptance_rate == pytest.approx(0.6)
    assert row.stats.accepted_by_depth == (80, 40)
    assert row.same_answers == 1.0


def test_there_is_a_row_for_each_category_and_for_all() -> None:
    runs = [made_run("x", PLAIN, 1.0, category="code"), made_run("y", PLAIN, 1.0, category="chat")]
    runs.append(made_run("y", PLAIN, 1.0, category="chat", temperature=0.8))
    rows = [(row.category, row.temperature) for row in summarise(runs)]
    assert rows == [("code", 0.0), ("chat", 0.0), ("chat", 0.8), ("all", 0.0), ("all", 0.8)]


def test_a_different_answer_shows_at_temperature_0_and_means_nothing_above() -> None:
    runs = []
    for temperature in (0.0, 0.8):
        runs.append(made_run("x", PLAIN, 1.0, temperature=temperature))
        runs.append(replace(made_run("x", PEER, 1.0, temperature=temperature), token_ids=(1, 2, 4)))
    shares = [row.same_answers for row in summarise(runs) if row.variant == PEER and row.category == "all"]
    assert shares == [0.0, None]


@pytest.mark.parametrize(
    ("ids", "inexact", "words", "is_fault"),
    [
        ((1, 2, 3), "", "All 4 answers with drafting are identical to those without, token for token.", False),
        ((1, 2, 4), "On a GPU.", "2 of 4 answers with drafting differ from those without. On a GPU.", False),
        ((1, 2, 4), "", "2 of 4 answers with drafting differ from those without. This should not happen: ", True),
    ],
)
def test_answers_that_differ_are_a_fault_where_they_must_not(
    ids: tuple[int, ...], inexact: str, words: str, is_fault: bool
) -> None:
    runs = [replace(made_run(name, one, 1.0), token_ids=(1, 2, 3)) for name in "abcd" for one in (PLAIN, DRAFT, PEER)]
    runs = [replace(run, token_ids=ids) if run.prompt_id in "ab" and run.variant != PLAIN else run for run in runs]
    told, found = answers_verdict(summarise(runs), inexact)
    assert told.startswith(words)
    assert found is is_fault


def measured(*variants: Variant) -> list[BenchmarkRun]:
    speeds = {PLAIN: 1.0, AUTO: 0.5, DRAFT: 0.625, PEER: 0.75}
    return [
        made_run(f"{category}{i}", variant, speeds[variant], category=category, temperature=t, round_number=number)
        for t in (0.0, 0.8)
        for number in range(2)
        for category in ("chat", "code")
        for i in range(4)
        for variant in variants
    ]


def test_each_line_is_compared_with_plain_and_with_auto() -> None:
    models: dict[str, object] = {"target": {"name": "T", "threads": 2}, "draft": None}
    rows = tuple(summarise(measured(PLAIN, DRAFT, AUTO, PEER)))
    text = as_markdown(Report({"cores": 2, "llama_cpp": "CPU : A = 1 | B = 1 |"}, models, {"seed": 0}, rows))
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert heads == ["# Benchmark", "## Measured with", "## T = 0", "## T = 0.8"]
    assert "| **all** | auto | 200.0 | 2.000 (2.00-2.00) 2.000-2.000 | - | 2.00 | 60% | 0.5 | 1.0 | 100% |" in text
    assert "| **all** | llama-server draft-3 | 133.3 | 1.333 (1.33-1.33) 1.333-1.333 | 1.500 (1.50-1.50)" in text
    assert "| target | T: threads 2 |" in text
    assert "| llama cpp | CPU : A = 1, B = 1 / |" in text
    for block in text.split("\n\n"):
        lines = block.strip().splitlines()
        if lines and lines[0].startswith("|"):
            assert {line.count("|") for line in lines} == {lines[0].count("|")}, block


def test_the_table_of_a_race_has_the_counters_of_each_lane() -> None:
    stats = replace(made_run("question", AUTO, 1.0).stats, rollback_s=0.5)
    assert lane_table([("auto", stats)])[1] == ("auto", "100", "100.0", "2.00", "60%", "1.0", "2.0", "500.0")


# ---- ratios ---------------------------------------------------------------------------------------------------------


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
