"""The line of figures below an answer; each figure tells on hover what it means and how it was measured.

Where there is not room for all, the last ones go first; `ui.formatting` begins with the most telling ones.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QToolTip

from engine.records import RunStats
from ui.formatting import footer_parts, hover
from ui.language import translate
from ui.theme import Theme

SEPARATOR = " · "
MORE = "\N{HORIZONTAL ELLIPSIS}"


class AnswerFooter(QLabel):
    """Small and grey; can be selected. Out of sight where there are no figures."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._parts: list[tuple[str, str]] = []
        self._num_shown = 0
        self.setProperty("kind", "caption")
        theme.dress(self, -1)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hide()

    def show_stats(self, stats: RunStats | None, target: str = "") -> None:
        """Show the figures of an answer, and the model that gave it where it is known."""
        self._parts = footer_parts(stats)
        if target:
            self._parts.append((target, translate("AnswerFooter", "The model that gave this answer.")))
        self._elide()
        self.updateGeometry()  # also where the same words are shown for now: there may be room for more
        self.setAccessibleName(self.whole_text)
        self.setAccessibleDescription(" ".join(meaning for _, meaning in self._parts))
        self.setVisible(bool(self._parts))

    @property
    def whole_text(self) -> str:
        """All figures, also where the line has no room for them."""
        return SEPARATOR.join(text for text, _ in self._parts)

    def sizeHint(self) -> QSize:
        """As wide as all figures."""
        metrics = QFontMetricsF(self.font())
        return QSize(math.ceil(metrics.horizontalAdvance(self.whole_text)) + 2, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """A narrow window cuts the line instead of growing."""
        return QSize(40, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More room shows more."""
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        """Another text size needs other room."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._elide()
            self.updateGeometry()

    def _elide(self) -> None:
        """Show as many whole figures as there is room for: half of a number would tell another one."""
        metrics, texts = QFontMetricsF(self.font()), [text for text, _ in self._parts]
        shown = SEPARATOR.join(texts)
        self._num_shown = len(texts)
        while len(texts) > 1 and metrics.horizontalAdvance(shown) > self.width():
            texts.pop()
            self._num_shown = len(texts)
            shown = SEPARATOR.join([*texts, MORE])
        self.setText(metrics.elidedText(shown, Qt.TextElideMode.ElideRight, self.width()))

    def meaning_at(self, x: float) -> str:
        """What the figure at ``x`` pixels from the left means; of those that had no room, the figures as well."""
        metrics, right = QFontMetricsF(self.font()), 0.0
        for text, meaning in self._parts[: self._num_shown]:
            right += metrics.horizontalAdvance(text + SEPARATOR)
            if x < right:
                return meaning
        hidden = self._parts[self._num_shown :]
        if hidden:
            return "\n".join(f"{text}: {meaning}" for text, meaning in hidden)
        return self._parts[-1][1] if self._parts else ""

    def event(self, event: QEvent) -> bool:
        """The pointer rests on a figure."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), hover(self.meaning_at(event.pos().x())), self)
            return True
        return super().event(event)
