"""Texts that are read: selecting beyond their edge moves the selection, never the text."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState, MessageView
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.text_caret import texts_of
from ui.window.main_window import MainWindow

STORY = "There was once a brave fox called Mia. " * 12


def text_of(window: MainWindow, message_id: int) -> ProseView:
    card = next(card for card in window.transcript.cards if card.message_id == message_id)
    view = texts_of(card)[0]
    assert isinstance(view, ProseView)
    return view


def select_beyond(view: ProseView, qtbot: QtBot) -> None:
    """Press in the first line and go below the last one, as a hand in a hurry does."""
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(40, 8))
    below = QPointF(60, view.height() + 200)
    there = QPointF(view.viewport().mapToGlobal(below.toPoint()))
    button = Qt.MouseButton.LeftButton
    move = QMouseEvent(QEvent.Type.MouseMove, below, there, button, button, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(view.viewport(), move)
    for _ in range(3):  # Qt's own timer scrolls on while the pointer rests there
        view.verticalScrollBar().triggerAction(view.verticalScrollBar().SliderAction.SliderSingleStepAdd)


@pytest.mark.parametrize("message_id", [1, 2])
def test_a_selection_that_goes_on_below_leaves_the_text_where_it_is(
    window: MainWindow, message_id: int, qtbot: QtBot
) -> None:
    window.show_conversation("t", [MessageView(1, "user", STORY), MessageView(2, "assistant", STORY)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    view = text_of(window, message_id)
    qtbot.waitUntil(lambda: view.viewport().height() > 60)
    select_beyond(view, qtbot)
    assert view.verticalScrollBar().value() == 0
    assert view.textCursor().selectedText().rstrip().endswith("called Mia.")


def test_a_text_that_grows_under_a_selection_stays_too(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(1, "user", "Go on")])
    window.begin_answer(MessageView(2, "assistant", "", MessageState.STREAMING))
    window.transcript.append_text(STORY, ())
    view = text_of(window, 2)
    qtbot.waitUntil(lambda: view.viewport().height() > 60)
    select_beyond(view, qtbot)
    window.transcript.append_text(STORY, ())
    for _ in range(3):
        view.verticalScrollBar().triggerAction(view.verticalScrollBar().SliderAction.SliderSingleStepAdd)
    assert view.verticalScrollBar().value() == 0
