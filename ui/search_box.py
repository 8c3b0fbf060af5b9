"""Where words to look for are typed: Enter takes the first result, Down goes into the list, Esc leaves."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit


class SearchBox(QLineEdit):
    """A line with three keys of its own.

    Signals:
        taken, left_downwards, left: Enter, Down, Esc.
    """

    taken = Signal()
    left_downwards = Signal()
    left = Signal()

    def event(self, event: QEvent) -> bool:
        """Esc is the box's own while the caret is in it; elsewhere the window has it."""
        override = event.type() == QEvent.Type.ShortcutOverride
        if override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell of the three keys."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.taken.emit()
        elif event.key() == Qt.Key.Key_Down:
            self.left_downwards.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
