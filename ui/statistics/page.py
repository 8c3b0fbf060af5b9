"""The base of statistics pages: a scrolling column with one tab stop, arrow keys, and groups of statistics."""

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QFrame, QGridLayout, QHBoxLayout, QLabel, QScrollArea, QWidget

from engine.records import RunStats
from ui.statistics.plots import BarSegment, DepthBars
from ui.statistics.words import SOURCES, statistic_help, statistic_name
from ui.text.formatting import UNKNOWN, count
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import grid, hbox, reserve_scroll_bar, vbox
from ui.widgets.metrics import INSET_PX, LargeMetric, LegendRow, LineMetric, MetricWidget

_FAR_ROWS = 1000  # more than the number of statistics on a page
_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_Home: -_FAR_ROWS, Qt.Key.Key_End: _FAR_ROWS}


class _Background(QWidget):
    """An opaque background, so that updates do not repaint the widgets below."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("statsContent")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), self._theme.paint_cache.color(self._theme.tokens.pane))


class StatsPage(QScrollArea):
    """Groups of statistics. Tab enters once; Up, Down, Home and End move between them."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.theme = theme
        self.content = _Background(theme)
        self.column = vbox(
            parent=self.content,
            margins=(12, 6, 0, 10),  # the scroll bar is the right margin
            spacing=4,
        )
        self.setWidget(self.content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        reserve_scroll_bar(self)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(name)
        cast(QApplication, QApplication.instance()).focusChanged.connect(self._on_focus_changed)

    def add_section(self, title: str, widgets: Sequence[QWidget]) -> QLabel:
        label = section_heading(title)
        label.setContentsMargins(0, 10, 0, 2)  # the label's own margins are hidden with it
        self.column.addLayout(inset_row(label))
        self.add(widgets)
        return label

    def add(self, widgets: Sequence[QWidget]) -> None:
        for widget in widgets:
            if isinstance(widget, LegendRow | LineMetric):  # these have their own margins
                self.column.addWidget(widget)
            else:
                self.column.addLayout(inset_row(widget))

    @property
    def figures(self) -> list[MetricWidget]:
        """All visible statistics, from top to bottom."""
        found = [each for each in self.content.findChildren(MetricWidget) if each.isVisibleTo(self.content)]
        places = [(each.mapTo(self.content, QPoint(0, 0)), each) for each in found]
        return [each for _, each in sorted(places, key=lambda pair: (pair[0].y(), pair[0].x()))]

    def ensure_tab_stop(self) -> None:
        """Give the first statistic the tab stop, if none has it."""
        found = self.figures
        if found and not any(each.focusPolicy() is Qt.FocusPolicy.StrongFocus for each in found):
            found[0].setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def move_tab_stop(self, figure: MetricWidget) -> None:
        """Move the tab stop to a visible statistic, if no statistic has the focus."""
        figures = self.content.findChildren(MetricWidget)
        if not any(each.hasFocus() for each in figures):
            for each in figures:
                each.setFocusPolicy(Qt.FocusPolicy.StrongFocus if each is figure else Qt.FocusPolicy.ClickFocus)

    def _on_focus_changed(self, _before: QWidget | None, now: QWidget | None) -> None:
        if isinstance(now, MetricWidget) and self.content.isAncestorOf(now):
            for other in self.content.findChildren(MetricWidget):
                other.setFocusPolicy(Qt.FocusPolicy.StrongFocus if other is now else Qt.FocusPolicy.ClickFocus)
            self.ensureWidgetVisible(now, 0, 24)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the focus between statistics, which ignore keys."""
        found, key = self.figures, Qt.Key(event.key())
        index = next((number for number, figure in enumerate(found) if figure.hasFocus()), None)
        if index is None or key not in _STEPS:
            super().keyPressEvent(event)
        else:
            wanted = min(max(index + _STEPS[key], 0), len(found) - 1)
            found[wanted].setFocus(Qt.FocusReason.TabFocusReason)


def section_heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setWordWrap(True)  # a long word in another language must not widen the pane
    label.setProperty("kind", "section")
    return label


def inset_row(widget: QWidget) -> QHBoxLayout:
    """A line indented like the clickable rows."""
    return hbox(widget, margins=(INSET_PX, 0, INSET_PX, 0))


def large_metric(theme: Theme, key: str) -> LargeMetric:
    return LargeMetric(theme, statistic_name(key), statistic_help(key))


def line_metric(theme: Theme, key: str) -> LineMetric:
    return LineMetric(theme, statistic_name(key), statistic_help(key))


def two_columns(cells: tuple[MetricWidget, MetricWidget, MetricWidget, MetricWidget]) -> QGridLayout:
    layout = grid(gaps=(10, 4), margins=(0, 0, INSET_PX, 0))
    for number, cell in enumerate(cells):
        layout.addWidget(cell, number // 2, number % 2)
    layout.setColumnStretch(0, 1)
    layout.setColumnStretch(1, 1)
    return layout


class AcceptanceWidgets:
    def __init__(self, theme: Theme) -> None:
        self.rate = line_metric(theme, "accepted")
        self.by_depth = DepthBars(theme, statistic_name("depth"), statistic_help("depth"))


def source_parts(stats: RunStats) -> list[BarSegment]:
    """The sources of tokens as segments of a bar."""
    return [
        BarSegment(translate("StatsPanel", name), stats.provenance[source], field)
        for source, (name, field, _) in SOURCES.items()
        if source in stats.sources
    ]


def source_counts(stats: RunStats) -> dict[object, str]:
    """Token counts by source; a dash if the sources are unknown."""
    is_reported = bool(stats.tokens and stats.provenance)  # remote servers do not report sources
    return {source: count(stats.provenance.get(source, 0)) if is_reported else UNKNOWN for source in SOURCES}
