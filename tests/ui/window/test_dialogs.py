"""The overview of shortcuts is as large as its text, but not larger than the screen; then it scrolls."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from ui.window.dialogs import ShortcutsDialog
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


@pytest.mark.parametrize("size", ["normal", "200"])
def test_nothing_is_cut_and_keys_reach_its_end(window: MainWindow, size: str, qtbot: QtBot) -> None:
    window.set_text_size(size)
    dialog = open_overview(window, qtbot)
    room = window.screen().availableSize()
    assert dialog.width() < room.width()
    assert dialog.height() < room.height()
    assert cut(dialog) == []
    assert dialog.area.horizontalScrollBar().maximum() == 0 or size == "200"
    assert QApplication.focusWidget() is not dialog.area, "Enter and Space close it"
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is dialog.area
    for _ in range(20):
        qtbot.keyClick(dialog.area, Qt.Key.Key_PageDown)
    last = dialog.content.findChildren(QLabel)[-1]
    assert last.mapTo(dialog.area.viewport(), QPoint(0, 0)).y() < dialog.area.viewport().height()
