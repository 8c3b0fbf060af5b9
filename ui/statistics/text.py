"""A page of the statistics as plain text: what is shown, in its order. Reads widgets, no counters."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLabel, QWidget

from app.core.domain.sums import PairSums, Sums
from ui.statistics.page import StatsPage
from ui.statistics.words import mode_title, sums_texts
from ui.text.formatting import figure, percent
from ui.text.language import translate
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.figure_widget import FigureWidget
from ui.widgets.figures import LegendRow

TIMES = (50, 95, 99)  # percentiles of the time between tokens


def page_text(page: StatsPage) -> str:
    """The figures below their headings, one on each line."""
    lines = [page.accessibleName()]
    for widget in _from_top(page.content):
        if isinstance(widget, LegendRow):
            lines.append(f"{widget.name}: {widget.value}")
        elif isinstance(widget, FigureWidget):
            lines.append(widget.words)
        elif isinstance(widget, QLabel) and widget.property("kind") == "section":
            lines += ["", widget.text()]
        elif isinstance(widget, ElidedLabel) or (isinstance(widget, QLabel) and widget.wordWrap()):
            lines.append(widget.text())
    return "\n".join(lines) + "\n"


def _from_top(content: QWidget) -> list[QWidget]:
    found = [each for each in content.findChildren(QWidget) if each.isVisibleTo(content)]
    places = [(each.mapTo(content, QPoint(0, 0)), each) for each in found]
    return [each for _, each in sorted(places, key=lambda pair: (pair[0].y(), pair[0].x()))]


def table_head() -> tuple[str, ...]:
    """The headings of the table of all pairs."""
    return (
        translate("StatsTable", "Target"),
        translate("StatsTable", "Draft"),
        translate("StatsTable", "Mode"),
        translate("StatsTable", "Answers"),
        translate("StatsTable", "Tokens"),
        translate("StatsTable", "Tokens/s"),
        translate("StatsTable", "Per pass"),
        translate("StatsTable", "Accepted"),
        translate("StatsTable", "Speed-up"),
        translate("StatsTable", "p50 ms"),
        translate("StatsTable", "p95 ms"),
        translate("StatsTable", "p99 ms"),
    )


def table_cells(row: PairSums) -> tuple[str, ...]:
    """A row of that table."""
    return (row.target or "-", row.draft or "-", mode_title(row.mode), *sums_cells(row.sums))


def sums_cells(sums: Sums) -> tuple[str, ...]:
    """The numbers of a row."""
    texts = sums_texts(sums) | {"accepted": percent(sums.stats.acceptance_rate)}
    cells = [texts[key] for key in ("answers", "tokens", "speed", "per_pass", "accepted", "speedup")]
    return (*cells, *(figure(sums.stats.interval_ms(each)) for each in TIMES))


def table_text(rows: tuple[PairSums, ...]) -> str:
    """The table with tabs between its cells, as spreadsheets and text take it."""
    return "\n".join("\t".join(cells) for cells in (table_head(), *(table_cells(row) for row in rows))) + "\n"
