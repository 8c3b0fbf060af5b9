"""The search box: Enter takes the first result, Down enters the list, Esc leaves."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit


def claims_escape(event: QEvent) -> bool:
    """Keep Esc from the window's shortcuts; False for another event."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    if event.key() != Qt.Key.Key_Escape:
        return False
    event.accept()
    return True


class SearchBox(QLineEdit):
    """A line with three keys of its own.

    Signals:
        taken, down_pressed, left: Enter, Down, Esc.
    """

    taken = Signal()
    down_pressed = Signal()
    left = Signal()

    def event(self, event: QEvent) -> bool:
        return claims_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.taken.emit()
        elif event.key() == Qt.Key.Key_Down:
            self.down_pressed.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
