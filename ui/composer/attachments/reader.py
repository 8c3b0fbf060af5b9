"""Dialogs that show an attachment, its text or its picture, with Copy and Save."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QLabel, QPlainTextEdit, QSizePolicy, QWidget

from app.core.domain.attachments import Attachment, AttachmentKind
from ui.composer.attachments.chips import attachment_facts, title_of
from ui.composer.message_edit import wrap_for
from ui.text.formatting import count
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, hbox, label, read_only_text, vbox
from ui.widgets.dialogs import Dialog, copy_with_feedback

tr = Translator("PictureViewer")

MAX_CHARS = 200_000  # longer texts are cut: their layout would block the window
CODE_KINDS = (AttachmentKind.CODE, AttachmentKind.CSV)
MARGINS = QSize(80, 80)  # pixels of the window that stay visible around the dialog


class AttachmentDialog(Dialog):
    """The text of an attachment, truncated if very long; Esc closes it."""

    def __init__(self, theme: Theme, attachment: Attachment, parent: QWidget) -> None:
        super().__init__(parent, title_of(attachment))
        self.resize(QSize(760, 560).boundedTo(parent.size() * 0.9))
        name = label(title_of(attachment), "strong", wrap=True)
        about = label(self._facts_text(attachment), "caption")
        name_of_text = translate("AttachmentReader", "Text of {name}").format(name=attachment.name)
        self.text = read_only_text("", name_of_text)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        is_code = attachment.kind in CODE_KINDS
        theme.set_font(self.text, code=is_code)
        if is_code:
            self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        wrap_for(self.text, attachment.text[:MAX_CHARS])
        self.text.setPlainText(attachment.text[:MAX_CHARS])
        self.copy_button = button(
            translate("AttachmentReader", "Copy all"), lambda: copy_with_feedback(self.copy_button, attachment.text)
        )
        self.close_button = button(translate("AttachmentReader", "Close"), self.accept)
        self.close_button.setDefault(True)
        buttons = hbox(Stretch(), self.copy_button, self.close_button, spacing=8)
        vbox(name, about, (self.text, 1), 4, buttons, parent=self, margins=(24, 20, 24, 20), spacing=8)

    @staticmethod
    def _facts_text(attachment: Attachment) -> str:
        shown = attachment_facts(attachment)
        if len(attachment.text) <= MAX_CHARS:
            return shown
        words = translate(
            "AttachmentReader", "Showing the first {shown} of {all} characters; the model gets all of them"
        )
        return f"{shown} · {words.format(shown=count(MAX_CHARS), all=count(len(attachment.text)))}"


class _ScaledPicture(QLabel):
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
    """An attached picture, as large as the window allows; Esc closes it."""

    def __init__(self, attachment: Attachment, parent: QWidget) -> None:
        super().__init__(parent, attachment.name)
        self._attachment = attachment
        self._whole = QPixmap()
        if attachment.picture is not None:
            self._whole.loadFromData(attachment.picture.data)
        self.picture = _ScaledPicture(self._whole)
        self.picture.setAccessibleName(attachment.name)
        about = label(attachment_facts(attachment), "caption")
        self.copy_button = button(tr("Copy"), self._copy)
        self.save_button = button(tr("Save as…"), self._ask_file)
        self.close_button = button(tr("Close"), self.close)
        buttons = hbox((about, 1), self.copy_button, self.save_button, self.close_button)
        vbox((self.picture, 1), buttons, parent=self, margins=(16, 16, 16, 12), spacing=12)
        self.close_button.setDefault(True)
        self.resize(
            (self.picture.sizeHint() + QSize(32, 84)).boundedTo(parent.size() - MARGINS).expandedTo(QSize(420, 260))
        )

    def _copy(self) -> None:
        QGuiApplication.clipboard().setPixmap(self._whole)

    def _ask_file(self) -> None:
        dialog = QFileDialog(self, tr("Save the picture"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(f"{Path(self._attachment.name).stem}.{self._ending}")
        dialog.fileSelected.connect(self.save)
        dialog.open()

    @property
    def _ending(self) -> str:
        kept = self._attachment.picture
        return "jpg" if kept is not None and kept.data.startswith(b"\xff\xd8") else "png"

    def save(self, path: str) -> None:
        """Save the original picture; report a failure."""
        kept = self._attachment.picture
        if kept is None:
            return
        try:
            Path(path).write_bytes(kept.data)
        except OSError as error:
            words = tr("It could not be saved: {reason}.")
            self.picture.setToolTip(words.format(reason=error.strerror or error))
            self.save_button.setText(tr("Not saved"))
            self.save_button.setToolTip(self.picture.toolTip())
