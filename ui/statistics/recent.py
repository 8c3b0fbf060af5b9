"""The last answers of one pair: speed-up and acceptance as small plots, races, and what to do where drafting loses."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.core.domain.speed.pair_speed import MOST_ANSWERS, PairSpeed
from app.core.domain.speed.speed_forecast import losing_words, measured_words
from ui.statistics.plots import HistoryPlot
from ui.text.language import translate
from ui.text.problem_words import in_language
from ui.theme.theme import Theme
from ui.widgets.building import label, vbox
from ui.widgets.figures import INSET_PX


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
