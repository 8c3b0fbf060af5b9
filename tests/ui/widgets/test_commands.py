"""Tests the menu bar of commands on macOS, and tool tips with keys."""

import pytest
from PySide6.QtGui import QAction, QGuiApplication
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
    assert list(menus) == ["Chat", "Edit", "Chats", "Window", "Help"]
    every = [action for actions in menus.values() for action in actions]
    roles = {action.text(): action.menuRole() for action in every if action.menuRole() is not Role.NoRole}
    shown = {text: role for text, role in roles.items() if role is not Role.TextHeuristicRole}
    assert shown == {
        "Settings": Role.PreferencesRole,
        "Close the window": Role.QuitRole,
        "About Paceline": Role.AboutRole,
    }
    edits = {action.text().split("\t")[0]: action for action in menus["Edit"]}
    made.composer.edit.setFocus()
    made.composer.set_text("some words")
    for name in ("Select all", "Cut"):
        edits[name].trigger()
    assert (made.composer.text, QGuiApplication.clipboard().text()) == ("", "some words")
    made.composer.attach_button.setFocus()
    edits["Paste"].trigger()  # nothing happens: a button has no text to edit
    assert made.composer.text == ""
    keys = {key.toString(): action.text() for action in every for key in action.shortcuts()}
    assert keys["Ctrl+M"] == "Minimise the window"
    assert keys["Ctrl+W"] == keys["Ctrl+Q"] == "Close the window"
    assert keys["Ctrl+Alt+M"] == "Show models or the chat"
    assert keys["Ctrl+,"] == "Settings"


def test_hovers_have_the_keys_of_their_commands(window: MainWindow) -> None:
    sidebar, header = window.sidebar, window.header
    for shown, keys in (
        (sidebar.new_button, "Ctrl+N"),
        (sidebar.models_button, "Ctrl+M"),
        (header.stats_button, "Ctrl+Shift+B"),
        (header.sidebar_button, "Ctrl+B"),
        (window.composer.attach_button, "Ctrl+Shift+A"),
        (window.undo_bar.action_button, "Ctrl+Z"),
        (window.chat_settings.button, "Ctrl+."),
    ):
        assert f"({keys})" in shown.toolTip()
        assert keys not in shown.accessibleName()
    assert window.commands.keys("Show or hide the sidebar") == "Ctrl+B"
