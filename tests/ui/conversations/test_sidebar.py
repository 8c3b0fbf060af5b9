"""Tests the chat list: grouped, filtered, opened, renamed and deleted with real keys and clicks."""

from datetime import UTC, datetime, time, timedelta

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.core.domain.conversations import ConversationRow
from tests.ui.conftest import NOW, rows
from ui.conversations.model import ANSWERING, UNSEEN
from ui.text import clock
from ui.window.main_window import MainWindow


@pytest.fixture
def filled(window: MainWindow) -> MainWindow:
    window.sidebar.set_rows(rows(), 1)
    return window


def _titles(window: MainWindow) -> list[str]:
    model = window.sidebar.list.rows
    return [str(model.data(model.index(row, 0))) for row in range(model.rowCount())]


def _place(window: MainWindow, conversation_id: int) -> QPoint:
    listing = window.sidebar.list
    return listing.visualRect(listing.rows.index_of(conversation_id)).center()


def test_conversations_stand_under_their_day(filled: MainWindow) -> None:
    assert _titles(filled) == ["Today", "Weekend plans", "Yesterday", "Regex help", "Earlier", "Trip notes"]
    listing = filled.sidebar.list
    assert listing.currentIndex() == listing.rows.index_of(1)


def test_keys_walk_over_headings_and_enter_chooses(filled: MainWindow, qtbot: QtBot) -> None:
    listing = filled.sidebar.list
    listing.setFocus()
    qtbot.keyClick(listing, Qt.Key.Key_Down)
    with qtbot.waitSignal(filled.sidebar.list.chosen) as caught:
        qtbot.keyClick(listing, Qt.Key.Key_Return)
    assert caught.args == [2]


def test_f2_renames(filled: MainWindow, qtbot: QtBot) -> None:
    listing = filled.sidebar.list
    listing.setFocus()
    qtbot.keyClick(listing, Qt.Key.Key_F2)
    editor = listing.findChild(QLineEdit)
    assert editor is not None
    editor.selectAll()
    qtbot.keyClicks(editor, "Better title")
    with qtbot.waitSignal(filled.sidebar.list.rename_requested) as caught:
        qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert caught.args == [1, "Better title"]


def test_an_answer_that_ends_leaves_a_name_that_is_typed_alone(filled: MainWindow, qtbot: QtBot) -> None:
    listing = filled.sidebar.list
    listing.rows.set_activity({1: ANSWERING})
    listing.setFocus()
    qtbot.keyClick(listing, Qt.Key.Key_F2)
    editor = listing.findChild(QLineEdit)
    assert editor is not None
    listing.rows.set_activity({1: UNSEEN})
    assert editor.selectedText() == editor.text() == "Weekend plans"  # so that typing replaces it
    qtbot.keyClicks(editor, "Better")
    listing.rows.set_activity({})
    qtbot.keyClicks(editor, " title")
    with qtbot.waitSignal(filled.sidebar.list.rename_requested) as caught:
        qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert caught.args == [1, "Better title"]


def test_del_deletes_at_once(filled: MainWindow, qtbot: QtBot) -> None:
    listing = filled.sidebar.list
    listing.setFocus()
    with qtbot.waitSignal(filled.sidebar.list.delete_requested) as caught:
        qtbot.keyClick(listing, Qt.Key.Key_Delete)
    assert caught.args == [1]


def test_a_day_begins_at_the_midnight_of_here(window: MainWindow) -> None:
    midnight = datetime.combine(NOW.astimezone().date(), time.min)
    moments = [midnight, midnight - timedelta(seconds=1), midnight - timedelta(days=1, seconds=1)]
    listed = [ConversationRow(number, str(number), each.astimezone(UTC)) for number, each in enumerate(moments, 1)]
    window.sidebar.set_rows(listed, None)
    assert _titles(window) == ["Today", "1", "Yesterday", "2", "Earlier", "3"]


def test_come_back_to_on_another_day_it_groups_by_that_day(
    filled: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "today", lambda: (NOW + timedelta(days=1)).astimezone().date())
    assert _titles(filled)[0] == "Today"
    other = QLineEdit()
    qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    qtbot.waitUntil(other.isActiveWindow)
    filled.activateWindow()
    qtbot.waitUntil(filled.isActiveWindow)
    assert _titles(filled) == ["Yesterday", "Weekend plans", "Earlier", "Regex help", "Trip notes"]
    assert filled.sidebar.list.currentIndex() == filled.sidebar.list.rows.index_of(1)


def test_f2_renames_the_open_chat_and_returns_the_focus(filled: MainWindow, qtbot: QtBot) -> None:
    filled.layout_state.toggle_sidebar()
    filled.sidebar.search.setText("plans")
    edit = filled.composer.edit
    edit.setFocus()
    qtbot.keyClick(edit, Qt.Key.Key_F2)
    editor = filled.sidebar.list.findChild(QLineEdit)
    assert editor is not None
    assert editor.isVisible()
    qtbot.waitUntil(editor.hasFocus)
    qtbot.keyClick(editor, Qt.Key.Key_F2)
    editor.selectAll()
    qtbot.keyClicks(editor, "Another name")
    with qtbot.waitSignal(filled.sidebar.list.rename_requested) as caught:
        qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert caught.args == [1, "Another name"]
    qtbot.waitUntil(edit.hasFocus)


def test_f2_does_nothing_in_a_chat_that_is_not_listed(window: MainWindow, qtbot: QtBot) -> None:
    window.sidebar.set_rows(rows(), None)
    window.layout_state.toggle_sidebar()
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_F2)
    assert window.sidebar.list.findChild(QLineEdit) is None
    assert window.sidebar.isHidden()
