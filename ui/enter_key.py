"""Enter presses the button in focus, as Space does: of Qt's platforms only some see to that themselves."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication


def press_button(event: QKeyEvent) -> bool:
    """Take an Enter that came up to the window unused; False where no button has the focus."""
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
