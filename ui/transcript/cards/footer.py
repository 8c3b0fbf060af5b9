"""The figures below an answer; each says on hover what it means and how it was measured.

They break between figures where one line has no room for all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent
from PySide6.QtWidgets import QLabel, QToolTip

from engine.records import RunStats
from ui.text.answer_figures import footer_parts
from ui.text.formatting import hover
from ui.theme.theme import Theme

SEPARATOR = " · "


@dataclass(frozen=True, slots=True)
class _Figure:
    """What is shown of a figure, and what it means; ``is_whole``: no letter of it gave way."""

    text: str
    meaning: str
    is_whole: bool = True


class AnswerFooter(QLabel):
    """Small and grey; can be selected. Out of sight where there are no figures."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._figures: tuple[_Figure, ...] = ()
        self._widths: dict[str, float] = {}  # by the font in force
        self._lines: list[list[_Figure]] = []
        self.setProperty("kind", "caption")
        theme.set_font(self, -1)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hide()

    def show_stats(self, stats: RunStats | None, seed: int | None = None) -> None:
        """Show the figures of an answer; on one line until `wrap`."""
        figures = [_Figure(text, meaning) for text, meaning in footer_parts(stats, seed)]
        self._figures, self._widths = tuple(figures), {}
        self._show([figures])
        self.setAccessibleName(self.whole_text)
        self.setAccessibleDescription(" ".join(one.meaning for one in figures))
        self.setVisible(bool(figures))

    @property
    def whole_text(self) -> str:
        """All figures, also where one is shortened."""
        return _joined(self._figures)

    def minimumSizeHint(self) -> QSize:
        """A narrow window breaks the line instead of growing."""
        return QSize(40, super().minimumSizeHint().height())

    def wrap(self, width: int) -> None:
        """Break between figures so that no line is wider than ``width`` pixels."""
        self._show(self._broken(width))

    def height_at(self, width: int) -> int | None:
        """How high it is when wrapped to ``width`` pixels; None where a figure itself would have to be cut."""
        lines = self._broken(width)
        if not all(one.is_whole for line in lines for one in line):
            return None
        return math.ceil(QFontMetricsF(self.font()).lineSpacing() * len(lines))

    def _show(self, lines: list[list[_Figure]]) -> None:
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

    def _broken(self, width: int) -> list[list[_Figure]]:
        if self._width_of(self.whole_text) <= width:
            return [list(self._figures)]
        lines: list[list[_Figure]] = [[]]
        used = 0.0
        for one in self._figures:
            needed = self._width_of(one.text)
            if lines[-1] and width - used < needed:
                lines.append([])
                used = 0.0
            lines[-1].append(one if needed <= width - used else self._shortened(one, width - used))
            used += needed + self._width_of(SEPARATOR)
        return lines

    def _shortened(self, one: _Figure, room: float) -> _Figure:
        text = QFontMetricsF(self.font()).elidedText(one.text, Qt.TextElideMode.ElideRight, room)
        return _Figure(text, f"{one.text}: {one.meaning}", is_whole=False)

    def meaning_at(self, place: QPointF) -> str:
        """What the figure there means, with the whole of its words where some gave way."""
        metrics = QFontMetricsF(self.font())
        top = (self.height() - metrics.lineSpacing() * len(self._lines)) / 2
        number = math.floor((place.y() - top) / metrics.lineSpacing())
        line = self._lines[min(max(number, 0), len(self._lines) - 1)] if self._lines else []
        right = 0.0
        for one in line:
            right += metrics.horizontalAdvance(one.text + SEPARATOR)
            if place.x() < right:
                return one.meaning
        return line[-1].meaning if line else ""

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), hover(self.meaning_at(QPointF(event.pos()))), self)
            return True
        return super().event(event)


def _joined(figures: list[_Figure] | tuple[_Figure, ...]) -> str:
    return SEPARATOR.join(one.text for one in figures)
