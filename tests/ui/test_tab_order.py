"""Tab goes through what is laid out as it is read; that is seen to when there is time, or when Tab is pressed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

import ui.tab_order
from tests.ui.long_chats import history_of
from ui.main_window import MainWindow
from ui.tab_order import TabOrder
from ui.user_card import UserCard


def test_once_for_all_that_comes(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    page, passes = QWidget(), []
    qtbot.addWidget(page)
    layout = QVBoxLayout(page)
    monkeypatch.setattr(ui.tab_order, "put_in_order", lambda widgets: passes.append(len(widgets)))
    order = TabOrder(page, lambda: [page])
    assert not order.is_due
    for _ in range(9):
        layout.addWidget(QPushButton())
        order.soon()
    assert order.is_due
    assert passes == []
    qtbot.waitUntil(lambda: not order.is_due)
    assert passes == [1]
    order.catch_up()
    assert passes == [1], "nothing came since"


def test_tab_does_not_wait(window: MainWindow, qtbot: QtBot) -> None:
    transcript = window.transcript
    window.show_conversation("Chat", history_of(2_000)[:2])
    qtbot.waitUntil(lambda: not transcript.is_building)
    transcript._order.soon()
    question = transcript.cards[0]
    assert isinstance(question, UserCard)
    question.body.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(question.body, Qt.Key.Key_Tab)
    assert not transcript._order.is_due
    focus = window.focusWidget()
    assert focus is not None
    assert transcript.cards[1].isAncestorOf(focus)
