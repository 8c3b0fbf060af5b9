"""Asks which files go along with the message. Opens none of them itself."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from ui.language import translate

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
