"""Forwards what is typed or pasted where no widget takes it to the message box.

A window hands over the keys that came up to it unused. A button has no input method, so a dead key comes as itself
and is put together with its letter here.
"""

from __future__ import annotations

import sys
import unicodedata

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

_Key = Qt.Key
# What a dead key adds to the letter after it, as a combining character.
MARKS: dict[int, str] = {
    _Key.Key_Dead_Grave: "\u0300",
    _Key.Key_Dead_Acute: "\u0301",
    _Key.Key_Dead_Circumflex: "\u0302",
    _Key.Key_Dead_Tilde: "\u0303",
    _Key.Key_Dead_Macron: "\u0304",
    _Key.Key_Dead_Breve: "\u0306",
    _Key.Key_Dead_Abovedot: "\u0307",
    _Key.Key_Dead_Diaeresis: "\u0308",
    _Key.Key_Dead_Abovering: "\u030a",
    _Key.Key_Dead_Doubleacute: "\u030b",
    _Key.Key_Dead_Caron: "\u030c",
    _Key.Key_Dead_Cedilla: "\u0327",
    _Key.Key_Dead_Ogonek: "\u0328",
}


class KeyForwarder:
    """Sends the keys that write something to ``edit`` and gives it the focus; all others are left alone."""

    def __init__(self, edit: QPlainTextEdit) -> None:
        self._edit = edit
        self._mark = ""  # of a dead key whose letter has not come yet
        self._marked_at: QWidget | None = None

    def take(self, event: QKeyEvent) -> bool:
        """Use a key that nobody else wanted; False where it writes nothing."""
        if self._edit.hasFocus():  # what the box itself did not want comes up as well
            return False
        if event.matches(QKeySequence.StandardKey.Paste):
            return self._paste()
        if event.key() in MARKS and not event.text():
            self._mark, self._marked_at = MARKS[event.key()], QApplication.focusWidget()
            return True
        return types_text(event) and self._write(event)

    def _paste(self) -> bool:
        if not self._edit.canPaste() or not self._focus():
            return False
        self._edit.paste()
        return True

    def _write(self, event: QKeyEvent) -> bool:
        mark = self._mark if self._marked_at is QApplication.focusWidget() else ""
        self._mark, self._marked_at = "", None
        if not self._focus():
            return False
        together = unicodedata.normalize("NFC", event.text() + mark)
        text = together if len(together) == len(event.text()) else event.text()
        key = QKeyEvent(QEvent.Type.KeyPress, event.key(), event.modifiers(), text, event.isAutoRepeat())
        QCoreApplication.sendEvent(self._edit, key)
        return True

    def _focus(self) -> bool:
        self._edit.setFocus(Qt.FocusReason.OtherFocusReason)
        return self._edit.hasFocus()


def types_text(event: QKeyEvent) -> bool:
    """Whether a key writes something that can be seen. A space presses or scrolls where the caret is not in a text."""
    text, modifiers = event.text(), event.modifiers()
    if not text or text.isspace() or not text.isprintable():
        return False
    control = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
    alt = bool(modifiers & Qt.KeyboardModifier.AltModifier)
    if modifiers & Qt.KeyboardModifier.MetaModifier:
        return False
    return not control if sys.platform == "darwin" else control is alt  # both together are AltGr on Windows
