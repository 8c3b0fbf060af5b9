"""Tests the Markdown report: it has exactly the sections with data."""

from dataclasses import replace

from app.core.benchmark.markdown import as_markdown, lane_table
from app.core.benchmark.ratios import compare
from app.core.benchmark.report import Report, summarise
from app.core.benchmark.runs import AUTO, PLAIN, BenchmarkRun, Variant
from tests.app.core.benchmark.made_runs import DRAFT, made_run

PEER = Variant("draft-3", None, "llama-server")


def report_of(runs: list[BenchmarkRun]) -> Report:
    models: dict[str, object] = {"target": {"name": "T", "threads": 2}, "draft": None}
    return Report(
        {"cores": 2, "llama_cpp": "CPU : A = 1 | B = 1 |"},
        models,
        {"seed": 0},
        tuple(summarise(runs)),
        tuple(compare(runs)),
    )


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


def test_every_section_is_there_with_its_figures() -> None:
    text = as_markdown(report_of(measured(PLAIN, DRAFT, AUTO, PEER)))
    heads = [line for line in text.splitlines() if line.startswith("#")]
    each = ["### Against the best fixed choice", "### Against llama-server"]
    assert heads == ["# Benchmark", "## Measured with", "## T = 0", *each, "## T = 0.8", *each]
    assert "| **all** | auto | 200.0 | 2.000 (2.00-2.00) 2.000-2.000 | 2.00 | 60% | 0.5 | 1.0 | 100% |" in text
    assert "| **all** | auto over the best fixed mode and depth | draft 3 | 1.250 (1.25-1.25) 1.250-1.250 |" in text
    assert "| **all** | auto over its best draft length | draft-3 | 1.500 (1.50-1.50) 1.500-1.500 |" in text
    assert "| target | T: threads 2 |" in text
    assert "| llama cpp | CPU : A = 1, B = 1 / |" in text


def test_every_table_has_as_many_cells_as_its_head() -> None:
    text = as_markdown(report_of(measured(PLAIN, DRAFT, AUTO, PEER)))
    for block in text.split("\n\n"):
        lines = block.strip().splitlines()
        if lines and lines[0].startswith("|"):
            assert {line.count("|") for line in lines} == {lines[0].count("|")}, block


def test_the_table_of_a_race_has_the_counters_of_each_lane() -> None:
    stats = replace(made_run("question", AUTO, 1.0).stats, rollback_s=0.5)
    assert lane_table([("auto", stats)])[1] == ("auto", "100", "100.0", "2.00", "60%", "1.0", "2.0", "500.0")
