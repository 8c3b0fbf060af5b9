"""The report by kinds: a row for each setting, a column for each kind, and what follows from them."""

from __future__ import annotations

from app.core.benchmark.by_kind import by_kind
from app.core.benchmark.comparisons import compare
from app.core.benchmark.report import Report
from app.core.benchmark.runs import AUTO, NO_DRAFT_AUTO, PLAIN, BenchmarkRun, Variant
from app.core.benchmark.summary import summarise
from tests.app.core.benchmark.made_runs import DRAFT, made_run

SERVER, SERVER_PLAIN = Variant("draft-3", None, "llama-server"), Variant("plain", None, "llama-server")
DEEP = Variant("draft", 7)
SECONDS = {PLAIN: 1.0, AUTO: 0.5, DRAFT: 0.625, DEEP: 0.8, SERVER: 0.75, SERVER_PLAIN: 1.25, NO_DRAFT_AUTO: 0.9}


def report_of(*variants: Variant, temperatures: tuple[float, ...] = (0.0, 0.8)) -> Report:
    runs: list[BenchmarkRun] = [
        made_run(f"{kind}{i}", variant, SECONDS[variant], category=kind, temperature=temperature)
        for temperature in temperatures
        for kind in ("chat", "editing")
        for i in range(4)
        for variant in variants
    ]
    return Report({"cores": 2}, {}, {"seed": 0}, tuple(summarise(runs)), tuple(compare(runs)))


def test_all_settings_and_claims_are_reported_by_kind() -> None:
    lines = by_kind("Final", report_of(*SECONDS)).splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "## Final",
        "### Final, T = 0",
        "### Final, T = 0.8",
        "### Final: measured with",
    ]
    assert lines.count("|  | all | chat | editing |") == 4
    assert "| plain | 100.0 tokens/s | 100.0 tokens/s | 100.0 tokens/s |" in lines
    cell = "2.000 (2.00-2.00), 2.00, 60%"
    assert f"| **auto** | {cell} | {cell} | {cell} |" in lines
    assert any(line.startswith("| llama-server draft-3 | 1.333 (1.33-1.33), 2.00, 60% |") for line in lines)
    assert any(line.startswith("| paceline without draft auto | 1.111") for line in lines)
    claims = {
        "auto over plain decoding": "2.000 (2.00-2.00)",
        "auto over the best single mode and depth of ours (draft 3)": "1.250 (1.25-1.25)",
        "auto over the best of llama-server's settings (draft-3)": "1.500 (1.50-1.50)",
        "auto with the draft over auto without it": "1.800 (1.80-1.80)",
        "our plain decoding over llama-server's": "1.250 (1.25-1.25)",
    }
    for title, value in claims.items():
        assert lines.count(f"| {title} | {value} | {value} | {value} |") == 2


def test_every_table_has_as_many_cells_as_its_head() -> None:
    for block in by_kind("Scan", report_of(*SECONDS)).split("\n\n"):
        rows = block.strip().splitlines()
        if rows and rows[0].startswith("|"):
            assert {row.count("|") for row in rows} == {rows[0].count("|")}, block


def test_nothing_is_claimed_that_was_not_measured() -> None:
    text = by_kind("Scan", report_of(PLAIN, DRAFT, temperatures=(0.0,)))
    assert "over plain decoding |" not in text
    assert "both ways round" not in text
    text = by_kind("Scan", report_of(PLAIN, AUTO, temperatures=(0.0,)))
    assert "| auto over plain decoding | 2.000" in text
    assert "llama-server" not in text.replace("A server", "")
    assert "without it" not in text
