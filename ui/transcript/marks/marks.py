"""Marks tokens by source in a document: a tint and an underline each.

Marks in prose are painted over the text instead of being formats of its layout. Formats would split the text into
pieces that are shaped separately, which takes three times as long and can move letters.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import cast

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QPainter,
    QPen,
    QPixmap,
    QPolygonF,
    QTextBlock,
    QTextCharFormat,
    QTextDocument,
    QTextLine,
)

from engine.records import Source
from ui.text.reading_direction import RIGHT_TO_LEFT_DIRECTIONS
from ui.theme.palette import DARK, LIGHT, Palette
from ui.transcript.marks.provenance import MarkedRange, common_length

TINT_ALPHA = 40
UNDERLINES = {
    Source.NGRAM: QTextCharFormat.UnderlineStyle.DotLine,
    Source.DRAFT: QTextCharFormat.UnderlineStyle.SingleUnderline,
    Source.HEAD: QTextCharFormat.UnderlineStyle.DashDotLine,
    Source.RECOVERED: QTextCharFormat.UnderlineStyle.WaveUnderline,
    Source.BONUS: QTextCharFormat.UnderlineStyle.DashUnderline,
    Source.TARGET: QTextCharFormat.UnderlineStyle.NoUnderline,
}
LINE_PX = 3  # height of the image of an underline; a wave fills it
_DASHES = {  # period, and the length of the dash in it
    QTextCharFormat.UnderlineStyle.DotLine: (3, 1),
    QTextCharFormat.UnderlineStyle.DashUnderline: (6, 4),
    QTextCharFormat.UnderlineStyle.DashDotLine: (12, 9),
    QTextCharFormat.UnderlineStyle.SingleUnderline: (64, 64),
    QTextCharFormat.UnderlineStyle.WaveUnderline: (4, 4),
}
MarkStrip = tuple[QRectF, float, Source]  # tinted rectangle, base line of its text, source


def mark_format(source: Source, tokens: Palette) -> QTextCharFormat:
    return _format(source, tokens.source(source))


@lru_cache(maxsize=64)
def _format(source: Source, name: str) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setUnderlineStyle(UNDERLINES[source])
    result.setUnderlineColor(QColor(name))
    result.setBackground(_tint(name))
    return result


@lru_cache(maxsize=64)
def _tint(name: str) -> QColor:
    color = QColor(name)
    color.setAlpha(TINT_ALPHA)
    return color


@lru_cache(maxsize=64)
def _blend(name: str, ground: int) -> QColor:
    """A tint on white (255) or black (0)."""
    color, share = QColor(name), TINT_ALPHA / 255
    parts = (color.red(), color.green(), color.blue())
    red, green, blue = (round(ground + (part - ground) * share) for part in parts)
    return QColor(red, green, blue)


@lru_cache(maxsize=64)
def _underline(source: Source, name: str, ratio: float) -> QPixmap:
    period, drawn = _DASHES[UNDERLINES[source]]
    result = QPixmap(round(period * ratio), round(LINE_PX * ratio))
    result.setDevicePixelRatio(ratio)
    result.fill(Qt.GlobalColor.transparent)
    painter = QPainter(result)
    if UNDERLINES[source] is QTextCharFormat.UnderlineStyle.WaveUnderline:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(name), 1.0))
        points = ((-2.0, 0.5), (0.0, 2.5), (2.0, 0.5), (4.0, 2.5), (6.0, 0.5))
        painter.drawPolyline(QPolygonF([QPointF(x, y) for x, y in points]))
    else:
        painter.fillRect(QRectF(0, 0, drawn, 1), QColor(name))
    painter.end()
    return result


class DocumentMarks:
    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self.ranges: Sequence[MarkedRange] = ()
        self.tokens = LIGHT

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def show(self, ranges: Sequence[MarkedRange], tokens: Palette) -> int | None:
        """Mark exactly these ranges, in order, none across a line end.

        Returns the first changed position in UTF-16 units; None if nothing changed.
        """
        known, self.ranges = self.ranges, list(ranges)
        if tokens != self.tokens:
            self.tokens = tokens
            return 0
        same = common_length(known, ranges)
        if same == len(known) == len(ranges):
            return None
        return min(item.start for item in (*known[same : same + 1], *ranges[same : same + 1]))

    def strips(self, area: QRect) -> list[MarkStrip]:
        found: list[MarkStrip] = []
        layout, index, ranges = self._document.documentLayout(), 0, self.ranges
        while index < len(ranges):
            block = self._document.findBlock(ranges[index].start)
            if not block.isValid():
                break
            end = bisect_left(ranges, block.position() + block.length(), index, key=_start)
            origin = layout.blockBoundingRect(block).topLeft()
            if origin.y() <= area.bottom():
                found += _strips_of(block, origin, ranges[index:end], area)
            index = max(end, index + 1)
        return found

    def paint(self, painter: QPainter, strips: Sequence[MarkStrip], ratio: float) -> None:
        paint_marks(painter, strips, self.tokens, ratio)


def paint_marks(painter: QPainter, strips: Sequence[MarkStrip], tokens: Palette, ratio: float) -> None:
    """Paint over the text, multiplied or screened so that letters stay readable."""
    groups = _by_source(strips)
    painter.setPen(Qt.PenStyle.NoPen)
    modes = QPainter.CompositionMode
    is_dark = tokens is DARK
    mode = modes.CompositionMode_Screen if is_dark else modes.CompositionMode_Multiply
    painter.setCompositionMode(mode)
    for source, parts in groups.items():
        painter.setBrush(_blend(tokens.source(source), 0 if is_dark else 255))
        painter.drawRects([box for box, _ in parts])
    painter.setCompositionMode(modes.CompositionMode_SourceOver)
    for source, parts in groups.items():
        if UNDERLINES[source] is not QTextCharFormat.UnderlineStyle.NoUnderline:
            painter.setBrush(QBrush(_underline(source, tokens.source(source), ratio)))
            for phase in range(LINE_PX):  # the image is also repeated downwards
                painter.setBrushOrigin(0, phase)
                places = [(box, base) for box, base in parts if base % LINE_PX == phase]
                painter.drawRects([QRectF(box.x(), base, box.width(), LINE_PX) for box, base in places])


def _by_source(strips: Sequence[MarkStrip]) -> dict[Source, list[tuple[QRectF, float]]]:
    found: dict[Source, list[tuple[QRectF, float]]] = {}
    for box, base, source in strips:
        found.setdefault(source, []).append((box, base))
    return found


def _strips_of(block: QTextBlock, origin: QPointF, ranges: Sequence[MarkedRange], area: QRect) -> Iterator[MarkStrip]:
    layout, begin = block.layout(), block.position()
    both_ways = bool(RIGHT_TO_LEFT_DIRECTIONS.search(block.text()))
    for number in range(layout.lineCount()):
        line = layout.lineAt(number)
        top, height = origin.y() + line.y(), line.height()
        if top + height < area.top() or top > area.bottom():
            continue
        first = line.textStart()
        last, base = first + line.textLength(), round(top + line.ascent()) + 1.0
        index = max(bisect_left(ranges, begin + first, key=_start) - 1, 0)
        known, edge = -1, 0.0
        for item in islice(ranges, index, None):
            start = max(item.start - begin, first)
            end = min(item.start - begin + item.length, last)
            if start >= last:
                break
            if both_ways:
                for left, right in _unit_strips(line, range(start, end)):
                    yield QRectF(origin.x() + left, top, right - left, height), base, item.source
            elif start < end:
                left = edge if start == known else _unit_x(line, start)
                known, edge = end, _unit_x(line, end)
                yield QRectF(origin.x() + left, top, edge - left, height), base, item.source


def _unit_strips(line: QTextLine, units: range) -> Iterator[tuple[float, float]]:
    for unit in units:
        left, right = sorted((_unit_x(line, unit), _unit_x(line, unit, QTextLine.Edge.Trailing)))
        if left == right:  # Qt reports no width for the first letter of a run in the other direction
            edges: list[float] = []
            for run in line.glyphRuns(unit, 1):
                widths = run.rawFont().advancesForGlyphIndexes(run.glyphIndexes())
                for place, width in zip(run.positions(), widths, strict=True):
                    edges += (place.x(), place.x() + width.x())
            left, right = ((min(edges), max(edges)) if edges else None) or (left, right)
        yield left, right


def _unit_x(line: QTextLine, unit: int, edge: QTextLine.Edge = QTextLine.Edge.Leading) -> float:
    place = cast("tuple[float, int]", line.cursorToX(unit, edge))  # PySide declares the result as object
    return place[0]


def _start(item: MarkedRange) -> int:
    return item.start
