"""A readable text of the page: its view, and the position of each character in its message.

The selection belongs to the page: a text passes mouse events on and highlights the range that the page sets.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent, QTextCursor
from PySide6.QtWidgets import QAbstractScrollArea, QPlainTextEdit, QTextEdit, QWidget

from ui.markdown.source_map import SourceMap
from ui.transcript.marks.provenance import PassView, SourceRuns, source_positions

if TYPE_CHECKING:
    Base = QAbstractScrollArea
else:
    Base = object

TextView = QTextEdit | QPlainTextEdit
READ_FLAGS = Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
CARET = Qt.TextInteractionFlag.TextSelectableByKeyboard


class ReadOnlyText(Base):
    """A mixin of text views: passes mouse events and page-wide keys to the page."""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)  # Qt handles links
        event.ignore()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not event.buttons():  # otherwise Qt would scroll the text by itself
            super().mouseMoveEvent(event)
        event.ignore()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        event.ignore()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.ignore()

    def copy(self) -> None:
        """Copy the page's selection."""
        _page_of(self).copy()

    def selectAll(self) -> None:
        _page_of(self).selectAll()

    def is_of_page(self, event: QKeyEvent) -> bool:
        return event.matches(QKeySequence.StandardKey.Copy) or event.matches(QKeySequence.StandardKey.SelectAll)


class _TranscriptPage(Protocol):
    def copy(self) -> None: ...
    def selectAll(self) -> None: ...


def _page_of(text: QWidget) -> _TranscriptPage:
    above = text.parentWidget()
    while above is not None and not hasattr(above, "selectAll"):
        above = above.parentWidget()
    return cast("_TranscriptPage", above)


@dataclass(slots=True, eq=False)
class TextPart:
    """A text view and ``source_map``, the part of the message's raw text that it shows."""

    view: TextView
    source_map: SourceMap
    _positions: Sequence[int] = field(default=(), init=False)
    _cached_positions: tuple[object, int] | None = field(default=None, init=False)

    @property
    def span(self) -> tuple[int, int]:
        positions = self.source_map.positions
        return (positions[0], positions[-1] + 1) if positions else (0, 0)

    @property
    def num_units(self) -> int:
        return self.view.document().characterCount() - 1

    def offset_of(self, unit: int) -> int:
        """The raw text position of a UTF-16 unit of the view; at the end, the end of the last character."""
        positions = self._all_positions()
        return positions[min(unit, len(positions) - 1)]

    def unit_of(self, raw_offset: int) -> int:
        """The first unit of the view at or after a raw text position."""
        return min(bisect_left(self._all_positions(), raw_offset), self.num_units)

    def pass_at(self, unit: int, raw: str, runs: SourceRuns) -> PassView | None:
        """The pass of the token at a unit; None if unknown."""
        place = min(self.offset_of(unit), self.span[1] - 1)
        return runs.pass_at(raw, place) if place >= 0 and len(runs.sources) == len(raw) else None

    def select(self, begin: int, end: int, *, backwards: bool = False) -> None:
        """Highlight exactly the text between two raw text positions."""
        first, last = self.span
        if begin >= end or begin >= last or end <= first:
            units = (0, 0)
        else:
            units = (
                0 if begin <= first else self.unit_of(begin),
                self.num_units if end >= last else self.unit_of(end),
            )
        cursor = self.view.textCursor()
        if units[0] == units[1]:
            if cursor.hasSelection():
                cursor.clearSelection()
                self._set_cursor(cursor)
        elif units != (cursor.selectionStart(), cursor.selectionEnd()):
            cursor.setPosition(units[1 if backwards else 0])
            cursor.setPosition(units[0 if backwards else 1], QTextCursor.MoveMode.KeepAnchor)
            self._set_cursor(cursor)

    def put_caret(self, unit: int) -> None:
        cursor = self.view.textCursor()
        cursor.setPosition(min(unit, self.num_units))
        self._set_cursor(cursor)

    def _set_cursor(self, cursor: QTextCursor) -> None:
        """Set the cursor without scrolling, which Qt's own method would do."""
        bar = self.view.horizontalScrollBar()
        across = bar.value()
        self.view.setTextCursor(cursor)
        bar.setValue(across)

    def _all_positions(self) -> Sequence[int]:
        """The raw text positions of each unit of the view and of its end; non-decreasing."""
        key = (self.source_map, self.view.document().revision())
        if (
            self._cached_positions is None
            or self._cached_positions[0] is not key[0]
            or self._cached_positions[1] != key[1]
        ):
            self._cached_positions, self._positions = key, _positions(self.view.toPlainText(), self.source_map)
        return self._positions


def _positions(shown: str, source_map: SourceMap) -> Sequence[int]:
    mapped = source_map.positions
    if not mapped:
        return [0] * (len(shown) + 1)
    if isinstance(mapped, range) and source_map.text.startswith(shown) and max(shown, default="") <= "\uffff":
        return range(mapped[0], mapped[0] + len(shown) + 1)
    found = source_positions(shown, source_map)
    following, limits = mapped[-1] + 1, [0] * len(found)
    for index in range(len(found) - 1, -1, -1):
        limits[index] = following
        following = found[index] if found[index] >= 0 else following
    positions, last = list[int](), mapped[0] - 1
    for char, place, limit in zip(shown, found, limits, strict=True):
        last = max(last, place if place >= 0 else min(last + 1, limit - 1), mapped[0])
        positions += [last, last] if char > "\uffff" else [last]
    return [*positions, max(mapped[-1] + 1, last)]
