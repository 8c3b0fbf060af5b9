"""Asks where statistics are to be written, and as what. Opens no file itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from ui.language import mark, translate

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
