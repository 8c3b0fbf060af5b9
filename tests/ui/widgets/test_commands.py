"""Tests the menu bar of commands, shown by Alt and on macOS, and tool tips with keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QMenuBar
from pytestqt.qtbot import QtBot

import ui.window.main_window
from tests.ui.filled_window import make_window
from ui.window.main_window import MainWindow

ALT, NO_KEYS = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.NoModifier
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


def press_alt(window: MainWindow) -> None:
    QTest.keyPress(window.composer.edit, Qt.Key.Key_Alt, ALT)


def release_alt(window: MainWindow) -> None:
    QTest.keyRelease(QApplication.focusWidget() or window, Qt.Key.Key_Alt, NO_KEYS)


def test_alt_alone_shows_the_menu_bar_and_escape_hides_it(window: MainWindow, qtbot: QtBot) -> None:
    window.composer.edit.setFocus()
    press_alt(window)
    assert window.commands.bar is None
    release_alt(window)
    bar = window.commands.bar
    assert bar is not None
    assert bar.isVisible()
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert menu.title() == "Chat"
    qtbot.keyClick(menu, Qt.Key.Key_Escape)
    qtbot.waitUntil(bar.isHidden)
    window.composer.edit.setFocus()
    press_alt(window)
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Left, ALT)  # Alt was not pressed alone
    release_alt(window)
    assert bar.isHidden()


def test_a_command_of_the_menu_bar_does_what_its_keys_do(window: MainWindow, qtbot: QtBot) -> None:
    window.composer.edit.setFocus()
    press_alt(window)
    release_alt(window)
    bar = window.commands.bar
    assert bar is not None
    models = next(one for one in menus_of(bar)["Window"] if one.text() == "Show models or the chat")
    models.trigger()
    assert window.models.is_open
    models.trigger()
    assert not window.models.is_open
    menu = QApplication.activePopupWidget()
    assert menu is not None
    menu.close()
    qtbot.waitUntil(bar.isHidden)


def test_the_edit_menu_acts_on_the_text_in_focus(window: MainWindow, qtbot: QtBot) -> None:
    bar = window.commands.make_menu_bar(is_native=False)
    edits = {one.text().split("\t")[0]: one for one in menus_of(bar)["Edit"]}
    window.composer.edit.setFocus()
    qtbot.keyClicks(window.composer.edit, "some words")
    edits["Select all"].trigger()
    edits["Cut"].trigger()
    assert window.composer.text == ""
    assert QGuiApplication.clipboard().text() == "some words"
    edits["Undo"].trigger()
    assert window.composer.text == "some words"
    window.composer.send_button.setFocus()
    edits["Paste"].trigger()  # nothing happens: a button has no text to edit
    assert window.composer.text == "some words"


def test_on_macos_the_menus_have_their_roles_and_the_systems_keys(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(ui.window.main_window, "IS_MAC", True)
    bar = make_window(qtbot).commands.bar
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
        (window.undo_bar.undo_button, "Ctrl+Z"),
        (window.chat_settings.button, "Ctrl+."),
    ):
        assert f"({keys})" in shown.toolTip()
        assert keys not in shown.accessibleName()
    assert window.commands.keys("Show or hide the sidebar") == "Ctrl+B"
