"""Asks for files: where chats and statistics are to be written, what is to be imported or attached. Opens none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from ui.text.language import mark, translate

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


NAMES = {
    "answer": mark("StatsFiles", "Paceline answer"),
    "chat": mark("StatsFiles", "Paceline chat statistics"),
    "everything": mark("StatsFiles", "Paceline answers"),
    "totals": mark("StatsFiles", "Paceline totals"),
}
FORMS = ("csv", "json")


def ask_statistics_file(parent: QWidget, scope: str, take: Callable[[str, str], object]) -> QFileDialog:
    """Let the user choose a file and its kind; ``take`` gets the path and "csv" or "json"."""
    filters = (
        translate("StatsFiles", "Table for spreadsheets (*.csv)"),
        translate("StatsFiles", "JSON (*.json)"),
    )
    dialog = QFileDialog(parent, translate("StatsFiles", "Export statistics"), "", ";;".join(filters))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(FORMS[0])
    dialog.filterSelected.connect(lambda name: dialog.setDefaultSuffix(FORMS[filters.index(name)]))
    dialog.selectFile(f"{translate('StatsFiles', NAMES[scope])}.{FORMS[0]}")
    dialog.fileSelected.connect(lambda path: take(path, form_of(path)))
    dialog.open()
    return dialog


def form_of(path: str) -> str:
    """What a file's ending asks for; a table where it asks for nothing known."""
    ending = Path(path).suffix.lower().lstrip(".")
    return ending if ending in FORMS else FORMS[0]


COMMON = (
    "*.txt *.md *.markdown *.csv *.tsv *.pdf *.json *.log *.py *.js *.ts *.c *.h *.cpp *.java *.go *.rs *.html *.xml "
    "*.yaml *.toml"
)


def ask_attachment_files(parent: QWidget, take: Callable[[list[str]], object]) -> QFileDialog:
    """Let the user choose files; ``take`` gets their paths."""
    dialog = QFileDialog(parent, translate("AttachmentDialog", "Attach files"))
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    everything = translate("AttachmentDialog", "All files")
    usual = translate("AttachmentDialog", "Text, code, tables and PDF")
    dialog.setNameFilters([f"{everything} (*)", f"{usual} ({COMMON})"])
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.filesSelected.connect(take)
    dialog.open()
    return dialog
