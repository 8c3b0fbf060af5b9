"""File dialogs for exports, imports and attachments. They open no file themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from ui.text.language import mark, translate

CHAT_FILTERS = {  # by the file's extension
    "md": mark("ChatFiles", "Markdown (*.md)"),
    "zip": mark("ChatFiles", "Zip of Markdown files (*.zip)"),
    "json": mark("ChatFiles", "JSON (*.json)"),
}
IMPORT_FILTERS = mark("ChatFiles", "Exports (*.json *.zip *.md *.markdown *.txt);;All files (*)")
STATISTICS_FORMATS = ("csv", "json")
STATISTICS_NAMES = {  # by scope
    "answer": mark("StatsFiles", "Paceline answer"),
    "chat": mark("StatsFiles", "Paceline chat statistics"),
    "everything": mark("StatsFiles", "Paceline answers"),
    "totals": mark("StatsFiles", "Paceline totals"),
}
RACE_FILTERS = {  # by the file's extension
    "png": mark("RaceFiles", "Picture (*.png)"),
    "md": mark("RaceFiles", "Markdown (*.md)"),
    "json": mark("RaceFiles", "JSON (*.json)"),
}
ATTACHMENT_PATTERNS = (
    "*.txt *.md *.markdown *.csv *.tsv *.pdf *.json *.log *.py *.js *.ts *.c *.h *.cpp *.java *.go *.rs *.html *.xml "
    "*.yaml *.toml"
)


# By kind of dialog: where its last one was left. The window keeps them with its layout.
FOLDERS: dict[str, str] = {}


def ask_export_file(parent: QWidget, name: str, take: Callable[[str], object]) -> QFileDialog:
    """Let the user choose an export file; ``take`` gets the path, with the extension of ``name``."""
    extension = name.rsplit(".", 1)[-1]
    title, chosen = translate("ChatFiles", "Export chats"), translate("ChatFiles", CHAT_FILTERS[extension])
    dialog = _save_dialog(parent, title, name, chosen)
    dialog.fileSelected.connect(take)
    return open_dialog(dialog, "export")


def ask_import_files(parent: QWidget, take: Callable[[list[str]], object]) -> QFileDialog:
    """Let the user choose exports to import; ``take`` gets their paths."""
    dialog = QFileDialog(
        parent,
        translate("ChatFiles", "Import chats from Paceline, ChatGPT, LM Studio or Markdown"),
        "",
        translate("ChatFiles", IMPORT_FILTERS),
    )
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(take)
    return open_dialog(dialog, "import")


def ask_statistics_file(parent: QWidget, scope: str, take: Callable[[str, str], object]) -> QFileDialog:
    """Let the user choose a statistics file; ``take`` gets the path, and "csv" or "json"."""
    filters = (
        translate("StatsFiles", "Table for spreadsheets (*.csv)"),
        translate("StatsFiles", "JSON (*.json)"),
    )
    name = f"{translate('StatsFiles', STATISTICS_NAMES[scope])}.{STATISTICS_FORMATS[0]}"
    dialog = _save_dialog(parent, translate("StatsFiles", "Export statistics"), name, ";;".join(filters))
    dialog.filterSelected.connect(lambda name: dialog.setDefaultSuffix(STATISTICS_FORMATS[filters.index(name)]))
    dialog.fileSelected.connect(lambda path: take(path, statistics_format(path)))
    return open_dialog(dialog, "statistics")


def statistics_format(path: str) -> str:
    """The format for a file's extension; by default a table."""
    extension = Path(path).suffix.lower().lstrip(".")
    return extension if extension in STATISTICS_FORMATS else STATISTICS_FORMATS[0]


def ask_race_file(parent: QWidget, kind: str, take: Callable[[str], object]) -> QFileDialog:
    """Let the user choose a file for a race, as "png", "md" or "json"; ``take`` gets the path."""
    name, chosen = translate("RaceFiles", "Paceline race"), translate("RaceFiles", RACE_FILTERS[kind])
    dialog = _save_dialog(parent, translate("RaceFiles", "Export the race"), f"{name}.{kind}", chosen)
    dialog.fileSelected.connect(take)
    return open_dialog(dialog, "race")


def ask_attachment_files(parent: QWidget, take: Callable[[list[str]], object]) -> QFileDialog:
    """Let the user choose files to attach; ``take`` gets their paths."""
    dialog = QFileDialog(parent, translate("AttachmentDialog", "Attach files"))
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    everything = translate("AttachmentDialog", "All files")
    usual = translate("AttachmentDialog", "Text, code, tables, PDF and pictures")
    dialog.setNameFilters([f"{everything} (*)", f"{usual} ({ATTACHMENT_PATTERNS})"])
    dialog.filesSelected.connect(take)
    return open_dialog(dialog, "attach")


def _save_dialog(parent: QWidget, title: str, name: str, filters: str) -> QFileDialog:
    dialog = QFileDialog(parent, title, "", filters)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(name.rsplit(".", 1)[-1])
    dialog.selectFile(name)
    return dialog


def open_dialog(dialog: QFileDialog, kind: str) -> QFileDialog:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    folder = FOLDERS.get(kind, "")
    dialog.setDirectory(folder if folder and Path(folder).is_dir() else str(Path.home()))
    is_folder = dialog.fileMode() == QFileDialog.FileMode.Directory

    def remember(paths: list[str]) -> None:
        if paths:
            FOLDERS[kind] = paths[0] if is_folder else str(Path(paths[0]).parent)

    dialog.filesSelected.connect(remember)
    dialog.open()
    return dialog
