"""Tests export and import in the window with files chosen by the test."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from tests.app.fakes import AppHarness
from tests.signals import emitted


def test_export_and_import_say_how_they_ended(harness: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    harness.window.composer.submitted.emit("Hello")
    harness.engine.say("yes")
    harness.engine.finish()
    qtbot.waitUntil(lambda: bool(harness.window.finished))
    chat = harness.controller.state.chat_id
    file = tmp_path / "out.json"
    with emitted(qtbot, harness.controller.transfer.ended):
        harness.controller.transfer.export(file, "json", None)
    assert harness.window.notices[-1] == "1 chat exported to out.json."
    harness.window.sidebar.list.delete_requested.emit(chat)
    assert harness.rows() == []
    with emitted(qtbot, harness.controller.transfer.ended):
        harness.controller.transfer.import_files([file])
    assert harness.window.notices[-1] == "1 chat imported."
    assert harness.rows() == ["Hello"]
    assert harness.window.sidebar.list.rows.index_of(harness.store.conversations()[0].id).isValid()


def test_a_bad_file_is_a_problem(harness: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{}")
    with emitted(qtbot, harness.controller.transfer.ended):
        harness.controller.transfer.import_files([tmp_path / "bad.json"])
    assert harness.window.problems[-1].title == "The file could not be imported"


def test_the_menus_ask_for_a_file(harness: AppHarness) -> None:
    harness.window.sidebar.library_signals.exported.emit(None, "markdown")
    harness.window.sidebar.library_signals.imported.emit()
    dialogs = harness.window.findChildren(QFileDialog)
    assert [dialog.acceptMode() for dialog in dialogs] == [
        QFileDialog.AcceptMode.AcceptSave,
        QFileDialog.AcceptMode.AcceptOpen,
    ]
    assert dialogs[0].defaultSuffix() == "zip"
    for dialog in dialogs:
        dialog.reject()
