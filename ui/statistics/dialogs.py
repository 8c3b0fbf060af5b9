"""Dialogs of the statistics: explanations and the table of all pairs; also pages as text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QScrollArea,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from app.core.domain.speed.verdict import sums_verdict
from app.core.domain.sums import PairSums, Sums
from ui.statistics.page import StatsPage
from ui.statistics.words import explanations, help_of, mode_title, sums_help_of, sums_texts
from ui.text.formatting import as_written, figure, hover, percent
from ui.text.language import Translator, translate
from ui.widgets.building import ElidedLabel, Part, Stretch, button, grid, hbox, label, vbox
from ui.widgets.dialogs import ConfirmDialog, Dialog, copy_with_feedback
from ui.widgets.figures import FigureWidget, LegendRow

tr = Translator("StatsTable")

NUMBERS_FROM = 3  # first column of numbers
MODE = NUMBERS_FROM - 1  # the column before the numbers
TABLE_WIDTH, TABLE_HEIGHT = 1160, 420
MIN_TABLE_WIDTH = 1000
CELL_PX = 32  # width around the text of a heading: space for numbers and the sort arrow
MIN_NAME_PX = 140  # minimum width of name columns; a narrow table scrolls sideways
EDGE_PX = 32  # margin between a window and the screen's edges
HELP_WIDTH, HELP_HEIGHT = 600, 560
MARGINS_PX = 56  # margins of a dialog, and borders and scroll bar of its content
RING_PX = 8  # distance between the focus ring and the text within
TIMES = (50, 95, 99)  # percentiles of the time between tokens


def page_text(page: StatsPage) -> str:
    """The statistics of a page under their headings, one per line."""
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
    return (
        tr("Target"),
        tr("Draft"),
        tr("Mode"),
        tr("Answers"),
        tr("Tokens"),
        tr("Tokens/s"),
        tr("Per pass"),
        tr("Accepted"),
        tr("Speed-up"),
        tr("p50 ms"),
        tr("p95 ms"),
        tr("p99 ms"),
    )


def table_cells(row: PairSums) -> tuple[str, ...]:
    return (row.target or "-", row.draft or "-", mode_title(row.mode), *sums_cells(row.sums))


def sums_cells(sums: Sums) -> tuple[str, ...]:
    texts = sums_texts(sums) | {"accepted": percent(sums.stats.acceptance_rate)}
    cells = [texts[key] for key in ("answers", "tokens", "speed", "per_pass", "accepted", "speedup")]
    return (*cells, *(figure(sums.stats.interval_ms(each)) for each in TIMES))


def table_text(rows: tuple[PairSums, ...]) -> str:
    return "\n".join("\t".join(cells) for cells in (table_head(), *(table_cells(row) for row in rows))) + "\n"


class _Dialog(Dialog):
    """A dialog with a row of buttons; the last one closes it."""

    def __init__(self, parent: QWidget, title: str) -> None:
        super().__init__(parent, title, modal=False)
        self.close_button = button(translate("StatsDialogs", "Close"), self.close)

    def fill(self, *parts: Part, buttons: Sequence[Part]) -> None:
        foot = hbox(*buttons, self.close_button, spacing=8)
        vbox(label(self.windowTitle(), "heading"), *parts, foot, parent=self, margins=(24, 20, 24, 20), spacing=12)


class ExplanationsDialog(_Dialog):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, translate("StatsDialogs", "What do these mean?"))
        content = QWidget()
        content.setObjectName("page")
        lines = grid(gaps=(20, 10), parent=content, margins=(RING_PX - 1, RING_PX, 12, RING_PX))
        lines.setColumnStretch(1, 1)
        self.lines = explanations()
        for number, said in enumerate(self.lines):
            lines.addWidget(label(said.name, "strong"), number, 0, Qt.AlignmentFlag.AlignTop)
            lines.addWidget(label(said.value, wrap=True), number, 1, Qt.AlignmentFlag.AlignTop)
        lines.setRowStretch(len(self.lines), 1)
        self.area = QScrollArea()
        self.area.setObjectName("keyScrolled")
        self.area.setWidget(content)
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.area.setAccessibleName(translate("StatsDialogs", "Explanations"))
        self.area.setAccessibleDescription("\n".join(str(said) for said in self.lines))
        # Align the text with the heading; the focus ring begins further left.
        self.fill((hbox(-RING_PX, self.area), 1), buttons=[Stretch()])
        self.resize(HELP_WIDTH, HELP_HEIGHT)


class _Cell(QTableWidgetItem):
    def __init__(self, text: str, value: str | float) -> None:
        super().__init__(text)
        self._value = value

    def __lt__(self, other: QTableWidgetItem) -> bool:
        """Order numbers by value and names alphabetically; unknown values come first."""
        if isinstance(other, _Cell) and isinstance(self._value, type(other._value)):
            return bool(self._value < other._value)  # type: ignore[operator]
        return super().__lt__(other)


class _PairTable(QTableWidget):
    """The names of models get the width that the numbers leave, but at least `MIN_NAME_PX`."""

    def fit_names(self) -> None:
        numbers = sum(self.columnWidth(column) for column in range(MODE, self.columnCount()))
        for column in range(MODE):
            self.setColumnWidth(column, max(MIN_NAME_PX, (self.viewport().width() - numbers) // MODE))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_names()


class TotalsTable(_Dialog):
    """All pairs and modes in a sortable table."""

    export_requested = Signal()  # export the table
    reset_requested = Signal()  # reset the totals; confirmed

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, translate("StatsDialogs", "All time"))
        self.rows: tuple[PairSums, ...] = ()
        head = table_head()
        self.table = _PairTable(0, len(head))
        self.table.setObjectName("statsTable")
        self.table.setAccessibleName(translate("StatsDialogs", "All pairs and modes"))
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setTabKeyNavigation(False)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        for column, words in enumerate(head):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            self.table.setColumnWidth(column, self.fontMetrics().horizontalAdvance(words) + CELL_PX)
            item = QTableWidgetItem(words)
            if column >= len(head) - len(TIMES):
                item.setToolTip(hover(sums_help_of(f"p{TIMES[column - len(head)]}")))
            item.setTextAlignment(_side(column))
            self.table.setHorizontalHeaderItem(column, item)
        self.reset_button = button(translate("StatsDialogs", "Reset…"), self._ask_reset, kind="danger")
        self.copy_button = button(
            translate("StatsDialogs", "Copy as text"),
            lambda: copy_with_feedback(self.copy_button, table_text(self.rows)),
        )
        self.export_button = button(translate("StatsDialogs", "Export…"), self.export_requested.emit)
        self.fill(
            label(help_of("pair"), "muted", wrap=True),
            (self.table, 1),
            buttons=[self.reset_button, Stretch(), self.copy_button, self.export_button],
        )
        self.table.fit_names()
        needed = self.table.horizontalHeader().length() + MARGINS_PX
        wide = max(MIN_TABLE_WIDTH, needed, min(TABLE_WIDTH, parent.width() - 48))
        self.resize(min(wide, max(parent.width(), self.screen().availableSize().width() - EDGE_PX)), TABLE_HEIGHT)

    def show_rows(self, rows: tuple[PairSums, ...]) -> None:
        self.rows = rows
        self.table.setSortingEnabled(False)
        self.table.setRowCount(len(rows))
        for line, row in enumerate(rows):
            texts = table_cells(row)
            values: tuple[str | float, ...] = (*texts[:NUMBERS_FROM], *_values(row))
            for column, value in enumerate(values):
                cell = _Cell(texts[column], value)
                cell.setTextAlignment(_side(column))
                if column < 2:
                    cell.setToolTip(as_written(texts[column]))
                self.table.setItem(line, column, cell)
        modes = [*(table_cells(row)[MODE] for row in rows), table_head()[MODE]]
        self.table.setColumnWidth(MODE, max(map(self.fontMetrics().horizontalAdvance, modes)) + CELL_PX)
        self.table.fit_names()
        self.table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        self.table.setSortingEnabled(True)
        for each in (self.reset_button, self.copy_button, self.export_button):
            each.setEnabled(bool(rows))

    def _ask_reset(self) -> None:
        question = ConfirmDialog(
            self,
            translate("StatsDialogs", "Reset the totals?"),
            translate(
                "StatsDialogs",
                "The all-time totals will be deleted permanently. Your chats and their statistics are kept.",
            ),
            translate("StatsDialogs", "Reset"),
            danger=True,
        )
        question.accepted.connect(self.reset_requested)
        question.open()


def _side(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column >= NUMBERS_FROM else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def _values(row: PairSums) -> tuple[float, ...]:
    stats = row.sums.stats
    times = (stats.interval_ms(percent) for percent in TIMES)
    rates = (
        stats.tokens_per_second,
        stats.tokens_per_pass,
        stats.acceptance_rate,
        sums_verdict(row.sums).speedup,
        *times,
    )
    return (float(row.sums.num_answers), float(stats.tokens), *(-1.0 if rate is None else rate for rate in rates))
