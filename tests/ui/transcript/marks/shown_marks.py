"""The marks that a view shows: painted ones of prose, and layout formats of code."""

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtGui import QTextCharFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from ui.transcript.cards.prose_view import ProseView
from ui.transcript.marks.marks import TINT_ALPHA, mark_format


@dataclass(frozen=True)
class ShownMark:
    """A mark from ``start`` to ``end``, in UTF-16 units of the document; ``words`` is the marked text."""

    start: int
    end: int
    words: str
    shape: QTextCharFormat

    @property
    def color(self) -> str:
        return self.shape.underlineColor().name()


def shown_marks(view: QTextEdit | QPlainTextEdit) -> Iterator[ShownMark]:
    """Every mark, from the first to the last."""
    if isinstance(view, ProseView):
        yield from _painted(view)
        return
    block = view.document().begin()
    while block.isValid():
        units = "".join(char if ord(char) <= 0xFFFF else char + "\0" for char in block.text())  # Qt counts UTF-16 units
        for item in block.layout().formats():
            if item.format.background().color().alpha() == TINT_ALPHA and item.format.hasProperty(
                QTextCharFormat.Property.TextUnderlineStyle.value
            ):
                start, end = item.start, item.start + item.length
                words = units[start:end].replace("\0", "")
                yield ShownMark(block.position() + start, block.position() + end, words, item.format)
        block = block.next()


def _painted(view: ProseView) -> Iterator[ShownMark]:
    text = view.document().toRawText()
    units = "".join(char if ord(char) <= 0xFFFF else char + "\0" for char in text)
    for item in view.marks.ranges:
        start, end = item.start, item.start + item.length
        words = units[start:end].replace("\0", "")
        yield ShownMark(start, end, words, mark_format(item.source, view.marks.tokens))
