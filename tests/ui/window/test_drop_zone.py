"""Tests files that are dragged over the window by different kinds of programs."""

import PySide6
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from ui.widgets.dialogs import ConfirmDialog
from ui.window.main_window import MainWindow

BUTTONS, KEYS, COPY = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, Qt.DropAction.CopyAction


def data(*paths: str) -> QMimeData:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(path) for path in paths])
    return mime


def enter(over: QWidget, mime: QMimeData) -> QDragEnterEvent:
    # PySide 6.12 deprecated the constructor with integers and added the other one.
    place = QPointF(9, 9) if PySide6.__version_info__ >= (6, 12) else QPoint(9, 9)
    event = QDragEnterEvent(place, COPY, mime, BUTTONS, KEYS)
    event.ignore()
    QApplication.sendEvent(over, event)
    return event


def drop(window: MainWindow, mime: QMimeData) -> QDropEvent:
    event = QDropEvent(QPointF(9, 9), COPY, mime, BUTTONS, KEYS)
    event.ignore()
    QApplication.sendEvent(window, event)
    return event


def test_files_count_also_where_their_program_ends_with_the_drag(window: MainWindow, qtbot: QtBot) -> None:
    offered = data("/files/a.txt", "/files/b.py")
    enter(window, offered)
    with qtbot.waitSignal(window.drop_zone.files_dropped) as caught:
        drop(window, QMimeData())  # the system asks the source program once more, but it has exited
    assert caught.args == [["/files/a.txt", "/files/b.py"]]


def test_what_left_the_window_again_is_not_dropped_later(window: MainWindow) -> None:
    told: list[object] = []
    window.drop_zone.files_dropped.connect(told.append)
    offered = data("/files/a.txt")
    enter(window, offered)
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert not drop(window, QMimeData()).isAccepted()
    assert told == []


def test_files_dragged_over_the_box_are_the_windows_and_words_the_boxs(window: MainWindow) -> None:
    box = window.composer.edit.viewport()
    assert enter(box, data("/files/a.txt")).isAccepted()
    QApplication.sendEvent(window, QDragLeaveEvent())
    words = QMimeData()
    words.setText("words")
    assert enter(box, words).isAccepted()


@pytest.mark.parametrize("role", ["target", "draft", ""])
def test_the_role_of_a_dropped_model_is_asked_and_the_keyboard_goes_back(
    window: MainWindow, role: str, qtbot: QtBot
) -> None:
    qtbot.keyClicks(window.composer.edit, "half a mess")
    model = data("/files/model.GGUF")
    assert enter(window, model).isAccepted()
    told: list[tuple[str, str]] = []
    window.dialogs.file_chosen.connect(lambda *chosen: told.append(chosen))
    drop(window, model)
    question = window.findChild(ConfirmDialog)
    assert question is not None
    assert question.windowTitle() == "model.GGUF"
    buttons = {"target": "Use as target", "draft": "Use as draft", "": "Cancel"}
    chosen = next(each for each in question.findChildren(QPushButton) if each.text() == buttons[role])
    qtbot.keyClick(chosen, Qt.Key.Key_Space if role else Qt.Key.Key_Escape)
    assert told == ([("/files/model.GGUF", role)] if role else [])
    qtbot.waitUntil(window.composer.edit.hasFocus)
    qtbot.keyClicks(window.composer.edit, "age")
    assert window.composer.text == "half a message"


def test_words_that_were_dropped_are_gone_on_with(window: MainWindow, qtbot: QtBot) -> None:
    window.sidebar.new_button.setFocus(Qt.FocusReason.TabFocusReason)
    box = window.composer.edit.viewport()
    words = QMimeData()
    words.setText("Why is ")
    enter(box, words)
    QApplication.sendEvent(box, QDropEvent(QPointF(5, 5), COPY, words, BUTTONS, KEYS))
    assert window.composer.edit.hasFocus()
    qtbot.keyClicks(QApplication.focusWidget(), "that so?")
    assert window.composer.text == "Why is that so?"


def test_a_drag_may_leave_and_other_content_is_the_windows(window: MainWindow) -> None:
    offered = data("/files/a.txt")
    enter(window, offered)
    place = QPointF(20, 20) if PySide6.__version_info__ >= (6, 12) else QPoint(20, 20)
    move = QDragMoveEvent(place, COPY, offered, BUTTONS, KEYS)
    move.ignore()
    QApplication.sendEvent(window, move)
    assert move.isAccepted()
    QApplication.sendEvent(window, QDragLeaveEvent())
    words = QMimeData()
    words.setText("words")
    assert not enter(window, words).isAccepted()
