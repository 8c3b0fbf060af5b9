"""File dialogs open the folder last used by their kind, also after a restart."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog, QProxyStyle, QStyle, QWidget
from pytestqt.qtbot import QtBot

from ui.settings.rows import ask_model_file
from ui.widgets.dialogs import FOLDERS, ask_attachment_files, ask_export_file
from ui.window.main_window import MainWindow


@pytest.fixture(autouse=True)
def _no_folders() -> Iterator[None]:
    FOLDERS.clear()
    yield
    FOLDERS.clear()


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def ask(parent: QWidget) -> QFileDialog:
    return ask_model_file(parent, "target", lambda _path: None)


def test_a_dialog_opens_where_the_last_of_its_kind_was_left(parent: QWidget, tmp_path: Path) -> None:
    first = ask(parent)
    assert first.directory().path() == str(Path.home())
    first.filesSelected.emit([str(tmp_path / "a.gguf")])
    first.close()
    again, other = ask(parent), ask_attachment_files(parent, lambda _paths: None)
    assert again.directory().path() == str(tmp_path)
    assert other.directory().path() == str(Path.home()), "each kind has its own"
    for dialog in (again, other):
        dialog.close()


def test_a_proposed_name_stays_and_a_missing_folder_is_skipped(parent: QWidget, tmp_path: Path) -> None:
    FOLDERS.update({"export": str(tmp_path), "model": str(tmp_path / "gone")})
    export, model = ask_export_file(parent, "chats.md", lambda _path: None), ask(parent)
    assert export.selectedFiles() == [str(tmp_path / "chats.md")]
    assert model.directory().path() == str(Path.home())
    for dialog in (export, model):
        dialog.close()


class WithIcons(QProxyStyle):
    """A style of desktops whose buttons have icons."""

    def styleHint(self, hint: QStyle.StyleHint, *others: Any) -> int:  # noqa: N802, ANN401  (Qt calls it)
        """Answer the one hint that is asked for."""
        return 1 if hint is QStyle.StyleHint.SH_DialogButtonBox_ButtonsHaveIcons else super().styleHint(hint, *others)


def test_qts_own_dialog_has_buttons_with_words_only(window: MainWindow) -> None:
    dialog = ask_export_file(window, "chats.json", lambda _path: None)
    box = dialog.findChildren(QDialogButtonBox)[0]
    style = WithIcons("fusion")
    box.setStyle(style)
    assert box.style().styleHint(QStyle.StyleHint.SH_DialogButtonBox_ButtonsHaveIcons, None, box) == 0
    dialog.close()
