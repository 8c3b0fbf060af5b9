"""Other ways to models: scan a folder, download a link; with the scan's progress."""

from __future__ import annotations

from PySide6.QtWidgets import QFileDialog, QWidget

from app.core.domain.models import ScanView
from ui.models.parts import WrappingRow
from ui.models.requests import ModelsRequests
from ui.text.formatting import count
from ui.text.language import translate
from ui.widgets.building import button, hbox, label
from ui.widgets.file_dialogs import open_dialog


class WaysToModels(WrappingRow):
    """The two buttons; a page may lay them out itself."""

    def __init__(self, requests: ModelsRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._requests = requests
        self.folder_button = button(
            translate("WaysToModels", "Search a folder…"),
            self.ask_folder,
            tip=translate("WaysToModels", "Finds GGUF files, and Ollama's models. Nothing is copied or changed."),
        )
        self.link_button = button(
            translate("WaysToModels", "From a link…"),
            requests.link_wanted.emit,
            tip=translate("WaysToModels", "Downloads a GGUF file from any https address, after a look at its header."),
        )
        self.add(self.folder_button)
        self.add(self.link_button)
        self.add_gap()

    def ask_folder(self) -> QFileDialog:
        dialog = QFileDialog(self.folder_button.window(), translate("WaysToModels", "Search a folder for models"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self._requests.scan_requested.emit)
        return open_dialog(dialog, "models")


class ScanLine(QWidget):
    """A folder scan's progress with a stop button, then its result. Hidden before the first scan."""

    def __init__(self, requests: ModelsRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = label("", "caption", wrap=True)
        self.stop_button = button(
            translate("ScanLine", "Stop"), requests.scan_stopped.emit, name=translate("ScanLine", "Stop the search")
        )
        hbox((self.words, 1), self.stop_button, parent=self, margins=0, spacing=12)
        self.hide()

    def set_view(self, view: ScanView | None) -> None:
        """Show the scan; None hides it."""
        if view is not None:
            self.words.setText(scan_words(view))
            self.stop_button.setVisible(view.is_running)
        self.setVisible(view is not None)


def scan_words(view: ScanView) -> str:
    """``Searching /data: 12,345 files, 3 models``; at the end the result."""
    found = translate("ScanLine", "%n models", None, view.num_found)
    files = translate("ScanLine", "{number} files").format(number=count(view.num_files))
    if view.is_running:
        template = translate("ScanLine", "Searching {folder}: {files}, {models}")
    elif view.is_complete:
        template = translate("ScanLine", "Searched {folder}: {files}, {models}.")
    else:
        template = translate("ScanLine", "Stopped in {folder} after {files}: {models}.")
    words = template.format(folder=view.folder, files=files, models=found)
    if view.num_unreadable and not view.is_running:
        words = f"{words} {translate('ScanLine', '%n folders could not be read.', None, view.num_unreadable)}"
    return words
