"""The caret in texts that are only read: arrow keys move it, also from one text of the chat into the next.

A text that is shown whole stays where it is meanwhile: Qt would scroll it under a pointer that selects beyond its edge.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QScrollBar, QTextEdit, QWidget
from shiboken6 import isValid

from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.code_block import CodeBlock
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.cards.user_card import UserCard
from ui.transcript.transcript import Transcript

AROUND_PX = 24  # of the page, above and below a caret that is brought into sight
_MOVES = QTextCursor.MoveOperation
_STEPS = {
    Qt.Key.Key_Up: (_MOVES.Up, -1),
    Qt.Key.Key_Down: (_MOVES.Down, 1),
    Qt.Key.Key_Left: (_MOVES.Left, -1),
    Qt.Key.Key_Right: (_MOVES.Right, 1),
}


def texts_of(card: MessageCard) -> list[QTextEdit | QPlainTextEdit]:
    """The texts of a message that can be read now, from top to bottom."""
    if isinstance(card, UserCard):
        return [card.body] if not card.body.isHidden() else []
    if not isinstance(card, AnswerCard):
        return []
    thought = card.reasoning.body if card.reasoning is not None and card.reasoning.is_open else None
    parts = [*(thought.segments if thought is not None else ()), *card.body.segments]
    return [part.view if isinstance(part, CodeBlock) else part for part in parts]


def show_caret(transcript: Transcript, view: QTextEdit | QPlainTextEdit) -> None:
    """Scroll to the caret of one of the texts."""
    page = transcript.widget()
    if page is not None:
        place = view.viewport().mapTo(page, view.cursorRect().center())
        transcript.ensureVisible(place.x(), place.y(), 0, AROUND_PX)


def _bars_of(view: QTextEdit | QPlainTextEdit) -> tuple[QScrollBar, ...]:
    """The scroll bars of a text that never scrolls by itself; code does, sideways."""
    return (view.verticalScrollBar(), view.horizontalScrollBar()) if isinstance(view, ProseView) else ()


class TextCaret(QObject):
    """Looks at the keys of the text of a transcript that has the focus, and keeps its caret in sight."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._view: QTextEdit | QPlainTextEdit | None = None
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]

    def _on_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        if self._view is not None and isValid(self._view):
            self._view.removeEventFilter(self)
            for bar in _bars_of(self._view):
                bar.rangeChanged.disconnect(self._keep_still)
        inside = isinstance(new, QTextEdit | QPlainTextEdit) and self._transcript.isAncestorOf(new)
        self._view = new if inside and new.isReadOnly() else None  # type: ignore[union-attr, assignment]
        if self._view is not None:
            self._view.installEventFilter(self)
            for bar in _bars_of(self._view):
                bar.rangeChanged.connect(self._keep_still)
            self._keep_still()

    def _keep_still(self) -> None:
        """There is nothing to scroll to in a text as high as its view, whatever Qt reckoned before it was."""
        if self._view is not None:
            for bar in _bars_of(self._view):
                bar.setRange(0, 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """An arrow key at the edge of a text leads into the next one, or scrolls where there is none."""
        view = self._view
        if view is None or watched is not view or event.type() != QEvent.Type.KeyPress:
            return False
        if not isinstance(event, QKeyEvent):
            return False
        move, by = _STEPS.get(Qt.Key(event.key()), (None, 0))
        before = view.textCursor()
        has_modifier = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if move is None or has_modifier or before.hasSelection() or view.textCursor().movePosition(move):
            QTimer.singleShot(0, view, lambda: self._follow_caret(view, before))
            return False
        neighbor = self._neighbor(view, by)
        if neighbor is None:
            event.ignore()  # the page takes it
        else:
            self._enter(neighbor, view, move)
        return True

    def _neighbor(self, view: QTextEdit | QPlainTextEdit, by: int) -> QTextEdit | QPlainTextEdit | None:
        cards = self._transcript.cards
        at = next((number for number, card in enumerate(cards) if card.isAncestorOf(view)), None)
        if at is None:
            return None
        texts = texts_of(cards[at])
        beside = texts.index(view) + by if view in texts else -1
        if 0 <= beside < len(texts):
            return texts[beside]
        others = cards[at + 1 :] if by > 0 else cards[:at][::-1]
        found = (texts_of(card) for card in others)
        return next((texts[0 if by > 0 else -1] for texts in found if texts), None)

    def _enter(
        self, view: QTextEdit | QPlainTextEdit, before: QTextEdit | QPlainTextEdit, move: QTextCursor.MoveOperation
    ) -> None:
        """Put the caret where it would be in one long text: below or above where it was, or at the end beside it."""
        cursor = view.textCursor()
        if move in (_MOVES.Left, _MOVES.Right):
            cursor.movePosition(_MOVES.End if move is _MOVES.Left else _MOVES.Start)
        else:
            x = view.viewport().mapFromGlobal(before.viewport().mapToGlobal(before.cursorRect().center())).x()
            cursor.movePosition(_MOVES.End if move is _MOVES.Up else _MOVES.Start)
            view.setTextCursor(cursor)
            cursor = view.cursorForPosition(QPoint(x, view.cursorRect().center().y()))
        view.setFocus(Qt.FocusReason.ShortcutFocusReason)
        view.setTextCursor(cursor)
        self._show_caret(view)

    def _follow_caret(self, view: QTextEdit | QPlainTextEdit, before: QTextCursor) -> None:
        """Show the caret where a key moved it; Page Down leaves it where it is, and must not be undone."""
        now = view.textCursor()
        if (now.position(), now.anchor()) != (before.position(), before.anchor()):
            self._show_caret(view)

    def _show_caret(self, view: QTextEdit | QPlainTextEdit) -> None:
        if view.hasFocus():
            show_caret(self._transcript, view)
