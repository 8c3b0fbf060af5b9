"""Reports as tables: of a benchmark and of a race, in Markdown and for the terminal."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from app.core.benchmark.ratios import (
    BEST_PEER,
    BEST_PEER_DRAFT,
    EACH_PEER,
    FIXED_BASELINE,
    PLAIN_PEER,
    Comparison,
    Ratio,
)
from app.core.benchmark.report import Report, Row
from app.core.benchmark.runs import ALL_CATEGORIES, OWN_ENGINE
from engine.records import RunStats

Line = Sequence[str]
_NOTE = (
    "Speed-ups are over our plain decoding of the same prompts, in alternated runs. In brackets the 95% interval over "
    "prompts, after it the one over rounds where there were several. The best of several is always picked on one half "
    "of the prompts and compared on the other."
)
_RACE_NOTE = (
    "All lanes answered the same question with the same settings, alternated in short slices. Tokens/s count the time "
    "of a lane's own slices; rollback ms is the time to drop rejected tokens, with the bookkeeping after a pass, over "
    "all rounds."
)
_STATS: tuple[tuple[str, Callable[[RunStats], str]], ...] = (
    ("tokens", lambda stats: str(stats.tokens)),
    ("tokens/s", lambda stats: decimal(stats.tokens_per_second, 1)),
    ("tokens per pass", lambda stats: decimal(stats.tokens_per_pass, 2)),
    ("accepted", lambda stats: percent(stats.acceptance_rate)),
    ("p50 ms", lambda stats: decimal(stats.inter_token_ms_p50, 1)),
    ("p95 ms", lambda stats: decimal(stats.inter_token_ms_p95, 1)),
    ("rollback ms", lambda stats: decimal(stats.rollback_s * 1000.0, 1)),
)
_HEAD = ("tokens/s", "over plain", "tokens per pass", "accepted", "p50 ms", "p95 ms", "identical")
_TITLES = {
    FIXED_BASELINE: "auto over the best fixed mode and depth",
    PLAIN_PEER: "our plain over its plain",
    EACH_PEER: "auto over",
    BEST_PEER: "auto over its best",
    BEST_PEER_DRAFT: "auto over its best draft length",
}


def lane_table(lanes: Sequence[tuple[str, RunStats]]) -> list[Line]:
    """A heading, and a line for each lane of a race."""
    return [("lane", *(title for title, _ in _STATS)), *((name, *_cells(stats).values()) for name, stats in lanes)]


def tables(rows: Sequence[Row]) -> str:
    """A table of all workloads for each temperature."""
    return "\n".join(
        line for temperature in dict.fromkeys(row.temperature for row in rows) for line in _section(rows, temperature)
    )


def as_markdown(report: Report, title: str = "Benchmark") -> str:
    lines = [f"# {title}", "", _NOTE, "", *_setting_lines(report.machine, report.models, report.settings), ""]
    for temperature in dict.fromkeys(row.temperature for row in report.rows):
        lines += _section(report.rows, temperature)
        lines += _comparison_sections([one for one in report.comparisons if one.temperature == temperature])
    return "\n".join(lines).rstrip() + "\n"


def race_as_markdown(facts: Mapping[str, dict[str, object]], verdicts: Sequence[str], table: Sequence[Line]) -> str:
    """A race: its verdicts as sentences, the table of its lanes, and ``machine``, ``models`` and ``settings``."""
    lines = ["# Race", "", *(f"- {verdict}" for verdict in verdicts), "", _RACE_NOTE, "", *_table(table), ""]
    return "\n".join([*lines, *_setting_lines(facts["machine"], facts["models"], facts["settings"])]).rstrip() + "\n"


def _section(rows: Sequence[Row], temperature: float) -> Iterator[str]:
    cells = [(_bold(row.category), _name_of(row), *_row_cells(row)) for row in rows if row.temperature == temperature]
    yield from (f"## T = {temperature:g}", "", *_table([("workload", "mode", *_HEAD), *cells], 2), "")


def _setting_lines(
    machine: Mapping[str, object], models: Mapping[str, object], settings: Mapping[str, object]
) -> Iterator[str]:
    yield from ("## Measured with", "", "| | |", "|---|---|")
    for key, value in machine.items():
        yield f"| {key.replace('_', ' ')} | {_escape_pipes(value)} |"
    for role, model in models.items():
        if isinstance(model, dict):
            facts = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in model.items() if key != "name")
            yield f"| {role} | {model['name']}: {facts} |"
    for key, value in settings.items():
        yield f"| {key.replace('_', ' ')} | {_escape_pipes(value)} |"


def _comparison_sections(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Sections of comparisons: first with the best fixed mode, then one for each peer."""
    for engine in dict.fromkeys((OWN_ENGINE, *(one.engine for one in comparisons))):
        own = [
            one
            for one in comparisons
            if one.engine == engine and (one.name != EACH_PEER or one.category == ALL_CATEGORIES)
        ]
        if own:
            title = "Against the best fixed choice" if engine == OWN_ENGINE else f"Against {engine}"
            lines = [
                (_bold(one.category), _TITLES[one.name], ", ".join(one.against), _interval(one.ratio)) for one in own
            ]
            yield from (f"### {title}", "", *_table([("workload", "ratio", "picked", "value"), *lines], 3), "")


def _table(lines: Sequence[Line], numbers_from: int = 1) -> Iterator[str]:
    """Markdown of a heading and lines; columns from ``numbers_from`` on are right-aligned."""
    for number, line in enumerate(lines):
        yield f"| {' | '.join(line)} |"
        if number == 0:
            yield f"|{'---|' * numbers_from}{'---:|' * (len(line) - numbers_from)}"


def _cells(stats: RunStats) -> dict[str, str]:
    return {title: cell(stats) for title, cell in _STATS}


def _row_cells(row: Row) -> Iterator[str]:
    cells = {**_cells(row.stats), "over plain": _interval(row.ratio), "identical": percent(row.same_answers)}
    return (cells[title] for title in _HEAD)


def _name_of(row: Row) -> str:
    label = row.variant.label
    paced = row.variant.engine == OWN_ENGINE and row.variant.depth is None and label not in ("plain", "auto")
    return f"{label} paced" if paced else label


def _bold(category: str) -> str:
    return f"**{category}**" if category == ALL_CATEGORIES else category


def _interval(ratio: Ratio | None) -> str:
    """A ratio, its interval over prompts in brackets, then its interval over rounds."""
    if ratio is None:
        return "-"
    rounds = "" if ratio.measured_low is None else f" {ratio.measured_low:.3f}-{ratio.measured_high:.3f}"
    prompts = "" if ratio.low is None else f" ({ratio.low:.2f}-{ratio.high:.2f})"
    return f"{ratio.value:.3f}{prompts}{rounds}"


def decimal(value: float | None, digits: int) -> str:
    """A formatted number; a dash for None."""
    return "-" if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    """A share in percent; a dash for None."""
    return "-" if value is None else f"{value * 100:.0f}%"


def _escape_pipes(value: object) -> str:
    text = ", ".join(str(item) for item in value) if isinstance(value, list | tuple) else str(value)
    return text.replace(" | ", ", ").replace("|", "/")  # a bar separates cells
