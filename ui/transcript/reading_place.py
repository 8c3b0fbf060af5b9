"""Where somebody was on the page of messages: what was in sight, which reasoning was open, what was being edited."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QTextCursor

from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.user_card import UserCard
from ui.transcript.transcript import Transcript


@dataclass(frozen=True, slots=True)
class OpenEditor:
    """A question that is being edited: text, caret, the other end of the selection, attachments to be left out."""

    message_id: int
    text: str
    position: int
    anchor: int
    left_out: frozenset[int]
    has_focus: bool


@dataclass(frozen=True, slots=True)
class ReadingPlace:
    """``message_id`` is the first message in sight, ``offset_px`` how far above the page it begins; None: the end."""

    message_id: int | None
    offset_px: int
    unfolded: frozenset[int]
    editors: tuple[OpenEditor, ...]

    @classmethod
    def of(cls, page: Transcript) -> ReadingPlace:
        """The place as it is now."""
        editors = [_editor(card) for card in page.cards if isinstance(card, UserCard) and card.editor is not None]
        unfolded = frozenset(
            card.message_id
            for card in page.cards
            if isinstance(card, AnswerCard) and card.thought is not None and card.thought.is_open
        )
        if not page.sticks:
            for card in page.cards:
                top = card.mapTo(page.viewport(), QPoint(0, 0)).y()
                if top + card.height() > 0 and not card.isHidden():
                    return cls(card.message_id, -top, unfolded, tuple(editors))
        return cls(None, 0, unfolded, tuple(editors))


def _editor(card: UserCard) -> OpenEditor:
    if card.editor is None:
        raise ValueError("nothing is being edited on this card")
    cursor = card.editor.edit.textCursor()
    return OpenEditor(
        card.message_id,
        card.editor.edit.toPlainText(),
        cursor.position(),
        cursor.anchor(),
        frozenset(card.editor.left_out),
        card.editor.edit.hasFocus() or card.window().focusWidget() is card.editor.edit,
    )


class PlaceKeeper(QObject):
    """Goes from message to message, as they are built: opens what was open, and ends where the page was read.

    It is gone when it has arrived, or when the page is.
    """

    def __init__(self, page: Transcript, place: ReadingPlace) -> None:
        super().__init__(page)
        self._page, self._place = page, place
        self._editors = list(place.editors)
        page.arrived.connect(self._on_arrived)
        self._go_on()

    def _go_on(self) -> None:
        """To the next message that is being edited, then to the one in sight."""
        if self._editors:
            self._page.go_to(self._editors[0].message_id)
        elif self._place.message_id is not None:
            self._page.go_to(self._place.message_id)
        else:
            self._unfold()
            self._page.jump_to_end()
            self.deleteLater()

    def _on_arrived(self, message_id: int) -> None:
        if self._editors and self._editors[0].message_id == message_id:
            self._edit(self._editors.pop(0))
            self._go_on()
        elif not self._editors and self._place.message_id == message_id:
            self._page.arrived.disconnect(self._on_arrived)
            self._unfold()
            self._scroll()
            self.deleteLater()
        else:  # somebody has gone elsewhere meanwhile, and is not called back
            self.deleteLater()

    def _edit(self, editor: OpenEditor) -> None:
        card = next(card for card in self._page.cards if card.message_id == editor.message_id)
        if not isinstance(card, UserCard):
            return
        focus = self._page.window().focusWidget()
        card.begin_edit()
        if card.editor is None:
            return
        card.editor.show()  # a layout would show it one turn of the event loop later, and move what is in sight
        for attachment_id in editor.left_out:
            card.editor.rows.removed.emit(attachment_id)
        card.editor.edit.setPlainText(editor.text)
        cursor = card.editor.edit.textCursor()
        cursor.setPosition(editor.anchor)
        cursor.setPosition(editor.position, QTextCursor.MoveMode.KeepAnchor)
        card.editor.edit.setTextCursor(cursor)
        if not editor.has_focus and focus is not None:
            focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def _unfold(self) -> None:
        for card in self._page.cards:
            if isinstance(card, AnswerCard) and card.thought is not None and card.message_id in self._place.unfolded:
                card.thought.set_open(True)

    def _scroll(self) -> None:
        card = next(card for card in self._page.cards if card.message_id == self._place.message_id)
        card.set_revealed(card.underMouse())
        bar = self._page.verticalScrollBar()
        bar.setValue(bar.value() + card.mapTo(self._page.viewport(), QPoint(0, 0)).y() + self._place.offset_px)
