"""A ring around what has the focus by keyboard and draws none itself: text in a message, the messages as a whole."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from ui.theme import Theme

RING_PX, RADIUS_PX = 2, 6
BY_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class FocusRing(QWidget):
    """Lies above a widget; takes no click. ``outset`` pixels lie outside of it, or inside where negative."""

    def __init__(self, theme: Theme, around: QWidget, outset: int) -> None:
        super().__init__(around.parentWidget() if outset > 0 else around)
        self._theme = theme
        self._around = around
        self._outset = outset
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def on_focus(self, event: QFocusEvent) -> None:
        """Give it each focus event of the widget: it is seen where the focus came by keyboard."""
        wanted = event.gotFocus() and event.reason() in BY_KEYBOARD
        self.setVisible(wanted)
        if wanted:
            self.follow()
            self.raise_()

    def follow(self) -> None:
        """Take the widget's place."""
        inner = self._around.geometry() if self._outset > 0 else self._around.rect()
        gap = self._outset
        self.setGeometry(QRect(inner).adjusted(-gap, -gap, gap, gap))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """The ring."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self._theme.tokens.focus), RING_PX))
        painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), RADIUS_PX, RADIUS_PX)
