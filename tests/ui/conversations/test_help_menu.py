"""Tests the help menu with real clicks and with keys alone."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QTimer, SignalInstance
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from ui.conversations.sidebar import HelpButton
from ui.window.main_window import MainWindow

WORDS = ("Keyboard shortcuts", "Open the log folder", "Copy diagnostics", "Check for updates…", "About Paceline")


def told(button: HelpButton) -> dict[str, SignalInstance]:
    actions = (button.shortcuts, button.log_folder, button.diagnostics, button.updates, button.about)
    return dict(zip(WORDS, (action.triggered for action in actions), strict=True))


@pytest.fixture
def button(window: MainWindow) -> HelpButton:
    return window.sidebar.help_button


@pytest.mark.parametrize("words", WORDS)
def test_each_deed_by_the_pointer(button: HelpButton, qtbot: QtBot, words: str) -> None:
    menu = button.popup_menu

    def choose() -> None:
        action = next(each for each in menu.actions() if each.text() == words)
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())

    QTimer.singleShot(0, menu, choose)  # a menu below a button runs its own event loop
    with qtbot.waitSignal(told(button)[words]):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("words", WORDS)
def test_each_deed_by_keys(button: HelpButton, qtbot: QtBot, words: str) -> None:
    menu = button.popup_menu

    def choose() -> None:
        for _ in range(WORDS.index(words) + 1):
            QTest.keyClick(menu, Qt.Key.Key_Down)
        QTest.keyClick(menu, Qt.Key.Key_Return)

    button.setFocus(Qt.FocusReason.TabFocusReason)
    QTimer.singleShot(0, menu, choose)
    with qtbot.waitSignal(told(button)[words]):
        QTest.keyClick(button, Qt.Key.Key_Space)
