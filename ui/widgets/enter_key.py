"""Enter presses the focused button, like Space: some of Qt's platforms do not."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog


def press_button(event: QKeyEvent) -> bool:
    button = QApplication.focusWidget()
    if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or not isinstance(button, QAbstractButton):
        return False
    if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
        return False
    if not event.isAutoRepeat():
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            space = QKeyEvent(kind, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier, " ")
            QCoreApplication.sendEvent(button, space)
    return True


class EnterInDialog(QObject):
    """Makes Enter press a dialog's focused button rather than the default one."""

    def __init__(self, dialog: QDialog) -> None:
        super().__init__(dialog)
        dialog.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Only events that a button ignored; fields and lists keep Enter."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and press_button(event):
            return True
        return super().eventFilter(watched, event)
