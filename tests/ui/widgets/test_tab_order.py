"""Tab follows the reading order, which is set when idle or when Tab is pressed."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.ui.long_chats import history_of
from ui.statistics.answer_page import SourceSwitch
from ui.transcript.cards.user_card import UserCard
from ui.window.main_window import MainWindow


def test_tab_does_not_wait(window: MainWindow, qtbot: QtBot) -> None:
    transcript = window.transcript
    window.show_conversation("Chat", history_of(2_000)[:2])
    qtbot.waitUntil(lambda: not transcript.is_building)
    transcript._tab_order.schedule()
    question = transcript.cards[0]
    assert isinstance(question, UserCard)
    text = question.body.segments[0]
    text.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(text, Qt.Key.Key_Tab)
    assert not transcript._tab_order.is_due
    focus = window.focusWidget()
    assert focus is not None
    assert transcript.cards[1].isAncestorOf(focus)


def next_stop(window: MainWindow, qtbot: QtBot, *, back: bool = False) -> QWidget:
    """Press Tab, and return the newly focused widget."""
    here = window.focusWidget()
    assert here is not None
    shift = Qt.KeyboardModifier.ShiftModifier if back else Qt.KeyboardModifier.NoModifier
    qtbot.keyClick(here, Qt.Key.Key_Backtab if back else Qt.Key.Key_Tab, shift)
    there = window.focusWidget()
    assert there is not None
    return there


def test_messages_come_between_the_header_and_the_composer(window: MainWindow, qtbot: QtBot) -> None:
    transcript, header = window.transcript, window.header
    window.show_conversation("Chat", history_of(2_000)[:2])
    qtbot.waitUntil(lambda: not transcript.is_building and not transcript._tab_order.is_due)
    header.model_button.setFocus(Qt.FocusReason.TabFocusReason)
    seen = [next_stop(window, qtbot) for _ in range(3)]
    assert seen[0] is window.chat_settings.button
    assert isinstance(seen[1], SourceSwitch)
    assert seen[2] is header.stats_button
    assert next_stop(window, qtbot) is transcript
    first = next_stop(window, qtbot)
    assert transcript.cards[0].isAncestorOf(first)
    window.composer.edit.setFocus(Qt.FocusReason.TabFocusReason)
    stop = next_stop(window, qtbot, back=True)
    if stop is transcript.jump_button:  # the end of the messages may not be visible
        stop = next_stop(window, qtbot, back=True)
    assert transcript.cards[1].isAncestorOf(stop)
