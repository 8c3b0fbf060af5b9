"""Reports as Markdown tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from app.core.benchmark.comparisons import BEST_PEER, BEST_PEER_DRAFT, EACH_PEER, FIXED, PLAIN_PEER, Comparison
from app.core.benchmark.report import Report
from app.core.benchmark.runs import OURS, Variant
from app.core.benchmark.summary import ALL, Row

_NOTES = (
    "Speed-ups are over our plain decoding of the same prompts, in alternated runs. In brackets the 95% interval over "
    "prompts, after it the one over rounds where there were several. The best of several is always picked on one half "
    "of the prompts and compared on the other.",
)
_COLUMNS: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("tokens/s", lambda row: decimal(row.tokens_per_second, 1)),
    (
        "over plain",
        lambda row: _interval(row.speedup, row.speedup_low, row.speedup_high, row.measured_low, row.measured_high),
    ),
    ("tokens per pass", lambda row: decimal(row.tokens_per_pass, 2)),
    ("accepted", lambda row: percent(row.acceptance_rate)),
    ("p50 ms", lambda row: decimal(row.inter_token_ms_p50, 1)),
    ("p95 ms", lambda row: decimal(row.inter_token_ms_p95, 1)),
    ("identical", lambda row: percent(row.same_answers)),
)
_SPLIT: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("draft", lambda row: percent(row.draft_share)),
    ("verify", lambda row: percent(row.verify_share)),
    ("sample", lambda row: percent(row.sample_share, 1)),
    ("roll back", lambda row: percent(row.rollback_share, 1)),
)
_MOST_DEPTHS = 16  # number of columns that fit a page
_TITLES = {
    FIXED: "auto over the best fixed mode and depth",
    PLAIN_PEER: "our plain over its plain",
    EACH_PEER: "auto over",
    BEST_PEER: "auto over its best",
    BEST_PEER_DRAFT: "auto over its best draft length",
}


def tables(rows: Sequence[Row]) -> str:
    """Tables for the terminal: one for each temperature, with all workloads."""
    lines: list[str] = []
    for temperature in _temperatures_of(rows):
        lines += [f"### T = {temperature:g}", ""]
        lines += _table(("workload", "mode"), [row for row in rows if row.temperature == temperature], _COLUMNS, _label)
        lines.append("")
    return "\n".join(lines)


def as_markdown(report: Report, title: str = "Benchmark") -> str:
    lines = [f"# {title}", "", *_NOTES, "", *setting_lines(report)]
    for temperature in _temperatures_of(report.rows):
        rows = [row for row in report.rows if row.temperature == temperature]
        lines += [f"## T = {temperature:g}", "", *_at_one_temperature(rows)]
        lines += _comparison_sections([one for one in report.comparisons if one.temperature == temperature])
    return "\n".join(lines).rstrip() + "\n"


def _at_one_temperature(rows: Sequence[Row]) -> Iterator[str]:
    overall = [row for row in rows if row.category == ALL]
    yield from ("### All workloads", "", *_table(("mode",), overall, _COLUMNS, _name_of), "")
    for category in dict.fromkeys(row.category for row in rows if row.category != ALL):
        own = [row for row in rows if row.category == category]
        yield from (f"### {category}", "", *_table(("mode",), own, _COLUMNS, _name_of), "")
    timed = [row for row in overall if row.verify_share is not None]
    yield from ("### Where the time goes", "", *_table(("mode",), timed, _SPLIT, _name_of), "")
    drafted = [row for row in overall if any(row.proposed_by_depth)]
    if drafted:
        yield from ("### Acceptance by depth", "", *_depths(drafted), "")


def setting_lines(report: Report) -> Iterator[str]:
    """Table rows for machine, models and settings."""
    yield from ("## Measured with", "", "| | |", "|---|---|")
    for key, value in report.machine.items():
        yield f"| {key.replace('_', ' ')} | {_plain(value)} |"
    for role, model in report.models.items():
        if isinstance(model, dict):
            facts = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in model.items() if key != "name")
            yield f"| {role} | {model['name']}: {facts} |"
    for key, value in report.settings.items():
        yield f"| {key.replace('_', ' ')} | {_plain(value)} |"
    yield ""


def _comparison_sections(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Sections of comparisons: first with the best fixed mode, then one for each peer."""
    fixed = [one for one in comparisons if one.name == FIXED]
    if fixed:
        yield from ("### Against the best fixed choice", "", *_ratios(fixed), "")
    for engine in dict.fromkeys(one.engine for one in comparisons if one.engine != OURS):
        own = [one for one in comparisons if one.engine == engine]
        every = [one for one in own if one.name == EACH_PEER and one.category != ALL]
        yield from (f"### Against {engine}", "", *_ratios([one for one in own if one not in every]), "")


