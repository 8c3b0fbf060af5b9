"""The bar below an answer: its versions, statistics, buttons, and Continue.

Statistics share a row with the buttons if they fit there; otherwise they have separate lines above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QToolTip, QWidget

from engine.records import RunStats
from ui.text.answer_metrics import footer_parts
from ui.text.formatting import tooltip
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.transcript.cards.card import ARROW_INSET_PX, VersionSwitch
from ui.widgets.building import hbox, vbox
from ui.widgets.icon_button import IconButton

BUTTON_PX = 29  # width and height of a styled icon button, needed before the style is applied
VERSIONS_GAP_PX = 4
GAP_PX = 8  # between the statistics and the first button
SPACING_PX = 2  # between buttons
LINES_GAP_PX = 4  # between the statistics and the buttons below them
NUM_DEFERRED_BUTTONS = 1  # the menu button, created on first hover; its width is reserved so that nothing moves
SEPARATOR = " · "


@dataclass(frozen=True, slots=True)
class _Statistic:
    text: str
    tooltip: str
    is_whole: bool = True


class AnswerFooter(QLabel):
    """The statistics below an answer, each explained on hover; lines break between statistics.

    Small, grey and selectable. Hidden without statistics.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._figures: tuple[_Statistic, ...] = ()
        self._widths: dict[str, float] = {}  # text widths in the current font
        self._lines: list[list[_Statistic]] = []
        self.setProperty("kind", "caption")
        theme.set_font(self, -1)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hide()

    def show_stats(self, stats: RunStats | None, seed: int | None = None) -> None:
        """Show an answer's statistics; on one line until `wrap`."""
        figures = [_Statistic(text, meaning) for text, meaning in footer_parts(stats, seed)]
        self._figures, self._widths = tuple(figures), {}
        self._show([figures])
        self.setAccessibleName(self.whole_text)
        self.setAccessibleDescription(" ".join(one.tooltip for one in figures))
        self.setVisible(bool(figures))

    @property
    def whole_text(self) -> str:
        return _joined(self._figures)

    def minimumSizeHint(self) -> QSize:
        """A small width: `wrap` breaks the line in a narrow window."""
        return QSize(40, super().minimumSizeHint().height())

    def wrap(self, width: int) -> None:
        """Break between statistics so that no line is wider than ``width`` pixels."""
        self._show(self._break_lines(width))

    def height_at(self, width: int) -> int | None:
        """The height when wrapped to ``width`` pixels; None if a statistic would be cut."""
        lines = self._break_lines(width)
        if not all(one.is_whole for line in lines for one in line):
            return None
        return math.ceil(QFontMetricsF(self.font()).lineSpacing() * len(lines))

    def _show(self, lines: list[list[_Statistic]]) -> None:
        self._lines = lines
        text = "\n".join(_joined(line) for line in lines)
        if text != self.text():
            self.setText(text)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._widths = {}

    def _width_of(self, text: str) -> float:
        if text not in self._widths:
            self._widths[text] = QFontMetricsF(self.font()).horizontalAdvance(text)
        return self._widths[text]

    def _break_lines(self, width: int) -> list[list[_Statistic]]:
        if self._width_of(self.whole_text) <= width:
            return [list(self._figures)]
        lines: list[list[_Statistic]] = [[]]
        used = 0.0
        for one in self._figures:
            needed = self._width_of(one.text)
            if lines[-1] and width - used < needed:
                lines.append([])
                used = 0.0
            lines[-1].append(one if needed <= width - used else self._shortened(one, width - used))
            used += needed + self._width_of(SEPARATOR)
        return lines

    def _shortened(self, one: _Statistic, room: float) -> _Statistic:
        text = QFontMetricsF(self.font()).elidedText(one.text, Qt.TextElideMode.ElideRight, room)
        return _Statistic(text, f"{one.text}: {one.tooltip}", is_whole=False)

    def tooltip_at(self, place: QPointF) -> str:
        """The explanation of a statistic, preceded by its whole text if it was cut."""
        metrics = QFontMetricsF(self.font())
        top = (self.height() - metrics.lineSpacing() * len(self._lines)) / 2
        number = math.floor((place.y() - top) / metrics.lineSpacing())
        line = self._lines[min(max(number, 0), len(self._lines) - 1)] if self._lines else []
        right = 0.0
        for one in line:
            right += metrics.horizontalAdvance(one.text + SEPARATOR)
            if place.x() < right:
                return one.tooltip
        return line[-1].tooltip if line else ""

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), tooltip(self.tooltip_at(QPointF(event.pos()))), self)
            return True
        return super().event(event)


def _joined(figures: list[_Statistic] | tuple[_Statistic, ...]) -> str:
    return SEPARATOR.join(one.text for one in figures)


