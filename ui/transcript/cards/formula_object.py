"""Draws typeset formulas where they stand in a text document: on the line's base, as vectors, in the text's colour."""

from __future__ import annotations

import math
from functools import lru_cache

from PySide6.QtCore import QByteArray, QObject, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QFontMetricsF,
    QPainter,
    QPen,
    QPyTextObject,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtSvg import QSvgRenderer

from engine.records import Source
from ui.formulas.formula import INK, Formula
from ui.formulas.formulas import FormulaCache
from ui.markdown.html_writer import formula_source
from ui.theme.palette import LIGHT, Palette

SCALE = 1.06  # a formula's letters are a little smaller than those of an interface font of the same size
LEAST_SCALE = 0.35
TINT_ALPHA = 40
_LINES = {
    Source.NGRAM: Qt.PenStyle.DotLine,
    Source.HEAD: Qt.PenStyle.DashDotLine,
    Source.BONUS: Qt.PenStyle.DashLine,
}
_BASE = QTextCharFormat.VerticalAlignment.AlignBaseline


def _font_that_descends(words: QFont, pixels: float) -> QFont:
    """A font that reaches so far below the line's base, and at least as far as that of the words.

    Qt lets an object on the base of its line reach as far below it as the font of its format does.
    """
    font = QFont(words)
    now = QFontMetricsF(words).descent()
    if pixels > now + 0.5:
        size = math.floor(QFontInfo(words).pixelSize() * pixels / now)
        font.setPixelSize(size)
        while QFontMetricsF(font).descent() < pixels - 0.5:  # it is rounded, so a few steps may be missing
            size += 1
            font.setPixelSize(size)
    return font


@lru_cache(maxsize=256)
def _renderer(formula: Formula, color: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(formula.svg.replace(INK, color).encode()))


class FormulaObject(QPyTextObject):
    """Takes the place of Qt's own handler of images; a document has no other images."""

    def __init__(self, parent: QObject, book: FormulaCache) -> None:
        super().__init__(parent)
        self._book = book
        self.tokens: Palette = LIGHT
        self.marks: dict[int, Source] = {}  # by place in the document
        self.px = 14  # the font's size

    def formula_at(self, shape: QTextFormat) -> Formula | None:
        """The typeset formula that a format stands for; None where it is none, or is not ready."""
        found = self._book.get(formula_source(shape.toImageFormat().name()))
        return found if isinstance(found, Formula) else None

    def intrinsicSize(self, document: QTextDocument, _position: int, shape: QTextFormat) -> QSizeF:
        formula = self.formula_at(shape)
        if formula is None:
            return QSizeF(0, 0)
        scale = self._scale(formula, document)
        above, below = self._extent(formula, shape, scale, document)
        return QSizeF(formula.width * scale, above + below)

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, document: QTextDocument, position: int, shape: QTextFormat
    ) -> None:
        formula = self.formula_at(shape)
        if formula is None:
            return
        scale = self._scale(formula, document)
        above, _below = self._extent(formula, shape, scale, document)
        top = rect.y() + above - formula.ascent * scale
        box = QRectF(rect.x(), top, formula.width * scale, (formula.ascent + formula.descent) * scale)
        if position in self.marks:
            self._paint_mark(painter, box, self.marks[position])
        _renderer(formula, self.tokens.text).render(painter, box)

    def align(self, document: QTextDocument, room_above: float = 0.0) -> None:
        """Put every formula on the base of its line, with the room above and below that it needs.

        ``room_above``: pixels that every line of a paragraph with a formula keeps free above what stands in it.
        """
        descent = self._descent(document)
        cursor = QTextCursor(document)
        place = document.toRawText().find("\N{OBJECT REPLACEMENT CHARACTER}")
        while place >= 0:
            cursor.setPosition(place)
            cursor.setPosition(place + 1, QTextCursor.MoveMode.KeepAnchor)
            shape = cursor.charFormat()
            formula = self.formula_at(shape)
            if formula is not None:
                below = formula.descent * self._scale(formula, document)
                shape.setVerticalAlignment(_BASE)  # by the descent of the format's font
                shape.setFont(_font_that_descends(document.defaultFont(), max(below, descent)))
                cursor.setCharFormat(shape)
                block = cursor.blockFormat()  # a line of fixed height would cut off what is taller
                wanted = block.lineHeight()
                if room_above:
                    extent = self._extent(formula, shape, self._scale(formula, document), document)
                    wanted = max(wanted, sum(extent) + room_above)
                block.setLineHeight(math.ceil(wanted), QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
                cursor.setBlockFormat(block)
            place = document.toRawText().find("\N{OBJECT REPLACEMENT CHARACTER}", place + 1)

    def _scale(self, formula: Formula, document: QTextDocument) -> float:
        """Pixels of one em; a formula that is wider than the text is made smaller."""
        wanted = self.px * SCALE
        room = document.textWidth()
        return wanted if room <= 0 else max(min(wanted, room / formula.width), wanted * LEAST_SCALE)

    def _extent(
        self, formula: Formula, shape: QTextFormat, scale: float, document: QTextDocument
    ) -> tuple[float, float]:
        """Pixels above and below the base line that the layout should keep free; below, what `align` made of it."""
        words = QFontMetricsF(document.defaultFont())  # alone on its line it stands where words would
        return max(formula.ascent * scale, words.ascent()), QFontMetricsF(shape.toCharFormat().font()).descent()

    @staticmethod
    def _descent(document: QTextDocument) -> float:
        return QFontMetricsF(document.defaultFont()).descent()

    def _paint_mark(self, painter: QPainter, rect: QRectF, source: Source) -> None:
        """A tint and a line, as words have; Qt would cover a formula with the plain colour."""
        color = QColor(self.tokens.source(source))
        painter.save()
        painter.setPen(QPen(color, 1, _LINES.get(source, Qt.PenStyle.SolidLine)))
        if source is not Source.TARGET:
            painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        color.setAlpha(TINT_ALPHA)
        painter.fillRect(rect, color)
        painter.restore()
