"""The ``{words}`` of an inserted prompt: each in turn is selected to be written over. Pure but for the cursor."""

from __future__ import annotations

import re

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

_PLACEHOLDER = re.compile(r"\{\w[\w -]{0,40}\}")


def placeholders(text: str) -> list[tuple[int, int]]:
    """Give begin and end of each, in code points."""
    return [match.span() for match in _PLACEHOLDER.finditer(text)]


def select_placeholder(edit: QPlainTextEdit, *, backwards: bool = False) -> bool:
    """Select the next one after the caret, or the one before it; False where there is none."""
    text, cursor = edit.toPlainText(), edit.textCursor()
    here = cursor.selectionStart() if backwards else cursor.selectionEnd()
    spans = [(_units(text[:begin]), _units(text[:end])) for begin, end in placeholders(text)]
    found = [span for span in spans if (span[1] <= here if backwards else span[0] >= here)]
    if not found:
        return False
    begin, end = found[-1] if backwards else found[0]
    cursor.setPosition(begin)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    edit.setTextCursor(cursor)
    return True


def _units(text: str) -> int:
    """Count as Qt does, in UTF-16."""
    return len(text.encode("utf-16-le")) // 2
