"""A plain text box that returns every character as typed or pasted."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit

_BLOCK_END = "\u2029"  # Qt's separator between blocks


class VerbatimTextEdit(QPlainTextEdit):
    """`QPlainTextEdit.toPlainText` replaces no-break spaces and U+2028; `exact_text` does not."""

    def exact_text(self) -> str:
        """The text, with line feeds between lines."""
        return self.document().toRawText().replace(_BLOCK_END, "\n")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if (
            event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            and event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        ):
            self.textCursor().insertBlock()
            self.ensureCursorVisible()
        else:
            super().keyPressEvent(event)
