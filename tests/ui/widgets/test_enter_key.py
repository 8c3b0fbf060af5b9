"""Enter presses the focused button in dialogs and in the window, never a different default button."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QDialog, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.filled_window import DIALOGS, make_window, open_settings, opened
from ui.widgets.dialogs import ConfirmDialog
from ui.window.main_window import MainWindow


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    return make_window(qtbot)


def press_enter(dialog: QWidget, button: QPushButton | QCheckBox, qtbot: QtBot) -> None:
    """Focus a button by Tab and press Enter."""
    qtbot.waitUntil(dialog.isActiveWindow)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    assert QApplication.focusWidget() is button
    qtbot.keyClick(button, Qt.Key.Key_Return)


def endings(dialog: QDialog) -> list[str]:
    """The results with which the dialog closes."""
    told: list[str] = []
    dialog.accepted.connect(lambda: told.append("accepted"))
    dialog.rejected.connect(lambda: told.append("rejected"))
    return told


@pytest.mark.parametrize("danger", [False, True])
@pytest.mark.parametrize("name", ["cancel_button", "accept_button"])
def test_enter_does_what_the_focused_button_says(window: MainWindow, name: str, danger: bool, qtbot: QtBot) -> None:
    question = ConfirmDialog(window, "Sure?", "It goes.", "Do it", danger=danger)
    question.open()
    told = endings(question)
    press_enter(question, getattr(question, name), qtbot)
    assert told == ["rejected" if name == "cancel_button" else "accepted"]


def test_enter_in_a_field_still_means_the_default_button(window: MainWindow, qtbot: QtBot) -> None:
    dialog = open_settings(window, 2)
    told = endings(dialog)
    dialog.nav.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(dialog.nav, Qt.Key.Key_Return)
    assert told == ["accepted"]


@pytest.mark.parametrize("name", DIALOGS)
def test_enter_presses_every_button_of_a_dialog(shared_window: MainWindow, name: str, qtbot: QtBot) -> None:
    with opened(shared_window, name) as dialog:
        num_buttons = len(buttons(dialog))
    for number in range(num_buttons):
        with opened(shared_window, name) as dialog:
            button = buttons(dialog)[number]
            with qtbot.waitSignal(button.pressed, timeout=30_000):
                press_enter(dialog, button, qtbot)
            for each in shared_window.findChildren(QDialog):
                each.close()


def buttons(dialog: QWidget) -> list[QPushButton]:
    found = [one for one in dialog.findChildren(QPushButton) if one.isVisibleTo(dialog) and one.isEnabled()]
    assert found
    return found
