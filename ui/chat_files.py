"""Asks where conversations are to be written and which files are to be read. Opens no file itself."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from ui.language import mark, translate

ENDINGS = {
    "md": mark("ChatFiles", "Markdown (*.md)"),
    "zip": mark("ChatFiles", "Zip of Markdown files (*.zip)"),
    "json": mark("ChatFiles", "JSON (*.json)"),
}
EXPORTS = mark("ChatFiles", "Exports (*.json *.zip *.md *.markdown *.txt);;All files (*)")


def ask_export_file(parent: QWidget, name: str, take: Callable[[str], object]) -> QFileDialog:
    """Let the user choose where to write; ``take`` gets the path, with the ending of ``name``."""
    ending = name.rsplit(".", 1)[-1]
    dialog = QFileDialog(parent, translate("ChatFiles", "Export chats"), "", translate("ChatFiles", ENDINGS[ending]))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(ending)
    dialog.selectFile(name)
    dialog.fileSelected.connect(take)
    return _open(dialog)


def ask_import_files(parent: QWidget, take: Callable[[list[str]], object]) -> QFileDialog:
    """Let the user choose exports, one or many; ``take`` gets their paths."""
    dialog = QFileDialog(
        parent,
        translate("ChatFiles", "Import chats from Paceline, ChatGPT, LM Studio or Markdown"),
        "",
        translate("ChatFiles", EXPORTS),
    )
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(take)
    return _open(dialog)


def _open(dialog: QFileDialog) -> QFileDialog:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog
