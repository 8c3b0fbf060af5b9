"""Export and import from the window, with the file chosen by the test."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot

from tests.app.fakes import Desk


def test_export_and_import_say_how_they_ended(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    desk.window.message_submitted.emit("Hello")
    desk.engine.say("yes")
    desk.engine.finish()
    qtbot.waitUntil(lambda: bool(desk.window.finished))
    chat = desk.controller.conversations.current_id
    file = tmp_path / "out.json"
    with qtbot.waitSignal(desk.controller.transfer.ended, timeout=30_000):
        desk.controller.transfer.export(file, "json", None)
    assert desk.window.notices[-1] == "1 chat exported to out.json."
    desk.window.conversation_delete_requested.emit(chat)
    assert desk.rows() == []
    with qtbot.waitSignal(desk.controller.transfer.ended, timeout=30_000):
        desk.controller.transfer.import_file(file)
    assert desk.window.notices[-1] == "1 chat imported."
    assert desk.rows() == ["Hello"]
    assert desk.window.sidebar.list.rows.index_of(desk.store.conversations()[0].id).isValid()


def test_a_bad_file_is_a_problem(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{}")
    with qtbot.waitSignal(desk.controller.transfer.ended, timeout=30_000):
        desk.controller.transfer.import_file(tmp_path / "bad.json")
    assert desk.window.problems[-1].title == "The file could not be imported"


def test_what_nobody_thought_of_is_told_of_the_right_deed(
    desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_off(*_arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr("app.storage.exchange.transfer.export_chats", break_off)
    with qtbot.waitSignal(desk.controller.transfer.ended, timeout=30_000):
        desk.controller.transfer.export(tmp_path / "out.json", "json", None)
    assert desk.window.problems[-1].title == "The chats could not be exported"
    monkeypatch.setattr("app.storage.exchange.transfer.import_files", break_off)
    with qtbot.waitSignal(desk.controller.transfer.ended, timeout=30_000):
        desk.controller.transfer.import_file(tmp_path / "out.json")
    assert desk.window.problems[-1].title == "The file could not be imported"


def test_the_menus_ask_for_a_file(desk: Desk) -> None:
    desk.window.sidebar.library_signals.exported.emit(None, "markdown")
    desk.window.sidebar.library_signals.imported.emit()
    dialogs = desk.window.findChildren(QFileDialog)
    assert [dialog.acceptMode() for dialog in dialogs] == [
        QFileDialog.AcceptMode.AcceptSave,
        QFileDialog.AcceptMode.AcceptOpen,
    ]
    assert dialogs[0].defaultSuffix() == "zip"
    for dialog in dialogs:
        dialog.reject()


def test_several_exports_are_chosen_at_once(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    """LM Studio keeps each chat in a file of its own."""
    files = [tmp_path / f"{number}.md" for number in (1, 2)]
    for file in files:
        file.write_text(f"# {file.stem}\n\n## You\n\nQuestion {file.stem}\n\n## Assistant\n\nAnswer\n")
    desk.window.sidebar.library_signals.imported.emit()
    (dialog,) = desk.window.findChildren(QFileDialog)
    assert dialog.fileMode() == QFileDialog.FileMode.ExistingFiles
    dialog.setDirectory(str(tmp_path))
    box = dialog.findChild(QLineEdit)
    assert box is not None
    box.setText(" ".join(f'"{file.name}"' for file in files))
    with qtbot.waitSignal(desk.controller.transfer.ended, timeout=30_000):
        qtbot.keyClick(box, Qt.Key.Key_Return)
    assert desk.window.notices[-1] == "2 chats imported."
