"""Tests the export of statistics: complete, and with units."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.core.storage.chats.answer_records import AnswerRecord
from app.core.storage.statistics_export import answer_row, json_chunks, totals_row
from engine.records import Mode, RunStats
from tests.run_stats import ROUND as RUN
from tests.run_stats import sums_by_pair

DAY = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STATS = replace(
    RUN,
    time_to_first_token_s=0.25,
    interval_counts={236: 38, 300: 2},
    context_size=512,
    context_used=64,
    decisions=("token 0: because",),
)


def answer(title: str = "Weekend", stats: RunStats = STATS, target: str = "big") -> AnswerRecord:
    return AnswerRecord(7, 3, title, DAY, "complete", target, "small", stats)


def test_an_answer_has_its_counters_and_rates() -> None:
    row = answer_row(answer(stats=replace(STATS, tokens=80, decode_s=4.0)))
    assert (row["tokens_per_second"], row["speedup"], row["acceptance_rate"]) == (20.0, 2.0, 0.8)
    assert (row["time_to_first_token_s"], row["created_at_utc"]) == (0.25, "2026-01-02T03:04:05+00:00")
    assert (row["tokens"], row["provenance"], row["context_used"]) == (80, {"draft": 24, "recovered": 16}, 64)
    unknown = answer_row(answer(stats=RunStats()))
    for name in ("tokens_per_second", "speedup", "acceptance_rate", "inter_token_ms_p95"):
        assert unknown[name] is None


def test_the_json_holds_all_and_can_be_read() -> None:
    totals = sums_by_pair([("big", "small", STATS), ("big", "small", STATS)])
    data = json.loads("".join(json_chunks("2026-01-01", totals, [answer("=1"), answer()])))
    assert (data["format"], data["version"]) == ("paceline-statistics", 2)
    assert (data["totals"][0]["num_answers"], data["totals"][0]["mode"]) == (2, "draft")
    first, second = data["answers"]
    assert first["chat_title"] == "=1"
    assert second["accepted_by_depth"] == [9, 8, 7]
    assert second["decisions"] == ["token 0: because"]
    (short, many), (long, few) = second["interval_counts"]
    assert (round(short, 2), many, round(long), few) == (10.47, 38, 129, 2)
    assert data["totals"][0]["interval_counts"][0][1] == 76
    assert json.loads("".join(json_chunks("2026-01-01")))["answers"] == []


def test_the_rates_of_totals_are_quotients_of_sums() -> None:
    slow = RunStats(mode=Mode.DRAFT, tokens=10, passes=10, decode_s=10.0)
    (row,) = sums_by_pair([("big", "small", STATS), ("big", "small", slow)])
    assert totals_row(row)["speedup"] is None  # too few comparable tokens
    (row,) = sums_by_pair([("big", "small", STATS)] * 2 + [("big", "small", slow)] * 2)
    told = totals_row(row)
    assert told["tokens_per_second"] == pytest.approx(50 / 12)
    assert told["tokens_per_pass"] == pytest.approx(50 / 20)
    assert told["speedup"] == pytest.approx(2.0)
    (row,) = sums_by_pair([("big", "small", STATS), ("big", "small", slow)])
    told = totals_row(row)
    assert told["inter_token_ms_p50"] == pytest.approx(10.26, abs=0.01)
    assert told["inter_token_ms_p99"] == pytest.approx(126.3, abs=0.1)
    assert totals_row(sums_by_pair([("big", "small", slow)])[0])["inter_token_ms_p95"] is None
