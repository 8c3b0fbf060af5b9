"""While the models panel is seen, the chat behind it is left alone, and the window is named after what is seen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.records import Mode
from tests.ui.filled_window import fill_models, make_window
from ui.window.main_window import MainWindow

CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)


@pytest.fixture
def told(qtbot: QtBot) -> tuple[MainWindow, list[str]]:
    """A window at its models panel, and what its chat asks of the app."""
    window, asked = make_window(qtbot), []
    window.composer.set_mode(Mode.AUTO)
    fill_models(window, "search")
    page = window.transcript
    for name, signal in (
        ("regenerate", window.transcript.regenerate_requested),
        ("mode", window.composer.mode_chosen),
        ("continue", page.continue_requested),
    ):
        signal.connect(lambda *_arguments, name=name: asked.append(name))
    return window, asked


def press(window: MainWindow, qtbot: QtBot, key: Qt.Key, keys: Qt.KeyboardModifier) -> None:
    qtbot.keyClick(QApplication.focusWidget() or window, key, keys)


def test_keys_of_the_chat_rest_while_it_is_not_seen(told: tuple[MainWindow, list[str]], qtbot: QtBot) -> None:
    window, asked = told
    keys = [
        (Qt.Key.Key_R, CTRL),
        (Qt.Key.Key_D, CTRL),
        (Qt.Key.Key_1, CTRL | SHIFT),
        (Qt.Key.Key_Return, CTRL | SHIFT),
        (Qt.Key.Key_Left, ALT),
    ]
    window.models.panel.search.field.setFocus()
    for key, modifiers in keys:
        press(window, qtbot, key, modifiers)
    assert asked == []
    window.models.leave()
    window.composer.edit.setFocus()
    press(window, qtbot, Qt.Key.Key_R, CTRL)
    press(window, qtbot, Qt.Key.Key_D, CTRL)
    assert asked == ["regenerate", "mode"]


def test_escape_leads_back_from_the_models(told: tuple[MainWindow, list[str]], qtbot: QtBot) -> None:
    window, _ = told
    window.models.panel.nav.setFocus()
    press(window, qtbot, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    assert not window.models.is_open


def test_the_next_chat_is_seen(told: tuple[MainWindow, list[str]], qtbot: QtBot) -> None:
    window, _ = told
    with qtbot.waitSignal(window.sidebar.list.chosen):
        press(window, qtbot, Qt.Key.Key_PageDown, CTRL)
    assert not window.models.is_open


def test_the_window_is_named_after_what_is_seen(told: tuple[MainWindow, list[str]], qtbot: QtBot) -> None:
    window, _ = told
    assert window.windowTitle() == "Models"
    window.name_conversation("Another name")
    assert window.windowTitle() == "Models"
    window.models.leave()
    assert window.windowTitle() == "Another name"
    window.show_conversation("", ())
    assert window.windowTitle() == "Paceline"
