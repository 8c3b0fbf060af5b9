"""The page of several answers together: of this chat, or of all time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.core.domain.speed.pair_speed import MOST_ANSWERS, PairSpeed
from app.core.domain.speed.speed_forecast import losing_words, measured_words
from app.core.domain.sums import PairSums, Sums
from ui.statistics.page import StatsPage
from ui.statistics.parts import AcceptedPart, SplitPart, large, source_parts, two_by_two
from ui.statistics.plots import HistoryPlot, StackedBar
from ui.statistics.words import (
    draft_title,
    help_of,
    mode_title,
    name_of,
    pair_title,
    row_text,
    sums_help_of,
    sums_texts,
    target_title,
    times_text,
)
from ui.text.formatting import as_written
from ui.text.language import translate
from ui.text.problem_words import in_language
from ui.theme.theme import Theme
from ui.widgets.building import label, vbox
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.figures import INSET_PX, LineFigure

ROWS = ("tokens", "passes", "time", "saved", "p50", "p95", "p99")


class RecentSpeed(QWidget):
    """Shown below the sums of a pair of which answers, or races, are kept."""

    def __init__(self, theme: Theme, pair: str) -> None:
        super().__init__()
        self.setAccessibleName(translate("RecentSpeed", "Last answers of {pair}").format(pair=pair))
        self.measured = label("", "caption", wrap=True)
        self.hint = label("", "caption", wrap=True)
        self.speedup = HistoryPlot(
            theme,
            translate("RecentSpeed", "Speed-up, last answers"),
            translate(
                "RecentSpeed",
                "Speed over plain decoding in each of the last %n answers; the line is plain decoding itself.",
                None,
                MOST_ANSWERS,
            ),
            mark=1.0,
        )
        self.acceptance = HistoryPlot(
            theme,
            translate("RecentSpeed", "Acceptance, last answers"),
            translate("RecentSpeed", "The share of drafted tokens that were accepted, in each of the last answers."),
            top=1.0,
        )
        column = vbox(parent=self, margins=(INSET_PX, 2, INSET_PX, 4), spacing=4)
        self._labels = [label("", "caption", wrap=True), label("", "caption", wrap=True)]
        for name, plot in zip(self._labels, self.plots, strict=True):
            name.setText(plot.name)
            column.addWidget(name)
            column.addWidget(plot)
        column.addWidget(self.measured)
        column.addWidget(self.hint)

    @property
    def plots(self) -> tuple[HistoryPlot, HistoryPlot]:
        return self.speedup, self.acceptance

    def show_speed(self, pair: PairSpeed) -> None:
        figures = (
            [each.speedup for each in pair.answers if each.speedup is not None],
            [each.acceptance_rate for each in pair.answers if each.acceptance_rate is not None],
        )
        for name, plot, values in zip(self._labels, self.plots, figures, strict=True):
            plot.set_values(values)
            name.setVisible(len(values) > 1)  # one value makes no line
            plot.setVisible(len(values) > 1)
        for words, shown in ((measured_words(pair), self.measured), (losing_words(pair), self.hint)):
            shown.setText(in_language(words))
            shown.setVisible(bool(words))


class TotalsPage(StatsPage):
    """Sums of all rows, then one line for each pair and mode."""

    def __init__(self, theme: Theme, name: str, empty: str) -> None:
        super().__init__(theme, name)
        self._theme = theme
        self.rows: tuple[PairSums, ...] = ()
        self.sums = Sums()
        self._speeds: dict[tuple[str, str], PairSpeed] = {}
        self.recent: dict[tuple[str, str], RecentSpeed] = {}
        self.empty = label(empty, "caption", wrap=True)
        self.add([self.empty])
        self.speed, self.speedup, self.per_pass, self.answers = (
            large(theme, key) for key in ("speed", "speedup", "per_pass", "answers")
        )
        cells = (self.speed, self.speedup, self.per_pass, self.answers)
        self.column.addLayout(two_by_two(cells))
        self.add_to_navigation(cells)
        self.lines = {key: LineFigure(theme, name_of(key), sums_help_of(key)) for key in ROWS}
        self.add_section(translate("StatsPanel", "Together"), list(self.lines.values()))
        self.by_pair = QWidget()
        self._pairs = vbox(parent=self.by_pair, margins=0, spacing=4)
        self.pair_lines: dict[tuple[str, str, str], LineFigure] = {}
        self.times_lines: dict[tuple[str, str], LineFigure] = {}
        self.add_section(name_of("pair"), ())
        self.column.addWidget(self.by_pair)
        self.acceptance = AcceptedPart(theme)
        self.add_section(translate("StatsPanel", "Acceptance"), [self.acceptance.rate, self.acceptance.by_depth])
        self.add_section(name_of("lengths"), [self.acceptance.lengths])
        self.split = SplitPart(theme)
        self.add_section(name_of("split"), self.split.widgets)
        self.origin = StackedBar(theme, name_of("source"), help_of("source"))
        self.add_section(name_of("source"), [self.origin])
        self.column.addStretch(1)
        self.show_rows((), Sums())

    def show_rows(
        self, rows: Sequence[PairSums], sums: Sums, speeds: Mapping[tuple[str, str], PairSpeed] | None = None
    ) -> None:
        """Show the sums of each pair and mode, and of all; ``speeds`` are the last answers of pairs."""
        self.rows, self.sums, self._speeds = tuple(rows), sums, dict(speeds or {})
        self.empty.setVisible(not self.rows)
        texts = sums_texts(sums)
        for key, figure in (("speed", self.speed), ("speedup", self.speedup), ("per_pass", self.per_pass)):
            figure.set_value(texts[key])
        self.answers.set_value(texts["answers"])
        for key, figure_line in self.lines.items():
            figure_line.set_value(texts[key])
        self.acceptance.show(sums.stats, texts["accepted"])
        self.split.show(sums.stats)
        self.origin.set_parts(source_parts(sums.stats))
        self._show_pairs()

    def _show_pairs(self) -> None:
        keys = [(row.target, row.draft, row.mode) for row in self.rows]
        wanted = [pair for pair in dict.fromkeys(key[:2] for key in keys) if pair in self._speeds]
        if keys != list(self.pair_lines) or wanted != list(self.recent):
            self._make_pairs()
        for row in self.rows:
            self.pair_lines[row.target, row.draft, row.mode].set_value(row_text(row.sums))
        for pair, recent in self.recent.items():
            recent.show_speed(self._speeds[pair])
        for pair, named in self.times_lines.items():
            named.set_value(times_text(row for row in self.rows if (row.target, row.draft) == pair))

    def _add_title(self, row: PairSums) -> None:
        for text, kind in ((target_title(row), "strong"), (draft_title(row), "caption")):
            label = ElidedLabel(text, kind)
            label.setContentsMargins(INSET_PX, 4 if kind == "strong" else 0, INSET_PX, 0)
            label.setToolTip(as_written(text))
            self._pairs.addWidget(label)

    def _add_line(self, row: PairSums, name: str, words: str) -> LineFigure:
        made = LineFigure(self._theme, name, words)
        made.setAccessibleDescription(f"{pair_title(row)}. {words}")
        self._pairs.addWidget(made)
        return made

    def _make_pairs(self) -> None:
        while (item := self._pairs.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.setParent(None)
                widget.deleteLater()
        self.pair_lines, self.times_lines, self.recent = {}, {}, {}
        for (target, draft), group in groupby(self.rows, lambda row: (row.target, row.draft)):
            rows = list(group)
            self._add_title(rows[0])
            for row in rows:
                named = self._add_line(row, mode_title(row.mode), help_of("pair"))
                self.pair_lines[target, draft, row.mode] = named
            self.times_lines[target, draft] = self._add_line(rows[0], name_of("between"), sums_help_of("between"))
            if (target, draft) in self._speeds:
                self.recent[target, draft] = recent = RecentSpeed(self._theme, pair_title(rows[0]))
                self._pairs.addWidget(recent)
        for made in self.by_pair.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            made.show()
        plots = [plot for recent in self.recent.values() for plot in recent.plots]
        self.add_to_navigation([*self.pair_lines.values(), *self.times_lines.values(), *plots])
        self.column.activate()
        self._pairs.activate()  # at once: what is read or copied now must stand in its order
