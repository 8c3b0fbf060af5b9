"""The selection of the page: one range over all messages. Keys move its caret between texts.

Its ends are positions in the raw text of messages, so it survives growing answers, typeset formulas and recycled cards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QClipboard, QKeyEvent, QKeySequence, QMouseEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QScrollArea, QWidget
from shiboken6 import isValid

from app.core.domain.messages import MessageView
from ui.theme.theme import Theme
from ui.transcript.cards.card import CardState
from ui.transcript.cards.text_part import TextPart, TextView
from ui.transcript.cards.tool_card import call_text
from ui.transcript.excerpt import END_OF_TEXT, Excerpt, ExcerptPart, excerpt_of

CARET_MARGIN_PX = 24  # margin of a caret that is scrolled into view
SCROLL_MS = 30  # scroll interval while the pointer is outside the page
MAX_OFFERED_MESSAGES = 50  # maximum messages whose text is offered for pasting with the middle button

if TYPE_CHECKING:
    Base = QScrollArea
else:
    Base = object
_CURSOR_MOVES = QTextCursor.MoveOperation
_EDGE_KEYS = {
    Qt.Key.Key_Up: (_CURSOR_MOVES.Up, -1),
    Qt.Key.Key_Down: (_CURSOR_MOVES.Down, 1),
    Qt.Key.Key_Left: (_CURSOR_MOVES.Left, -1),
    Qt.Key.Key_Right: (_CURSOR_MOVES.Right, 1),
}


class SelectableCard(Protocol):
    """A widget with a message's texts, like `MessageCard`."""

    message_id: int

    @property
    def role(self) -> str: ...
    @property
    def raw_text(self) -> str: ...
    @property
    def parts(self) -> Sequence[TextPart]: ...
    @property
    def shows_reasoning(self) -> bool: ...
    def set_wholly_selected(self, *, selected: bool) -> None: ...
    def isVisible(self) -> bool: ...
    def height(self) -> int: ...
    def mapFromGlobal(self, point: QPoint, /) -> QPoint: ...


Entry = SelectableCard | CardState | MessageView  # the last: a message that has no card yet


class Position(NamedTuple):
    message_id: int
    offset: int


class _Hit(NamedTuple):
    """The card at a point, its nearest part if any, and the UTF-16 unit of its text."""

    card: SelectableCard
    part: TextPart | None
    unit: int
    is_below: bool = False  # the point is in the lower half of a card without parts

    def position(self) -> Position:
        place = (END_OF_TEXT if self.is_below else 0) if self.part is None else self.part.offset_of(self.unit)
        return Position(self.card.message_id, place)


def show_caret(page: QScrollArea, view: TextView) -> None:
    content = page.widget()
    if content is not None:
        place = view.viewport().mapTo(content, view.cursorRect().center())
        page.ensureVisible(place.x(), place.y(), 0, CARET_MARGIN_PX)


def views_of(card: SelectableCard) -> list[TextView]:
    return [part.view for part in card.parts]


