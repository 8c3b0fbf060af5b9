"""Paints proposals that were refused, small and struck through, above the words that came in their place."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QTextCursor
from PySide6.QtWidgets import QTextEdit

from ui.theme.theme import Theme

GAP_PX = 6
LEAST_PX = 12


def paint_refused(view: QTextEdit, notes: Sequence[tuple[int, str]], area: QRect, theme: Theme) -> None:
    """Draw the notes (UTF-16 unit, text) that lie in ``area`` of the viewport; each ends where the next one begins."""
    font = _font(theme)
    metrics = QFontMetrics(font)
    painter = QPainter(view.viewport())
    painter.setFont(font)
    painter.setPen(QColor(theme.tokens.recovered))
    cursor = QTextCursor(view.document())
    last = view.document().characterCount() - 1
    right_of_line: dict[int, int] = {}
    for unit, text in sorted(notes, reverse=True):
        cursor.setPosition(min(unit, last))
        place = view.cursorRect(cursor)
        limit = right_of_line.get(place.top(), view.viewport().width())
        right_of_line[place.top()] = place.left() - GAP_PX
        box = QRect(place.left(), place.top() - metrics.height(), limit - place.left(), metrics.height())
        if box.width() >= LEAST_PX and box.intersects(area):
            shown = metrics.elidedText(_visible(text), Qt.TextElideMode.ElideRight, box.width())
            painter.drawText(box, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom), shown)
    painter.end()


def note_height(theme: Theme) -> int:
    """Pixels that a note takes above its words."""
    return QFontMetrics(_font(theme)).height()


def _font(theme: Theme) -> QFont:
    font = theme.font(-2)
    font.setStrikeOut(True)
    return font


def _visible(text: str) -> str:
    shown = text.replace("\n", "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}").replace("\t", "\N{RIGHTWARDS ARROW}")
    return shown.strip(" ")
