"""Shows an attached picture as large as the window has room for, to look at, copy and save."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QLabel, QSizePolicy, QWidget

from app.core.domain.attachments import Attachment
from ui.composer.attachments.chips import facts
from ui.text.language import translate
from ui.widgets.building import button, hbox, label, vbox
from ui.widgets.dialogs import Dialog

MARGINS = QSize(80, 80)  # of the window that stay in sight around the dialog, in pixels


class _Picture(QLabel):
    """A picture that is made smaller where there is less room, and never larger."""

    def __init__(self, pixmap: QPixmap) -> None:
        super().__init__()
        self._whole = pixmap
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setMinimumSize(120, 90)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return self._whole.size() / self.devicePixelRatioF()

    def resizeEvent(self, event: QResizeEvent) -> None:
        ratio = self.devicePixelRatioF()
        room = (self.size() * ratio).boundedTo(self._whole.size())
        shown = self._whole.scaled(room, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation)
        shown.setDevicePixelRatio(ratio)
        self.setPixmap(shown)
        super().resizeEvent(event)


class PictureViewer(Dialog):
    """One attached picture; Esc closes it."""

    def __init__(self, attachment: Attachment, parent: QWidget) -> None:
        super().__init__(parent, attachment.name)
        self._attachment = attachment
        self._whole = QPixmap()
        if attachment.picture is not None:
            self._whole.loadFromData(attachment.picture.data)
        self.picture = _Picture(self._whole)
        self.picture.setAccessibleName(attachment.name)
        about = label(facts(attachment), "caption")
        self.copy_button = button(translate("PictureViewer", "Copy"), self._copy)
        self.save_button = button(translate("PictureViewer", "Save as…"), self._ask_file)
        self.close_button = button(translate("PictureViewer", "Close"), self.close)
        buttons = hbox((about, 1), self.copy_button, self.save_button, self.close_button)
        vbox((self.picture, 1), buttons, parent=self, margins=(16, 16, 16, 12), spacing=12)
        self.close_button.setDefault(True)
        self.resize(
            (self.picture.sizeHint() + QSize(32, 84)).boundedTo(parent.size() - MARGINS).expandedTo(QSize(420, 260))
        )

    def _copy(self) -> None:
        QGuiApplication.clipboard().setPixmap(self._whole)

    def _ask_file(self) -> None:
        dialog = QFileDialog(self, translate("PictureViewer", "Save the picture"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(f"{Path(self._attachment.name).stem}.{self._ending}")
        dialog.fileSelected.connect(self.save)
        dialog.open()

    @property
    def _ending(self) -> str:
        kept = self._attachment.picture
        return "jpg" if kept is not None and kept.data.startswith(b"\xff\xd8") else "png"

    def save(self, path: str) -> None:
        """Write the picture as it is kept; say where it could not be."""
        kept = self._attachment.picture
        if kept is None:
            return
        try:
            Path(path).write_bytes(kept.data)
        except OSError as error:
            words = translate("PictureViewer", "It could not be saved: {reason}.")
            self.picture.setToolTip(words.format(reason=error.strerror or error))
            self.save_button.setText(translate("PictureViewer", "Not saved"))
            self.save_button.setToolTip(self.picture.toolTip())