class TranscriptSelection(QObject):
    """The selection. ``entries``: all messages from top to bottom."""

    def __init__(self, theme: Theme, page: QScrollArea, entries: Callable[[], Sequence[Entry]]) -> None:
        super().__init__(page)
        self._page, self._entries = page, entries
        self._anchor: Position | None = None
        self._head = Position(0, 0)
        self._origin: tuple[Position, Position] | None = None  # the pressed word or line, while the button is down
        self._unit_type: QTextCursor.SelectionType | None = None  # words or blocks by which the selection grows
        self._double: tuple[int, QPoint] | None = None  # time and position of the last double click
        self._pointer = QPoint()
        self._view: TextView | None = None  # the view with the keyboard focus
        self._timer = QTimer(self, interval=SCROLL_MS)
        self._timer.timeout.connect(self._scroll)
        for changed in (theme.changed, theme.formulas.ready):  # the texts are laid out again in this loop iteration
            changed.connect(self.refresh_soon)
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]

    def __bool__(self) -> bool:
        return self._anchor is not None and self._anchor != self._head

    @property
    def is_dragging(self) -> bool:
        """Whether the mouse button is down: then the page must not scroll by itself."""
        return self._origin is not None

    def select(self, anchor: Position, head: Position) -> None:
        self._anchor, self._head = anchor, head
        self.refresh()

    def select_all(self) -> None:
        entries = self._entries()
        if entries:
            self.select(Position(_id_of(entries[0]), 0), Position(_id_of(entries[-1]), END_OF_TEXT))

    def clear(self) -> bool:
        had = bool(self)
        if had:
            self._anchor = self._head  # collapse the selection
            self.refresh()
        self._anchor = None
        return had

    def _range(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        numbers = self._index_by_id()
        if self._anchor is None or not {self._anchor.message_id, self._head.message_id} <= numbers.keys():
            return None
        first, last = sorted((_sort_key(numbers, self._anchor), _sort_key(numbers, self._head)))
        return first, last

    def refresh(self, only: SelectableCard | None = None) -> None:
        """Update the highlights after parts of the page, or of one card, changed."""
        if self._anchor is None:
            return
        numbers = self._index_by_id()
        (first, begin), (last, end) = self._range() or ((0, 0), (-1, 0))
        backwards = _sort_key(numbers, self._head) < _sort_key(numbers, self._anchor)
        for card in self._cards() if only is None else (only,):
            number = numbers.get(card.message_id, -1)
            inside = first <= number <= last
            low, high = begin if number == first else 0, end if number == last else END_OF_TEXT
            for part in card.parts:
                part.select(low if inside else 0, high if inside else 0, backwards=backwards)
            card.set_wholly_selected(selected=inside and low == 0 and high == END_OF_TEXT)

    def refresh_soon(self) -> None:
        QTimer.singleShot(0, self, self.refresh)

    def excerpt(self) -> Excerpt:
        """The selected text and HTML, including recycled messages."""
        return excerpt_of(self._pieces())

    def _pieces(self) -> Iterator[ExcerptPart]:
        (first, begin), (last, end) = self._range() or ((0, 0), (-1, 0))
        for number, entry in enumerate(self._entries()[first : last + 1], start=first):
            yield _piece(entry, begin if number == first else 0, end if number == last else END_OF_TEXT)

    def copy(self) -> None:
        if self:
            self.excerpt().to_clipboard()

    def press(self, event: QMouseEvent) -> None:
        """Handle a press on the page or a text; Shift extends the selection."""
        if event.button() is not Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self._pointer, self._unit_type = event.globalPosition().toPoint(), None
        hit = self._hit(self._pointer)
        if hit is None:
            self.clear()
            return
        is_third = self._double is not None and self._is_same_click(event, *self._double)
        if is_third:
            self._extend_by_unit(hit, QTextCursor.SelectionType.BlockUnderCursor)
            return
        here = hit.position()
        anchor = self._anchor if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else None
        self.clear()
        self._origin = (anchor or here,) * 2
        if hit.part is not None:
            hit.part.put_caret(hit.unit)
        self.select(anchor or here, here)

    def double_click(self, event: QMouseEvent) -> None:
        self._pointer = event.globalPosition().toPoint()
        self._double = event.timestamp(), self._pointer
        hit = self._hit(self._pointer)
        if hit is not None and event.button() is Qt.MouseButton.LeftButton:
            self._extend_by_unit(hit, QTextCursor.SelectionType.WordUnderCursor)

    def move(self, event: QMouseEvent) -> None:
        if not event.buttons() & Qt.MouseButton.LeftButton:
            self._origin = None  # the release of the button was not reported
        if self._origin is None:
            return
        self._pointer = event.globalPosition().toPoint()
        if self._distance_outside():
            self._timer.start()
        self._extend()

    def release(self) -> None:
        self._timer.stop()
        self._origin = None
        clipboard, mode = QApplication.clipboard(), QClipboard.Mode.Selection
        if self and clipboard.supportsSelection() and sum(1 for _ in self._pieces()) <= MAX_OFFERED_MESSAGES:
            clipboard.setMimeData(self.excerpt().mime(), mode)

    def _is_same_click(self, event: QMouseEvent, when_ms: int, place: QPoint) -> bool:
        near = (self._pointer - place).manhattanLength() < QApplication.startDragDistance()
        return near and event.timestamp() - when_ms < QApplication.doubleClickInterval()

    def _extend_by_unit(self, hit: _Hit, by: QTextCursor.SelectionType) -> None:
        """Select the word or block at a point; dragging extends by words or blocks."""
        self._unit_type, self._origin = by, _word_or_block_range(hit, by)
        self.select(*self._origin)

    def _extend(self) -> None:
        hit = self._hit(self._pointer)
        if hit is None or self._origin is None:
            return
        numbers, (begin, end) = self._index_by_id(), self._origin
        low, high = _word_or_block_range(hit, self._unit_type) if self._unit_type is not None else (hit.position(),) * 2
        is_above = _sort_key(numbers, low) < _sort_key(numbers, begin)
        self.select(*((end, low) if is_above else (begin, high)))

    def _distance_outside(self) -> int:
        """The distance in pixels between pointer and page: negative above, positive below, 0 inside."""
        y, height = self._page.viewport().mapFromGlobal(self._pointer).y(), self._page.viewport().height()
        return min(y, 0) + max(y - height, 0)

    def _scroll(self) -> None:
        beyond, bar = self._distance_outside(), self._page.verticalScrollBar()
        if not beyond or self._origin is None:
            self._timer.stop()
            return
        bar.setValue(bar.value() + beyond // 2 + (1 if beyond > 0 else -1))
        self._extend()

    def _hit(self, pointer: QPoint) -> _Hit | None:
        """The card and text position at a screen point, or the nearest ones."""
        viewport = self._page.viewport()
        local = viewport.mapFromGlobal(pointer)
        point = viewport.mapToGlobal(QPoint(local.x(), max(0, min(local.y(), viewport.height() - 1))))
        cards = (card for card in self._cards() if card.isVisible())
        card = min(cards, key=lambda each: _distance_to(each, point), default=None)
        if card is None:
            return None
        part = min(card.parts, key=lambda each: _distance_to(each.view.viewport(), point), default=None)
        if part is None:
            return _Hit(card, None, 0, is_below=card.mapFromGlobal(point).y() > card.height() // 2)
        inner = part.view.viewport()
        inside = inner.mapFromGlobal(point)
        if inside.y() < 0 or inside.y() >= inner.height():  # outside the text: its start or end
            return _Hit(card, part, 0 if inside.y() < 0 else part.num_units)
        return _Hit(card, part, part.view.cursorForPosition(inside).position())

    def _on_focus(self, old: QWidget | None, new: QWidget | None) -> None:
        if self._view is not None and isValid(self._view):
            self._view.removeEventFilter(self)
        self._view = None
        came = old is not None and self._page.isAncestorOf(old)  # False if the window was just activated
        inside = new is not None and self._page.isAncestorOf(new)
        if isinstance(new, TextView) and inside and new.isReadOnly():
            self._view = new
            new.installEventFilter(self)
        elif (came or inside) and isinstance(new, QLineEdit | TextView | QLabel):
            self.clear()  # the new widget has its own selection

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle arrow keys at the edge of a text: move into the next text, or scroll."""
        view = self._view
        if view is None or watched is not view or not isinstance(event, QKeyEvent):
            return False
        if event.type() != QEvent.Type.KeyPress:
            return False
        move, by = _EDGE_KEYS.get(Qt.Key(event.key()), (None, 0))
        extends = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        others = Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier
        before = view.textCursor()
        mode = QTextCursor.MoveMode.KeepAnchor if extends else QTextCursor.MoveMode.MoveAnchor
        is_inside = before.hasSelection() and not extends
        if move is None or event.modifiers() & ~others or is_inside or view.textCursor().movePosition(move, mode):
            if extends:
                view.keyPressEvent(event)
                self._follow_caret(view, before, extends=True)
                return True
            QTimer.singleShot(0, view, lambda: self._follow_caret(view, before))
            return False
        parts = [part for card in self._cards() for part in card.parts]
        at = next((number for number, part in enumerate(parts) if part.view is view), None)
        neighbor = parts[at + by] if at is not None and 0 <= at + by < len(parts) else None
        if neighbor is None:
            event.ignore()  # passes the key to the page
        else:
            self._enter_part(neighbor, view, move, extends=extends)
        return True

    def _enter_part(self, part: TextPart, before: TextView, move: QTextCursor.MoveOperation, *, extends: bool) -> None:
        """Move the caret into the adjacent text: to its nearest line at the same x, or to its nearest end."""
        view, anchor = part.view, self._position_in(before)
        cursor = view.textCursor()
        if move in (_CURSOR_MOVES.Left, _CURSOR_MOVES.Right):
            cursor.movePosition(_CURSOR_MOVES.End if move is _CURSOR_MOVES.Left else _CURSOR_MOVES.Start)
        else:
            x = view.viewport().mapFromGlobal(before.viewport().mapToGlobal(before.cursorRect().center())).x()
            cursor.movePosition(_CURSOR_MOVES.End if move is _CURSOR_MOVES.Up else _CURSOR_MOVES.Start)
            view.setTextCursor(cursor)
            cursor = view.cursorForPosition(QPoint(x, view.cursorRect().center().y()))
        view.setFocus(Qt.FocusReason.ShortcutFocusReason)
        view.setTextCursor(cursor)
        head = self._position_in(view)
        if extends and head is not None:
            self.select(self._anchor or anchor or head, head)
        else:
            self.clear()
        show_caret(self._page, view)

    def _follow_caret(self, view: TextView, before: QTextCursor, *, extends: bool = False) -> None:
        """Scroll to the caret if a key moved it; otherwise this would undo Page Up and Page Down."""
        now = view.textCursor()
        if (now.position(), now.anchor()) == (before.position(), before.anchor()):
            return
        head, anchor = self._position_in(view), self._position_in(view, now.anchor())
        if extends and head is not None and anchor is not None:
            self.select(self._anchor or anchor, head)
        elif not now.hasSelection():  # a selection here is a link that Tab has reached
            self.clear()
            self._anchor = None
        if view.hasFocus():
            show_caret(self._page, view)

    def _position_in(self, view: TextView, unit: int | None = None) -> Position | None:
        for card in self._cards():
            part = next((part for part in card.parts if part.view is view), None)
            if part is not None:
                return Position(card.message_id, part.offset_of(view.textCursor().position() if unit is None else unit))
        return None

    def _cards(self) -> list[SelectableCard]:
        return [entry for entry in self._entries() if not isinstance(entry, CardState | MessageView)]

    def _index_by_id(self) -> dict[int, int]:
        return {_id_of(entry): number for number, entry in enumerate(self._entries())}


def _piece(entry: Entry, begin: int, end: int) -> ExcerptPart:
    if not isinstance(entry, CardState | MessageView):
        return ExcerptPart(entry.role, entry.raw_text, begin, end, entry.shows_reasoning)
    view = entry if isinstance(entry, MessageView) else entry.view
    raw = call_text(view) if view.role == "tool" else view.text
    return ExcerptPart(view.role, raw, begin, end, isinstance(entry, CardState) and entry.expanded)


def _id_of(entry: Entry) -> int:
    return entry.id if isinstance(entry, MessageView) else entry.message_id


def _sort_key(numbers: dict[int, int], position: Position) -> tuple[int, int]:
    return numbers.get(position.message_id, -1), position.offset


def _distance_to(widget: QWidget | SelectableCard, point: QPoint) -> int:
    """The vertical distance in pixels between a widget and a screen point."""
    y = widget.mapFromGlobal(point).y()
    return max(-y, y - widget.height() + 1, 0)


def _word_or_block_range(hit: _Hit, by: QTextCursor.SelectionType) -> tuple[Position, Position]:
    """The extent of the word or block at a point."""
    if hit.part is None:
        return (hit.position(),) * 2
    cursor = QTextCursor(hit.part.view.document())
    cursor.setPosition(hit.unit)
    units = cursor.block().position(), cursor.block().position() + cursor.block().length() - 1
    if by is QTextCursor.SelectionType.WordUnderCursor:
        cursor.select(by)
        units = cursor.selectionStart(), cursor.selectionEnd()
    begin, end = (Position(hit.card.message_id, hit.part.offset_of(unit)) for unit in units)
    return begin, end


class SelectableArea(Base):
    """A scroll area mixin that passes input to its ``selection``."""

    selection: TranscriptSelection

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.selection.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.selection.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: ARG002
        self.selection.release()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.selection.double_click(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.selectAll()
        else:
            super().keyPressEvent(event)

    def copy(self) -> None:
        """Copy the selection; named like the method of Qt's text views."""
        self.selection.copy()

    def selectAll(self) -> None:
        self.selection.select_all()
