"""Paints provenance over a document: a tint and an underline of its own for each source; the text stays untouched."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from engine.records import Source
from ui.palette import Palette
from ui.provenance import MarkedRange

TINT_ALPHA = 40
UNDERLINES = {
    Source.NGRAM: QTextCharFormat.UnderlineStyle.DotLine,
    Source.DRAFT: QTextCharFormat.UnderlineStyle.SingleUnderline,
    Source.RECOVERED: QTextCharFormat.UnderlineStyle.WaveUnderline,
    Source.BONUS: QTextCharFormat.UnderlineStyle.DashUnderline,
    Source.TARGET: QTextCharFormat.UnderlineStyle.NoUnderline,
}


def mark_format(source: Source, tokens: Palette) -> QTextCharFormat:
    """How tokens of a source are marked."""
    color = QColor(tokens.source(source))
    result = QTextCharFormat()
    result.setUnderlineStyle(UNDERLINES[source])
    result.setUnderlineColor(color)
    color.setAlpha(TINT_ALPHA)
    result.setBackground(color)
    return result


def paint_marks(view: QTextEdit | QPlainTextEdit, ranges: Iterable[MarkedRange], tokens: Palette) -> None:
    """Mark exactly these ranges of a view."""
    selections = []
    last = view.document().characterCount() - 1
    for item in ranges:
        cursor = QTextCursor(view.document())
        cursor.setPosition(min(item.start, last))
        cursor.setPosition(min(item.start + item.length, last), QTextCursor.MoveMode.KeepAnchor)
        selection = QTextEdit.ExtraSelection()
        selection.cursor = cursor
        selection.format = mark_format(item.source, tokens)
        selections.append(selection)
    view.setExtraSelections(selections)