class AnswerActionBar(QWidget):
    """Its height follows its width. Add `indented_layout` to the card's layout, not the bar itself."""

    continue_requested = Signal()  # continue a truncated answer

    def __init__(self, theme: Theme, versions: VersionSwitch | None) -> None:
        super().__init__()
        self._theme = theme
        self._versions = versions
        self._buttons: Sequence[IconButton] = ()
        self._width = 0
        self._fitted_for: tuple[int, int, str, str] | None = None  # widths and texts of the last layout
        self.figures = AnswerFooter(theme)
        self.continue_button: QPushButton | None = None
        self.row = hbox(spacing=SPACING_PX)
        self._indent = hbox(ARROW_INSET_PX)  # indent of statistics above the buttons
        if versions is None:
            self.row.addSpacing(ARROW_INSET_PX)
        else:
            self.row.addWidget(versions)
            self.row.addSpacing(VERSIONS_GAP_PX)
        self._figures_index = self.row.count()  # layout index of the statistics
        self.row.addWidget(self.figures)
        self._column = vbox(self._indent, self.row, parent=self, margins=0, spacing=LINES_GAP_PX)

    def indented_layout(self) -> QHBoxLayout:
        """The bar, shifted left so that its version arrow aligns with the text above."""
        return hbox(-ARROW_INSET_PX, self)

    def add_buttons(self, buttons: Sequence[IconButton]) -> None:
        self._buttons = buttons
        self.row.addSpacing(GAP_PX)
        for button in buttons:
            self.row.addWidget(button)
        self.row.addStretch(1)

    def show_stats(self, stats: RunStats | None, seed: int | None = None) -> None:
        self.figures.show_stats(stats, seed)
        self.fit(self._width)

    def show_continue(self, offered: bool) -> None:
        if offered and self.continue_button is None:
            button = self.continue_button = QPushButton(translate("AnswerCard", " Continue"))
            self._theme.changed.connect(self._recolor)
            button.setAccessibleName(translate("AnswerCard", "Continue this answer"))
            button.setToolTip(translate("AnswerCard", "Continue the answer where it was cut off"))
            button.clicked.connect(self.continue_requested)
            self.row.insertWidget(self.row.count() - 1, button)
            self._recolor()
        if self.continue_button is not None and self.continue_button.isHidden() == offered:
            self.continue_button.setVisible(offered)
            self.fit(self._width)

    def _recolor(self) -> None:
        if self.continue_button is not None:
            self.continue_button.setIcon(self._theme.icon("play", self._theme.tokens.text, 14))

    def fit(self, width: int) -> None:
        """Lay out the statistics for this text width in pixels; 0 if unknown."""
        self._width = width
        if width <= 0 or self.figures.isHidden():
            return
        beside = width - self._buttons_px()
        fitted = (width, beside, self.figures.whole_text, self.figures.font().key())
        if fitted == self._fitted_for:
            return
        self._fitted_for = fitted
        high = self.figures.height_at(beside) if beside > 0 else None
        above = self.figures.height_at(width)
        fits = high is not None and (above is None or max(high, BUTTON_PX) <= above + LINES_GAP_PX + BUTTON_PX)
        self.figures.wrap(beside if fits else width)
        row_has_them = self.row.indexOf(self.figures) >= 0
        if fits and not row_has_them:
            self._indent.removeWidget(self.figures)
            self.row.insertWidget(self._figures_index, self.figures)
        elif not fits and row_has_them:
            self.row.removeWidget(self.figures)
            self._indent.addWidget(self.figures)

    def _buttons_px(self) -> int:
        """The width without statistics, including buttons that appear on hover."""
        wide = GAP_PX + (len(self._buttons) + NUM_DEFERRED_BUTTONS) * (BUTTON_PX + SPACING_PX)
        if self._versions is not None:
            wide += self._versions.sizeHint().width() + VERSIONS_GAP_PX + SPACING_PX - ARROW_INSET_PX
        if self.continue_button is not None and not self.continue_button.isHidden():
            wide += self.continue_button.sizeHint().width() + SPACING_PX
        return wide + SPACING_PX

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out again: statistics may fit beside the buttons at another width."""
        super().resizeEvent(event)
        width = event.size().width() - ARROW_INSET_PX
        if width != self._width:
            self.fit(width)

    def event(self, event: QEvent) -> bool:
        """Lay out again after the style or text size changed the size of a part."""
        # Test the class first: most events, such as paint events, have their own class, and `event.type()` is slower.
        if type(event) is QEvent and event.type() == QEvent.Type.LayoutRequest:
            self.fit(self._width)
        return super().event(event)
