"""Tests the buttons that all message cards have."""

import pytest
from PySide6.QtCore import QEvent, QObject, QPointF
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.user_card import UserCard
from ui.widgets.icon_button import IconButton
from ui.window.main_window import MainWindow


class PointerComesAgain(QObject):
    """Sends a second enter event, as Qt does when a button is shown under the pointer."""

    def __init__(self, card: MessageCard) -> None:
        super().__init__()
        self._card = card
        self.num_told = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Send the event."""
        shown = event.type() == QEvent.Type.Show and isinstance(watched, IconButton)
        if shown and self._card.isAncestorOf(watched) and self.num_told < 20:
            self.num_told += 1
            QApplication.sendEvent(self._card, QEnterEvent(QPointF(), QPointF(), QPointF()))
        return False


@pytest.mark.parametrize(("role", "kind", "buttons"), [("assistant", AnswerCard, 3), ("user", UserCard, 3)])
def test_a_pointer_that_comes_while_buttons_are_made_makes_no_more_of_them(
    window: MainWindow, qtbot: QtBot, qapp: QApplication, role: str, kind: type[MessageCard], buttons: int
) -> None:
    window.show_conversation("t", [MessageView(1, role, "Words.")])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    (card,) = window.transcript.cards
    assert isinstance(card, kind)
    again = PointerComesAgain(card)
    qapp.installEventFilter(again)
    try:
        QApplication.sendEvent(card, QEnterEvent(QPointF(), QPointF(), QPointF()))
    finally:
        qapp.removeEventFilter(again)
    assert again.num_told > 0
    assert len(card.findChildren(IconButton)) == buttons