def _ratios(comparisons: Sequence[Comparison]) -> Iterator[str]:
    yield from ("| workload | ratio | picked | value |", "|---|---|---|---:|")
    for one in comparisons:
        ratio = one.ratio
        value = _interval(ratio.value, ratio.low, ratio.high, ratio.measured_low, ratio.measured_high)
        yield f"| {_bold(one.category)} | {_TITLES[one.name]} | {', '.join(one.against)} | {value} |"


def _depths(rows: Sequence[Row]) -> Iterator[str]:
    """A table: for each depth, the share of passes that accepted all tokens up to it."""
    deepest = min(max(sum(map(bool, row.proposed_by_depth)) for row in rows), _MOST_DEPTHS)
    shown = range(deepest)
    yield f"| mode | {' | '.join(str(depth + 1) for depth in shown)} |"
    yield f"|---|{'---:|' * deepest}"
    for row in rows:
        cells = []
        for depth in shown:
            tried = row.proposed_by_depth[depth] if depth < len(row.proposed_by_depth) else 0
            cells.append(percent(row.accepted_by_depth[depth] / tried if tried else None))
        yield f"| {_name_of(row)} | {' | '.join(cells)} |"


def _table(
    heads: Sequence[str],
    rows: Sequence[Row],
    columns: Sequence[tuple[str, Callable[[Row], str]]],
    name: Callable[[Row], str],
) -> Iterator[str]:
    yield f"| {' | '.join((*heads, *(title for title, _ in columns)))} |"
    yield f"|{'---|' * len(heads)}{'---:|' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join((name(row), *(cell(row) for _, cell in columns)))} |"


def _name_of(row: Row) -> str:
    label = Variant(row.mode, row.depth, row.engine).label
    paced = row.engine == OURS and row.depth is None and label not in ("plain", "auto")
    return f"{label} paced" if paced else label


def _label(row: Row) -> str:
    return f"{_bold(row.category)} | {_name_of(row)}"


def _bold(category: str) -> str:
    return f"**{category}**" if category == ALL else category


def _temperatures_of(rows: Sequence[Row]) -> list[float]:
    return list(dict.fromkeys(row.temperature for row in rows))


def _interval(
    value: float | None, low: float | None, high: float | None, inner_low: float | None, inner_high: float | None
) -> str:
    """A ratio, its interval over prompts in brackets, then its interval over rounds."""
    if value is None:
        return "-"
    rounds = "" if inner_low is None else f" {decimal(inner_low, 3)}-{decimal(inner_high, 3)}"
    prompts = "" if low is None else f" ({decimal(low, 2)}-{decimal(high, 2)})"
    return f"{value:.3f}{prompts}{rounds}"


def decimal(value: float | None, digits: int) -> str:
    """A formatted number; a dash for None."""
    return "-" if value is None else f"{value:.{digits}f}"


def percent(value: float | None, digits: int = 0) -> str:
    """A share in percent; a dash for None."""
    return "-" if value is None else f"{value * 100:.{digits}f}%"


def _plain(value: object) -> str:
    text = ", ".join(str(item) for item in value) if isinstance(value, list | tuple) else str(value)
    return text.replace(" | ", ", ").replace("|", "/")  # a bar separates cells
