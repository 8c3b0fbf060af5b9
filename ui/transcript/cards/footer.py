"""The figures below an answer; each says on hover what it means and how it was measured.

They break between figures where one line has no room for all, and the model's name gives way in its middle, where names
differ least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent
from PySide6.QtWidgets import QLabel, QToolTip

from engine.records import RunStats
from ui.text.formatting import footer_parts, hover
from ui.text.language import translate
from ui.theme.theme import Theme

SEPARATOR = " · "
LEAST_NAME_CHARS = 14  # as wide as so many x stays of a model's name: its beginning and how it was quantized


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
        self._names_model = False
        self._widths: dict[str, float] = {}  # by the font in force
        self._lines: list[list[_Figure]] = []
        self.setProperty("kind", "caption")
        theme.set_font(self, -1)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hide()

    def show_stats(self, stats: RunStats | None, target: str = "") -> None:
        """Show the figures of an answer, and the model that gave it where it is known; on one line until `wrap`."""
        figures = [_Figure(text, meaning) for text, meaning in footer_parts(stats)]
        if target:
            figures.append(_Figure(target, translate("AnswerFooter", "The model that wrote this answer.")))
        self._figures, self._names_model, self._widths = tuple(figures), bool(target), {}
        self._show([figures])
        self.setAccessibleName(self.whole_text)
        self.setAccessibleDescription(" ".join(one.meaning for one in figures))
        self.setVisible(bool(figures))

    @property
    def whole_text(self) -> str:
        """All figures, also where the model's name is shortened."""
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
        figures = [one for line in lines for one in line]
        if not all(one.is_whole for one in (figures[:-1] if self._names_model else figures)):
            return None
        return math.ceil(QFontMetricsF(self.font()).lineSpacing() * len(lines))

    def _show(self, lines: list[list[_Figure]]) -> None:
        self._lines = lines
        text = "\n".join(_joined(line) for line in lines)
        if text != self.text():
            self.setText(text)

    def changeEvent(self, event: QEvent) -> None:
        """Another font has other widths."""
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
        least_name = self._width_of("x") * LEAST_NAME_CHARS
        lines: list[list[_Figure]] = [[]]
        used = 0.0
        for number, one in enumerate(self._figures):
            is_model = self._names_model and number == len(self._figures) - 1
            needed = self._width_of(one.text)
            least = min(needed, least_name) if is_model else needed
            if lines[-1] and width - used < least:
                lines.append([])
                used = 0.0
                if is_model and len(lines[-2]) > 1:
                    # How it was made stands together: the mode, and the model that would stand there alone.
                    mode_px = self._width_of(lines[-2][-1].text) + self._width_of(SEPARATOR)
                    if width - mode_px >= least:
                        lines[-1].append(lines[-2].pop())
                        used = mode_px
            lines[-1].append(one if needed <= width - used else self._shortened(one, width - used, in_middle=is_model))
            used += needed + self._width_of(SEPARATOR)
        return lines

    def _shortened(self, one: _Figure, room: float, *, in_middle: bool) -> _Figure:
        mode = Qt.TextElideMode.ElideMiddle if in_middle else Qt.TextElideMode.ElideRight
        text = QFontMetricsF(self.font()).elidedText(one.text, mode, room)
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
        """The pointer rests on a figure."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), hover(self.meaning_at(QPointF(event.pos()))), self)
            return True
        return super().event(event)


def _joined(figures: list[_Figure] | tuple[_Figure, ...]) -> str:
    return SEPARATOR.join(one.text for one in figures)
