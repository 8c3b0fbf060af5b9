"""The overview of shortcuts is as large as its text, but not larger than the screen; then it scrolls."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from ui.window.dialogs import SCREEN_EDGE_PX, ShortcutsDialog
from ui.window.main_window import MainWindow


def open_overview(window: MainWindow, qtbot: QtBot) -> ShortcutsDialog:
    qtbot.keyClick(window, Qt.Key.Key_F1)
    dialog = window.findChild(ShortcutsDialog)
    assert dialog is not None
    qtbot.waitExposed(dialog)
    qtbot.waitUntil(dialog.isActiveWindow)
    return dialog


def cut(dialog: ShortcutsDialog) -> list[str]:
    """The texts that are cut."""
    labels = dialog.content.findChildren(QLabel)
    return [label.text() for label in labels if label.width() < label.sizeHint().width()]


def test_it_shows_all_where_there_is_room(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1600, 900)
    dialog = open_overview(window, qtbot)
    assert cut(dialog) == []
    assert dialog.area.verticalScrollBar().maximum() == dialog.area.horizontalScrollBar().maximum() == 0
    assert dialog.area.focusPolicy() is Qt.FocusPolicy.NoFocus


@pytest.mark.parametrize("size", ["normal", "larger"])
def test_a_small_screen_holds_it_and_keys_reach_its_end(window: MainWindow, size: str, qtbot: QtBot) -> None:
    window.set_text_size(size)
    window.resize(700, 500)
    dialog = open_overview(window, qtbot)
    room = window.screen().availableSize().expandedTo(window.size())
    assert dialog.width() < room.width()
    assert dialog.height() < room.height()
    assert cut(dialog) == []
    assert dialog.area.horizontalScrollBar().maximum() == 0
    assert QApplication.focusWidget() is not dialog.area, "Enter and Space close it"
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is dialog.area
    for _ in range(20):
        qtbot.keyClick(dialog.area, Qt.Key.Key_PageDown)
    last = dialog.content.findChildren(QLabel)[-1]
    place = QRect(last.mapTo(dialog.area.viewport(), last.rect().topLeft()), last.size())
    assert dialog.area.viewport().rect().contains(place)


def test_one_column_if_the_scroll_bar_does_not_fit_beside_two(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1600, 900)
    dialog = open_overview(window, qtbot)
    window.resize(dialog.width() + SCREEN_EDGE_PX + 2, 500)
    narrow = ShortcutsDialog(window, window.commands.rows())
    narrow.open()
    qtbot.waitExposed(narrow)
    dialog.close()
    dialog = narrow
    assert dialog.area.verticalScrollBar().maximum() > 0
    assert dialog.area.horizontalScrollBar().maximum() == 0
