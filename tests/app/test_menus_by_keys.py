"""What only menus offer, taken from them by keys in the whole app but its engine: of chats and of messages."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot

from engine.records import Mode
from tests.app.fakes import Desk
from tests.app.test_answer_controller import answer
from tests.menus import come_back, press_menu_key, take
from ui.records import ConversationRow


def row(desk: Desk, title: str) -> ConversationRow:
    return next(row for row in desk.store.conversations() if row.title == title)


def open_menu_of(desk: Desk, title: str, qtbot: QtBot) -> None:
    """The menu of a chat in the list."""
    listing = desk.window.sidebar.list
    listing.setCurrentIndex(listing.rows.index_of(row(desk, title).id))
    press_menu_key(listing, qtbot)


def test_the_menu_of_a_chat(desk: Desk, qtbot: QtBot) -> None:
    answer(desk, qtbot, "one", "yes")
    open_menu_of(desk, "one", qtbot)
    take(qtbot, "Pin")
    assert row(desk, "one").pinned
    open_menu_of(desk, "one", qtbot)
    take(qtbot, "Unpin")
    assert not row(desk, "one").pinned
    open_menu_of(desk, "one", qtbot)
    take(qtbot, "Duplicate")
    assert sorted(desk.rows()) == ["one", "one (copy)"]
    open_menu_of(desk, "one", qtbot)
    take(qtbot, "Archive")
    assert row(desk, "one").archived
    open_menu_of(desk, "one (copy)", qtbot)
    take(qtbot, "Delete")
    assert desk.rows() == ["one"]
    qtbot.keyClick(desk.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert sorted(desk.rows()) == ["one", "one (copy)"]


def test_a_chat_gets_a_folder_leaves_it_and_comes_back(desk: Desk, qtbot: QtBot) -> None:
    answer(desk, qtbot, "one", "yes")
    listing = desk.window.sidebar.list
    open_menu_of(desk, "one", qtbot)
    take(qtbot, "Move to folder", "New folder")
    qtbot.waitUntil(lambda: listing.findChild(QLineEdit) is not None)
    editor = listing.findChild(QLineEdit)
    assert editor is not None
    come_back(editor, qtbot)
    editor.selectAll()
    qtbot.keyClicks(editor, "Work")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: [folder.name for folder in desk.store.library.folders()] == ["Work"])
    (folder,) = desk.store.library.folders()
    assert row(desk, "one").folder_id == folder.id
    open_menu_of(desk, "one", qtbot)
    take(qtbot, "Move to folder", "No folder")
    assert row(desk, "one").folder_id is None
    open_menu_of(desk, "one", qtbot)
    take(qtbot, "Move to folder", "Work")
    assert row(desk, "one").folder_id == folder.id


def test_a_chat_is_exported_under_a_name_that_was_typed(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    answer(desk, qtbot, "one", "yes")
    open_menu_of(desk, "one", qtbot)
    take(qtbot, "Export", "As JSON")
    dialog = desk.window.findChild(QFileDialog)
    assert dialog is not None
    come_back(dialog, qtbot)
    box = dialog.findChild(QLineEdit)
    assert box is not None
    assert box.text() == "one.json"
    box.selectAll()
    qtbot.keyClicks(box, str(tmp_path / "mine"))
    with qtbot.waitSignal(desk.controller.transfer.ended):
        qtbot.keyClick(box, Qt.Key.Key_Return)
    exported = json.loads((tmp_path / "mine.json").read_text("utf-8"))
    assert [message["text"] for message in exported["conversations"][0]["messages"]] == ["one", "yes"]


def test_the_menu_of_an_answer(desk: Desk, qtbot: QtBot) -> None:
    answer(desk, qtbot, "one", "yes, *indeed*")
    shown = desk.window.transcript.last_answer()
    assert shown is not None
    button = shown.more_button
    for words, copied in (("Copy as Markdown", "yes, *indeed*"), ("Copy as text", "yes, indeed")):
        button.setFocus()
        qtbot.keyClick(button, Qt.Key.Key_Space)
        take(qtbot, words)
        assert QApplication.clipboard().text() == copied
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Return)
    take(qtbot, "Regenerate in mode", "Suffix")
    assert desk.engine.requests[-1].mode is Mode.SUFFIX
    desk.engine.say("no")
    desk.engine.finish()
    qtbot.waitUntil(lambda: len(desk.window.finished) == 2)
    assert [view.text for view in desk.messages()] == ["one", "no"]
    shown = desk.window.transcript.last_answer()
    assert shown is not None
    shown.more_button.setFocus()
    qtbot.keyClick(shown.more_button, Qt.Key.Key_Space)
    take(qtbot, "Delete")
    qtbot.waitUntil(lambda: [view.text for view in desk.messages()] != ["one", "no"])
    come_back(desk.window, qtbot)
    qtbot.keyClick(desk.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: [view.text for view in desk.messages()] == ["one", "no"])
