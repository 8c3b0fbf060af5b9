"""A copy button briefly confirms copying, also for screen readers."""

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessibleAnnouncementEvent, QGuiApplication, QScreen
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.ui.filled_window import make_window, open_dialog
from tests.ui.settings.test_dialog import VALUES
from ui.composer.attachments.reader import AttachmentDialog
from ui.settings.dialog import SettingsDialog
from ui.widgets import dialogs, icon_button
from ui.widgets.icon_button import CONFIRM_MS
from ui.window.main_window import MainWindow


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    return make_window(qtbot)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []

    def hear(event: QAccessibleAnnouncementEvent) -> None:
        said.append(event.message())

    for module in (dialogs, icon_button):
        monkeypatch.setattr(module.QAccessible, "updateAccessibility", hear)
    return said


def test_copying_a_text_is_seen_and_heard(window: MainWindow, heard: list[str], qtbot: QtBot) -> None:
    reader = open_dialog(window, "attachment")
    assert isinstance(reader, AttachmentDialog)
    button, width = reader.copy_button, reader.copy_button.width()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert QGuiApplication.clipboard().text() == "Some words."
    assert button.text() == "Copied"
    assert button.width() >= width, "nothing beside it moves"
    assert heard == ["Copied"]
    qtbot.waitUntil(lambda: button.text() == "Copy all", timeout=CONFIRM_MS + 30_000)


@pytest.mark.parametrize("name", ["_copy_button", "copy_button"])
def test_copying_a_message_is_heard(window: MainWindow, heard: list[str], name: str, qtbot: QtBot) -> None:
    card = next(each for each in window.transcript.cards if hasattr(each, name))
    button = getattr(card, name)
    assert isinstance(button, QWidget)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(button, Qt.Key.Key_Return)
    assert heard == ["Copied"]


def test_dialogs_open_no_larger_than_a_small_screen(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    room = QSize(910, 512)  # 1366 x 768 at 150%
    monkeypatch.setattr(QScreen, "availableSize", lambda _screen: room)
    assert open_dialog(window, "chat_settings").minimumSizeHint().height() < room.height()  # the height of its window
    window.set_settings(VALUES)
    window.dialogs.open_settings()
    settings = window.findChild(SettingsDialog)
    assert settings is not None
    assert settings.height() < room.height()
