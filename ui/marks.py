"""Paints provenance over a document: a tint and an underline of its own for each source; the text stays untouched.

The marks are formats of the layouts, as those of a highlighter are: selections beside them would be searched through
for every line that is drawn.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtGui import QColor, QTextBlock, QTextCharFormat, QTextDocument, QTextLayout

from engine.records import Source
from ui.palette import LIGHT, Palette
from ui.provenance import MarkedRange, num_same

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


@dataclass(slots=True)
class _MarkedBlock:
    """The ranges of a block and their formats, which are dear to make and the same in the next layout."""

    ranges: Sequence[MarkedRange]
    formats: list[QTextLayout.FormatRange]


class DocumentMarks:
    """The marks of one document of prose. What did not change since they were shown last is not touched."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self._shown: list[MarkedRange] = []
        self._tokens = LIGHT
        self._blocks: dict[int, _MarkedBlock] = {}  # by where they begin

    def forget(self) -> None:
        """The document was laid out anew, without any mark."""
        self._shown = []

    def show(self, ranges: Sequence[MarkedRange], tokens: Palette) -> None:
        """Mark exactly these ranges, which are in order."""
        if tokens != self._tokens:
            self._tokens, self._shown, self._blocks = tokens, [], {}
        known = self._shown
        same = num_same(known, ranges)
        if same == len(ranges) == len(known):
            return
        changed = [item.start for item in (*ranges[same : same + 1], *known[same : same + 1])]
        first = self._document.findBlock(min(changed)) if known else self._document.begin()
        last = self._document.findBlock(max(item.start for item in (*ranges[-1:], *known[-1:])))
        begin = first.position()
        index = bisect_left(ranges, begin, key=_start)
        block = first
        while block.isValid() and block.position() <= last.position():
            end = bisect_left(ranges, block.position() + block.length(), index, key=_start)
            self._mark_block(block, ranges[index:end])
            block, index = block.next(), end
        self._shown = list(ranges)
        self._document.markContentsDirty(begin, last.position() + last.length() - 1 - begin)

    def _mark_block(self, block: QTextBlock, ranges: Sequence[MarkedRange]) -> None:
        begin = block.position()
        known = self._blocks.get(begin)
        same = num_same(known.ranges, ranges) if known is not None else 0
        formats = known.formats[:same] if known is not None else []
        formats += [_format_range(item, begin, self._tokens) for item in ranges[same:]]
        self._blocks[begin] = _MarkedBlock(ranges, formats)
        block.layout().setFormats(formats)


def _start(item: MarkedRange) -> int:
    return item.start


def _format_range(item: MarkedRange, begin: int, tokens: Palette) -> QTextLayout.FormatRange:
    result = QTextLayout.FormatRange()
    result.start, result.length = item.start - begin, item.length
    result.format = mark_format(item.source, tokens)
    return result
