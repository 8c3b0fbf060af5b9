"""A one-line label with an ellipsis; the tool tip has the whole text."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolTip

from ui.text.formatting import as_written, hover
from ui.text.one_line import cut


class ElidedLabel(QLabel):
    """Like a plain text QLabel that can be narrower than its text. A tool tip of its own comes first."""

    def __init__(self, text: str = "", kind: str = "", *, tip: str = "") -> None:
        """``kind`` is the stylesheet's selector, ``tip`` a tool tip of its own."""
        super().__init__(text)
        if kind:
            self.setProperty("kind", kind)
        self.setToolTip(as_written(tip))
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def is_elided(self) -> bool:
        return QFontMetrics(self.font()).horizontalAdvance(self.text()) > self.contentsRect().width()

    def event(self, event: QEvent) -> bool:
        if not isinstance(event, QHelpEvent) or event.type() != QEvent.Type.ToolTip:
            return super().event(event)
        if self.toolTip() or not self.is_elided():
            return super().event(event)
        QToolTip.showText(event.globalPos(), hover(self.text()), self)
        return True

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        rect = self.contentsRect()
        shown = cut(self.text(), QFontMetrics(self.font()), rect.width())
        flags = self.alignment() | Qt.AlignmentFlag.AlignVCenter
        self.style().drawItemText(
            painter, rect, int(flags), self.palette(), self.isEnabled(), shown, self.foregroundRole()
        )
