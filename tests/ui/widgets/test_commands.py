"""Tests the menu bar of commands on macOS, and tool tips with keys."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar
from pytestqt.qtbot import QtBot

import ui.window.main_window
from tests.ui.filled_window import make_window
from ui.window.main_window import MainWindow

Role = QAction.MenuRole


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    return make_window(qtbot)


def menus_of(bar: QMenuBar) -> dict[str, list[QAction]]:
    found = {}
    for action in bar.actions():
        menu = action.menu()
        assert isinstance(menu, QMenu)
        found[action.text()] = [each for each in menu.actions() if not each.isSeparator()]
    return found


def test_on_macos_the_menus_have_their_roles_and_the_systems_keys(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(ui.window.main_window, "IS_MAC", True)
    made = make_window(qtbot)
    bar = made.commands.bar
    assert bar is not None
    menus = menus_of(bar)
    assert list(menus) == ["Chat", "Chats", "Window", "Help"]
    every = [action for actions in menus.values() for action in actions]
    roles = {action.text(): action.menuRole() for action in every if action.menuRole() is not Role.NoRole}
    shown = {text: role for text, role in roles.items() if role is not Role.TextHeuristicRole}
    assert shown == {
        "Settings": Role.PreferencesRole,
        "Close the window": Role.QuitRole,
        "About Paceline": Role.AboutRole,
    }
    keys = {key.toString(): action.text() for action in every for key in action.shortcuts()}
    assert keys["Ctrl+M"] == "Minimise the window"
    assert keys["Ctrl+W"] == keys["Ctrl+Q"] == "Close the window"
    assert keys["Ctrl+Alt+M"] == "Show models or the chat"
    assert keys["Ctrl+,"] == "Settings"
