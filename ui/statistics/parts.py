"""Groups of figures that several pages show: the large ones, what was accepted, the time of a pass, the sources."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QWidget

from engine.records import RunStats
from ui.statistics.plots import BarSegment, DepthBars, LengthBars, StackedBar
from ui.statistics.words import SOURCES, SPLIT, help_of, name_of, split_of
from ui.text.formatting import UNKNOWN, count, percent
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import grid
from ui.widgets.figure_widget import FigureWidget
from ui.widgets.figures import INSET_PX, LargeFigure, LineFigure


def large(theme: Theme, key: str) -> LargeFigure:
    """A large figure with its words."""
    return LargeFigure(theme, name_of(key), help_of(key))


def line(theme: Theme, key: str) -> LineFigure:
    """A figure on a line with its words."""
    return LineFigure(theme, name_of(key), help_of(key))


def two_by_two(cells: tuple[FigureWidget, FigureWidget, FigureWidget, FigureWidget]) -> QGridLayout:
    """Four figures, two by two, of the same width."""
    layout = grid(gaps=(10, 4), margins=(0, 0, INSET_PX, 0))
    for number, cell in enumerate(cells):
        layout.addWidget(cell, number // 2, number % 2)
    layout.setColumnStretch(0, 1)
    layout.setColumnStretch(1, 1)
    return layout


class AcceptedPart:
    """How much was accepted: the rate, the bars by depth, the passes by tokens kept."""

    def __init__(self, theme: Theme) -> None:
        self.rate = line(theme, "accepted")
        self.by_depth = DepthBars(theme, name_of("depth"), help_of("depth"))
        self.lengths = LengthBars(theme, name_of("lengths"), help_of("lengths"))

    def show(self, stats: RunStats, rate: str, *, settled: bool = True) -> None:
        self.show_rate(rate)
        self.show_depths(stats, settled=settled)
        self.show_lengths(stats)

    def show_rate(self, rate: str) -> None:
        self.rate.set_value(rate)

    def show_depths(self, stats: RunStats, *, settled: bool) -> None:
        self.by_depth.set_shares(stats.acceptance_by_depth, settled=settled)

    def show_lengths(self, stats: RunStats) -> None:
        """Show how many passes kept how much."""
        self.lengths.set_counts(stats.accepted_lengths)


class SplitPart:
    """Where the time of a pass goes."""

    def __init__(self, theme: Theme) -> None:
        self.bar = StackedBar(theme, name_of("split"), help_of("split"))
        self.lines = {
            key: LineFigure(theme, translate("StatsPanel", name), translate("StatsPanel", words), key)
            for key, (name, words) in SPLIT.items()
        }

    @property
    def widgets(self) -> list[QWidget]:
        return [self.bar, *self.lines.values()]

    def show(self, stats: RunStats) -> None:
        amounts = split_of(stats)
        total = sum(amounts.values())
        for key, figure_line in self.lines.items():
            figure_line.set_value(percent(amounts[key] / total) if total > 0 else UNKNOWN)
        self.bar.set_parts([BarSegment(self.lines[key].name, amount, key) for key, amount in amounts.items()])


def source_parts(stats: RunStats) -> list[BarSegment]:
    """The sources that tokens came from, as parts of a bar."""
    return [
        BarSegment(translate("StatsPanel", name), stats.provenance[source], field)
        for source, (name, field, _) in SOURCES.items()
        if source in stats.sources
    ]


def source_counts(stats: RunStats) -> dict[object, str]:
    """How many tokens came from where; a dash while there is none at all."""
    is_reported = bool(stats.tokens and stats.provenance)  # engines of others do not tell it
    return {source: count(stats.provenance.get(source, 0)) if is_reported else UNKNOWN for source in SOURCES}
