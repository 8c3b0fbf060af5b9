"""Tests the report of a race: verdicts as text, differences of answers, tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.benchmark.race import find_difference
from app.core.benchmark.race import judge as judge_lanes
from app.core.benchmark.race_report import lane_rows, race_as_dict, race_as_markdown, verdict_sentence
from app.core.benchmark.ratios import ratio_of
from app.core.benchmark.report import Report
from app.core.benchmark.runs import AUTO, PLAIN, BenchmarkRun
from app.core.benchmark.summary import summarise
from app.core.domain.speed.races import AUTO_LANE, PLAIN_LANE, LaneChoice, LaneVerdict
from engine.records import Mode, RunStats
from tests.app.core.benchmark.made_runs import DRAFT, made_run

CHOICES = (LaneChoice(Mode.DRAFT, 3), PLAIN_LANE, AUTO_LANE)
LABELS = ("draft 3", "plain", "auto")


def judge(runs: list[BenchmarkRun], inexact: str | None = None, *, complete: bool = True) -> list[LaneVerdict]:
    return judge_lanes(runs, CHOICES, inexact, complete=complete)


def sentence(verdict: LaneVerdict) -> str:
    return verdict_sentence(verdict, LABELS)


def rounds(*ids: tuple[int, ...], temperature: float = 0.0, spread: float = 0.0) -> list[BenchmarkRun]:
    """Plain answers 1, 2, 3 in two seconds, and answers of `auto` with one of ``ids`` per round in about one."""
    runs = []
    for number, own in enumerate(ids):
        seconds = 1.0 + spread * (number % 2)
        for variant, time_s, tokens in ((PLAIN, 2.0, (1, 2, 3)), (AUTO, seconds, own)):
            run = made_run("question", variant, time_s, temperature=temperature, round_number=number)
            runs.append(replace(run, token_ids=tokens))
    return runs


SAME = (1, 2, 3)


def test_the_same_answers_and_a_ratio_with_its_interval() -> None:
    runs = rounds(*[SAME] * 4, spread=0.05)
    (verdict,) = judge(runs)
    ratio = ratio_of(runs, AUTO, PLAIN)
    assert ratio is not None
    assert ratio.measured_low is not None
    assert ratio.measured_high is not None
    said = f"auto {ratio.value:.2f}x plain ({ratio.measured_low:.2f}-{ratio.measured_high:.2f} over 4 rounds)"
    assert sentence(verdict) == f"{said}; identical answers, token for token"


def test_one_round_has_no_interval() -> None:
    (verdict,) = judge(rounds(SAME))
    assert (
        sentence(verdict) == "auto 2.00x plain (one round, so without an interval); identical answers, token for token"
    )


def test_an_interval_that_says_nothing_is_not_reported() -> None:
    (verdict,) = judge(rounds(SAME, SAME, spread=1.5))
    words = f"auto {verdict.ratio:.2f}x plain (2 rounds that differ too much for an interval)"
    assert sentence(verdict) == f"{words}; identical answers, token for token"


def test_a_ratio_that_may_be_1_is_said_to_be_so() -> None:
    (verdict,) = judge(rounds(*[SAME] * 6, spread=2.0))
    assert ", so it is not certain which is faster)" in sentence(verdict)


@pytest.mark.parametrize(
    ("inexact", "words"),
    [
        ("On a GPU.", "the answers differ at token 2 in 1 of 2 rounds. On a GPU."),
        (
            "",
            "the answers differ at token 2 in 1 of 2 rounds. This should not happen: answers are exact on this "
            "computer. Please report it",
        ),
        (None, "the answers differ at token 2 in 1 of 2 rounds"),
    ],
)
def test_different_answers_are_reported_with_place_and_reason(inexact: str | None, words: str) -> None:
    (verdict,) = judge(rounds(SAME, (1, 9, 3)), inexact)
    assert sentence(verdict).endswith(f"; {words}")
    assert verdict.parting is not None
    assert verdict.parting.is_fault is (inexact == "")


def test_a_round_that_was_cut_is_compared_as_far_as_it_came() -> None:
    (verdict,) = judge(rounds((1, 2)), complete=False)
    words = (
        "auto 2.00x plain (the round was stopped, so without an interval); "
        "identical answers up to the point where the race stopped"
    )
    assert sentence(verdict) == words
    assert find_difference(rounds((1, 2)), AUTO, PLAIN) is None


def test_lanes_without_plain_are_compared_with_the_first() -> None:
    runs = [made_run("question", DRAFT, 1.0), made_run("question", AUTO, 2.0)]
    (verdict,) = judge(runs)
    assert sentence(verdict).startswith("auto 0.50x draft 3 (")


def test_a_lane_alone_and_no_lane_give_no_verdict() -> None:
    assert judge([]) == []
    assert judge([made_run("question", PLAIN, 1.0)]) == []


def test_the_table_has_the_lanes_figures() -> None:
    stats = replace(made_run("question", AUTO, 1.0).stats, rollback_s=0.5)
    assert lane_rows([("auto", stats)]) == [("auto", "100", "100.0", "2.00", "60%", "1.0", "2.0", "500.0")]


def test_reports_hold_verdicts_rows_and_answers() -> None:
    runs = rounds(SAME, SAME)
    report = Report({}, {}, {"lanes": ["plain", "auto"]}, tuple(summarise(runs)), (), tuple(runs))
    told = race_as_dict(report, judge(runs), LABELS)
    assert [row["mode"] for row in told["rows"]] == ["off", "auto"]  # type: ignore[attr-defined]
    assert len(told["answers"]) == 4  # type: ignore[arg-type]
    (verdict,) = told["verdicts"]  # type: ignore[misc]
    assert verdict["difference"] is None  # type: ignore[index]
    stats = [RunStats(), made_run("question", PLAIN, 2.0).stats, RunStats()]
    page = race_as_markdown(report, judge(runs), LABELS, stats)
    assert page.startswith("# Race\n\n- auto 2.00x plain (")
    assert "| plain | 100 | 50.0 | 1.00 |" in page
    assert "| lanes | plain, auto |" in page
