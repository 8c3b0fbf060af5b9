"""The report by kinds of prompts: a row for each setting, a column for each kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.core.benchmark.comparisons import BEST_PEER, EACH_PEER, FIXED, PLAIN_PEER, Comparison
from app.core.benchmark.markdown import figure, interval, name_of, percent, setting_lines, temperatures_of
from app.core.benchmark.peers.llama_server import ENGINE as SERVER
from app.core.benchmark.report import Report
from app.core.benchmark.runs import AUTO, NO_DRAFT_AUTO, OURS, PLAIN, Variant
from app.core.benchmark.summary import ALL, Row

NOTE = (
    "Each cell: tokens per second over our plain decoding of the same prompts, alternated (in brackets the 95% "
    "interval over prompts), tokens per pass, share of the proposed tokens that was accepted. For plain decoding: its "
    "tokens per second. A server tells no passes; of its tokens each one that was not drafted counts as one."
)
DERIVED_NOTE = (
    "Behind the brackets the 95% interval over rounds, where there were several. The best of several is picked on one "
    "half of the prompts and compared on the other, both ways round."
)
_DERIVED = (
    (FIXED, OURS, "auto over the best single mode and depth of ours"),
    (BEST_PEER, SERVER, "auto over the best of llama-server's settings"),
    (EACH_PEER, NO_DRAFT_AUTO.engine, "auto with the draft over auto without it"),
    (PLAIN_PEER, SERVER, "our plain decoding over llama-server's"),
)


def by_kind(title: str, report: Report) -> str:
    """One report: for each temperature the table of all settings, then what follows from it."""
    lines = [f"## {title}", "", NOTE, ""]
    for temperature in temperatures_of(report.rows):
        rows = [row for row in report.rows if row.temperature == temperature]
        same = [one for one in report.comparisons if one.temperature == temperature]
        lines += [f"### {title}, T = {temperature:g}", "", *settings_table(rows), ""]
        derived = list(derived_table(rows, same))
        if derived:
            lines += [*derived, "", DERIVED_NOTE, ""]
    lines += setting_lines(report, heading=f"### {title}: measured with")
    return "\n".join(lines)


def settings_table(rows: Sequence[Row]) -> Iterator[str]:
    """Settings against kinds, all kinds first; the settings in the order in which they were measured."""
    kinds = _kinds(rows)
    cells = {(name_of(row), row.category): _cell(row) for row in rows}
    yield _line("", kinds)
    yield f"|---|{'---:|' * len(kinds)}"
    for name in dict.fromkeys(name_of(row) for row in rows):
        yield _line(f"**{name}**" if name == AUTO.label else name, [cells.get((name, kind), "-") for kind in kinds])


def derived_table(rows: Sequence[Row], comparisons: Sequence[Comparison]) -> Iterator[str]:
    """What is claimed, by kind; nothing where nothing can be."""
    kinds = _kinds(rows)
    found = [("auto over plain decoding", {row.category: _ratio(row) for row in rows if _variant(row) == AUTO})]
    for name, engine, title in _DERIVED:
        own = [one for one in comparisons if (one.name, one.engine) == (name, engine)]
        picked = dict.fromkeys(word for one in own if one.category == ALL for word in one.against)
        label = f"{title} ({', '.join(picked)})" if name in (FIXED, BEST_PEER) else title
        found.append((label, {one.category: _compared(one) for one in own}))
    found = [(title, cells) for title, cells in found if cells]
    if not found:
        return
    yield _line("", kinds)
    yield f"|---|{'---:|' * len(kinds)}"
    for title, cells in found:
        yield _line(title, [cells.get(kind, "-") for kind in kinds])


def _kinds(rows: Sequence[Row]) -> list[str]:
    return [ALL, *dict.fromkeys(row.category for row in rows if row.category != ALL)]


def _variant(row: Row) -> Variant:
    return Variant(row.mode, row.depth, row.engine)


def _cell(row: Row) -> str:
    if _variant(row) == PLAIN:
        return f"{figure(row.tokens_per_second, 1)} tokens/s"
    speed = interval(row.speedup, row.speedup_low, row.speedup_high, None, None)
    return f"{speed}, {figure(row.tokens_per_pass, 2)}, {percent(row.acceptance_rate)}"


def _ratio(row: Row) -> str:
    return interval(row.speedup, row.speedup_low, row.speedup_high, row.measured_low, row.measured_high)


def _compared(one: Comparison) -> str:
    ratio = one.ratio
    return interval(ratio.value, ratio.low, ratio.high, ratio.measured_low, ratio.measured_high)


def _line(head: str, cells: Sequence[str]) -> str:
    return f"| {' | '.join((head, *cells))} |"
