"""The report of a race: a table of its lanes and a verdict with its uncertainty, as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from app.core.benchmark.markdown import decimal, percent, setting_lines
from app.core.benchmark.report import Report
from app.core.benchmark.summary import ALL
from app.core.domain.speed.races import MAX_INTERVAL_RATIO, LaneVerdict
from engine.records import ChatRequest, RunStats

NOTE = (
    "All lanes answered the same question with the same settings, alternated in short slices. Tokens/s count the time "
    "of a lane's own slices; rollback ms is the time to drop rejected tokens, with the bookkeeping after a pass, over "
    "all rounds."
)
HEADS = ("lane", "tokens", "tokens/s", "tokens per pass", "accepted", "p50 ms", "p95 ms", "rollback ms")


def verdict_sentence(verdict: LaneVerdict, labels: Sequence[str]) -> str:
    """``auto 1.62x plain (1.48-1.77 over 4 rounds); identical answers, token for token``."""
    return f"{_speed(verdict, labels)}; {_answers(verdict)}"


def _speed(verdict: LaneVerdict, labels: Sequence[str]) -> str:
    lane, base = labels[verdict.lane], labels[verdict.base]
    if verdict.ratio is None:
        return f"{lane} and {base} cannot be compared"
    speed, low, high = f"{lane} {verdict.ratio:.2f}x {base}", verdict.low, verdict.high
    if not verdict.is_complete:
        return f"{speed} (the round was stopped, so without an interval)"
    if low is None or high is None:
        return f"{speed} (one round, so without an interval)"
    if high > MAX_INTERVAL_RATIO * low:
        return f"{speed} ({verdict.num_rounds} rounds that differ too much for an interval)"
    unsure = ", so it is not certain which is faster" if low <= 1.0 <= high else ""
    return f"{speed} ({low:.2f}-{high:.2f} over {verdict.num_rounds} rounds{unsure})"


def _answers(verdict: LaneVerdict) -> str:
    if not verdict.are_alike:
        return "other models, so the answers are not compared"
    found = verdict.parting
    if found is None:
        if verdict.is_complete:
            return "identical answers, token for token"
        return "identical answers up to the point where the race stopped"
    where = f"the answers differ at token {found.token}"
    if found.num_rounds < verdict.num_rounds:
        where += f" in {found.num_rounds} of {verdict.num_rounds} rounds"
    if found.is_fault:
        return f"{where}. This should not happen: answers are exact on this computer. Please report it"
    return f"{where}. {found.reason}" if found.reason else where


def lane_rows(lanes: Sequence[tuple[str, RunStats]]) -> list[tuple[str, ...]]:
    """One row of text per lane, with the columns of `HEADS`."""
    return [
        (
            label,
            f"{stats.tokens}",
            decimal(stats.tokens_per_second, 1),
            decimal(stats.tokens_per_pass, 2),
            percent(stats.acceptance_rate),
            decimal(stats.inter_token_ms_p50, 1),
            decimal(stats.inter_token_ms_p95, 1),
            decimal(stats.rollback_s * 1000.0, 1),
        )
        for label, stats in lanes
    ]


def race_as_dict(report: Report, verdicts: Sequence[LaneVerdict], labels: Sequence[str]) -> dict[str, object]:
    """The report for JSON, like a benchmark's, with verdicts in place of comparisons."""
    return {
        "machine": report.machine,
        "models": report.models,
        "settings": report.settings,
        "verdicts": [_verdict_as_dict(verdict, labels) for verdict in verdicts],
        "rows": [row.as_dict() for row in report.rows if row.category == ALL],
        "answers": [run.as_dict() for run in report.answers],
    }


def _verdict_as_dict(verdict: LaneVerdict, labels: Sequence[str]) -> dict[str, object]:
    interval = {"low": None, "high": None, "measured_low": verdict.low, "measured_high": verdict.high}
    return {
        "lane": labels[verdict.lane],
        "over": labels[verdict.base],
        "ratio": {"value": verdict.ratio, **interval} if verdict.ratio is not None else None,
        "rounds": verdict.num_rounds,
        "complete": verdict.is_complete,
        "same_target": verdict.are_alike,
        "difference": asdict(verdict.parting) if verdict.parting is not None else None,
        "sentence": verdict_sentence(verdict, labels),
    }


def race_as_markdown(
    report: Report, verdicts: Sequence[LaneVerdict], labels: Sequence[str], stats: Sequence[RunStats]
) -> str:
    """The report as Markdown: verdicts, table, machine, models and settings."""
    lines = ["# Race", "", *(f"- {verdict_sentence(verdict, labels)}" for verdict in verdicts), "", NOTE, ""]
    lines += [f"| {' | '.join(HEADS)} |", f"|---|{'---:|' * (len(HEADS) - 1)}"]
    lines += [f"| {' | '.join(row)} |" for row in lane_rows(list(zip(labels, stats, strict=True)))]
    return "\n".join([*lines, "", *setting_lines(report)]).rstrip() + "\n"


def decoding_settings(request: ChatRequest) -> dict[str, object]:
    """The settings that all lanes share, with the report's names."""
    sampling = request.sampling
    names = (
        "temperature",
        "top_k",
        "top_p",
        "min_p",
        "repeat_penalty",
        "frequency_penalty",
        "presence_penalty",
        "seed",
    )
    return {
        **{name: getattr(sampling, name) for name in names},
        "max_tokens": request.max_tokens,
        "ignore_eos": request.ignore_eos,
    }
