"""Paints provenance over a document: a tint and an underline of its own for each source; the text stays untouched.

The marks are formats of the layouts, as those of a highlighter are: selections beside them would be searched through
for every line that is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from PySide6.QtGui import QColor, QTextBlock, QTextCharFormat, QTextDocument, QTextLayout

from engine.records import Source
from ui.palette import LIGHT, Palette
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
    return _format(source, tokens.source(source))


@lru_cache(maxsize=64)
def _format(source: Source, name: str) -> QTextCharFormat:
    color = QColor(name)
    result = QTextCharFormat()
    result.setUnderlineStyle(UNDERLINES[source])
    result.setUnderlineColor(color)
    color.setAlpha(TINT_ALPHA)
    result.setBackground(color)
    return result


class DocumentMarks:
    """The marks of one document of prose. What did not change since they were shown last is not touched."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self._shown: list[MarkedRange] = []
        self._tokens = LIGHT
        self._last: tuple[int, list[QTextLayout.FormatRange]] = (-1, [])  # where a block begins, and its formats

    def forget(self) -> None:
        """The document was laid out anew, without any mark."""
        self._shown, self._last = [], (-1, [])

    def show(self, ranges: Sequence[MarkedRange], tokens: Palette) -> None:
        """Mark exactly these ranges, which are in order."""
        known = self._shown if tokens == self._tokens else []
        num_same = _num_same(known, ranges)
        if num_same == len(ranges) == len(self._shown):
            return
        changed = [item.start for item in (*ranges[num_same : num_same + 1], *self._shown[num_same : num_same + 1])]
        first = self._document.findBlock(min(changed)) if known else self._document.begin()
        last = self._document.findBlock(
            max((*(item.start for item in ranges[-1:]), *(i.start for i in self._shown[-1:])))
        )
        begin = first.position()
        self._tokens = tokens
        index = next((number for number, item in enumerate(ranges) if item.start >= begin), len(ranges))
        block = first
        while block.isValid() and block.position() <= last.position():
            index = self._mark_block(block, ranges, index, num_same)
            block = block.next()
        self._shown = list(ranges)
        self._document.markContentsDirty(begin, last.position() + last.length() - 1 - begin)

    def _mark_block(self, block: QTextBlock, ranges: Sequence[MarkedRange], index: int, num_same: int) -> int:
        """Give one block its formats from ``index`` on; returns the number of the first range behind it."""
        begin, end = block.position(), block.position() + block.length()
        place, formats = self._last
        formats = formats[: max(num_same - index, 0)] if place == begin else []
        index += len(formats)
        while index < len(ranges) and ranges[index].start < end:
            formats.append(_format_range(ranges[index], begin, self._tokens))
            index += 1
        self._last = (begin, formats)
        block.layout().setFormats(formats)
        return index


def _num_same(known: Sequence[MarkedRange], ranges: Sequence[MarkedRange]) -> int:
    num_same = max(min(len(known), len(ranges)) - 1, 0)
    if known[:num_same] == ranges[:num_same]:
        return num_same + (known[num_same : num_same + 1] == ranges[num_same : num_same + 1] != [])
    return next(number for number, pair in enumerate(zip(known, ranges, strict=False)) if pair[0] != pair[1])


def _format_range(item: MarkedRange, begin: int, tokens: Palette) -> QTextLayout.FormatRange:
    result = QTextLayout.FormatRange()
    result.start, result.length = item.start - begin, item.length
    result.format = mark_format(item.source, tokens)
    return result
