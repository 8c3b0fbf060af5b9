"""The benchmark: prompts read or refused, everything alternated, ratios and intervals that follow from the runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.benchmark.prompts import read_prompts
from app.benchmark.report import as_markdown
from app.benchmark.runner import PLAIN, Plan, Run, Variant, _order, make_variants
from app.benchmark.summary import summarise
from app.command_line.parser import main
from app.paths import assets_dir
from engine.records import Mode, RunStats, SamplingParams
from tests.shared_files import shared_model

DRAFT = Variant(Mode.DRAFT, 3)


def run(prompt: str, category: str, variant: Variant, tokens: int, seconds: float, temperature: float = 0.0) -> Run:
    stats = RunStats(
        mode=variant.mode,
        tokens=tokens,
        passes=tokens if variant is PLAIN else tokens // 2,
        proposed=0 if variant is PLAIN else 10,
        accepted=0 if variant is PLAIN else 6,
        proposed_by_depth=() if variant is PLAIN else (5, 5),
        accepted_by_depth=() if variant is PLAIN else (4, 2),
        decode_s=seconds,
    )
    return Run(prompt, category, temperature, variant, stats)


def test_speed_ups_are_ratios_of_throughput_with_an_interval_around() -> None:
    runs = []
    for i in range(20):
        slow = 1.0 + i % 3  # prompts differ, their ratio does not
        runs += [run(f"p{i}", "a", PLAIN, 100, slow), run(f"p{i}", "a", DRAFT, 100, slow / 1.5)]
    draft = next(row for row in summarise(runs) if row.mode == "draft" and row.category == "all")
    assert draft.speedup == pytest.approx(1.5)
    assert draft.speedup_low == pytest.approx(1.5)
    assert draft.tokens_per_pass == 2.0
    assert draft.acceptance_rate == pytest.approx(0.6)
    assert draft.accepted_by_depth == (80, 40)


def test_an_uncertain_speed_up_has_a_wide_interval() -> None:
    runs = []
    for i in range(20):
        runs += [run(f"p{i}", "a", PLAIN, 100, 1.0), run(f"p{i}", "a", DRAFT, 100, 0.5 if i % 2 else 2.0)]
    draft = next(row for row in summarise(runs) if row.mode == "draft")
    assert draft.speedup_low is not None
    assert draft.speedup is not None
    assert draft.speedup_high is not None
    assert draft.speedup_low < draft.speedup < draft.speedup_high
    assert draft.speedup_high - draft.speedup_low > 0.2


def test_there_is_a_row_for_each_category_and_for_all() -> None:
    runs = [run("x", "code", PLAIN, 5, 1.0), run("y", "chat", PLAIN, 5, 1.0), run("y", "chat", PLAIN, 5, 1.0, 0.8)]
    rows = [(row.category, row.temperature) for row in summarise(runs)]
    assert rows == [(name, t) for name in ("code", "chat", "all") for t in (0.0, 0.8)]
    assert "### T = 0.8" in as_markdown(summarise(runs))


def test_variants_begin_with_plain_and_leave_out_what_cannot_run() -> None:
    variants = make_variants([Mode.DRAFT, Mode.OFF, Mode.AUTO, Mode.NGRAM], [None, 3], {Mode.NGRAM})
    assert variants == (PLAIN, Variant(Mode.DRAFT, None), DRAFT, Variant(Mode.AUTO, None))


def test_repetitions_go_both_ways() -> None:
    plan = Plan((PLAIN, DRAFT), (0.0,), SamplingParams(), 8, repeat=2)
    assert [variant for _, variant, _ in _order(plan)] == [PLAIN, DRAFT, DRAFT, PLAIN]


@pytest.mark.parametrize(
    "line",
    ["no json", '{"id": 1}', '{"id": 1, "category": "a", "prompt": ""}', '{"id": 1, "category": "a", "messages": []}',
     '{"id": 1, "category": "a", "messages": [{"role": "robot", "content": "x"}]}', "[]"],
)  # fmt: skip
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "prompts.jsonl"
    file.write_text('{"id": 1, "category": "a", "prompt": "good"}\n' + line, encoding="utf-8")
    with pytest.raises(ValueError, match=r"prompts\.jsonl, line 2 is not a prompt"):
        read_prompts(file)


def test_the_workloads_that_come_along_can_be_read() -> None:
    files = sorted((assets_dir() / "workloads").glob("*.jsonl"))
    categories = {prompt.category for file in files for prompt in read_prompts(file)}
    assert categories == {"chat", "copying", "summarising", "code", "maths", "free"}


def test_the_command_measures_and_writes_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prompts = tmp_path / "p.jsonl"
    prompts.write_text('{"id": "a", "category": "story", "prompt": "Once upon a time"}\n', encoding="utf-8")
    pair = ["--model", shared_model("babyllama-tok105-f16.gguf"), "--draft", shared_model("babyllamaB-tok105-f16.gguf")]
    options = ["--prompts", str(prompts), "--raw", "--max-tokens", "16", "--temperature", "0", "--depths", "auto,3"]
    out = tmp_path / "report.json"
    assert main(["bench", *pair, *options, "--json", str(out)]) == 0
    assert "| **all** | auto | paced |" in capsys.readouterr().out
    report = json.loads(out.read_text(encoding="utf-8"))
    assert {row["mode"] for row in report["rows"]} == {"off", "ngram", "draft", "auto"}
    needed = {"category", "temperature", "mode", "depth", "tokens", "seconds", "tokens_per_second"}
    needed |= {"speedup", "speedup_low", "speedup_high", "tokens_per_pass", "acceptance_rate"}
    needed |= {"inter_token_ms_p50", "inter_token_ms_p95"}
    assert all(needed <= set(row) for row in report["rows"])
    assert report["models"]["draft"]["architecture"] == "llama"


def test_bad_options_are_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--prompts", "/no/such.jsonl"]) == 1
    assert main(["bench", "--depths", "99"]) == 1
    assert "The depth must be between 0 and 32" in capsys.readouterr().err
