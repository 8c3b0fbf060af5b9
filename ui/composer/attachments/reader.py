"""The dialog that shows an attachment: its text or its picture."""

from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QPixmap, QResizeEvent
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QSizePolicy, QWidget

from app.core.domain.attachments import Attachment, AttachmentKind
from ui.composer.attachments.chips import attachment_facts, title_of
from ui.composer.message_edit import wrap_for
from ui.text.formatting import count
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, hbox, label, read_only_text, vbox
from ui.widgets.dialogs import Dialog, ask_picture_file, copy_with_feedback

tr = Translator("PictureViewer")

MAX_CHARS = 200_000  # longer texts are cut: their layout would block the window
CODE_KINDS = (AttachmentKind.CODE, AttachmentKind.CSV)
MARGINS = QSize(80, 80)  # pixels of the window that stay visible around the dialog


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


class AttachmentDialog(Dialog):
    """The text of an attachment, truncated if very long, or its picture, as large as the window allows.

    Esc closes it.
    """

    def __init__(self, theme: Theme, attachment: Attachment, parent: QWidget) -> None:
        super().__init__(parent, title_of(attachment))
        self._theme, self._attachment = theme, attachment
        self.copy_button = button(translate("AttachmentReader", "Copy all"), self._copy)
        self.save_button = button(tr("Save as…"), self._ask_file)
        self.close_button = button(tr("Close"), self.accept)
        self.close_button.setDefault(True)
        self._whole = QPixmap()
        if attachment.picture is not None:
            self._whole.loadFromData(attachment.picture.data)
            self.copy_button.setText(tr("Copy"))
            self.content: QPlainTextEdit | _ScaledPicture = _ScaledPicture(self._whole)
            self.content.setAccessibleName(attachment.name)
            room = (self.content.sizeHint() + QSize(48, 140)).boundedTo(parent.size() - MARGINS)
            self.resize(room.expandedTo(QSize(420, 260)))
        else:
            self.save_button.hide()
            self.content = self._text_view()
            self.resize(QSize(760, 560).boundedTo(parent.size() * 0.9))
        name, about = label(title_of(attachment), "strong", wrap=True), label(self._facts_text(), "caption")
        buttons = hbox(Stretch(), self.copy_button, self.save_button, self.close_button, spacing=8)
        vbox(name, about, (self.content, 1), 4, buttons, parent=self, margins=(24, 20, 24, 20), spacing=8)

    def _text_view(self) -> QPlainTextEdit:
        attachment = self._attachment
        view = read_only_text("", translate("AttachmentReader", "Text of {name}").format(name=attachment.name))
        view.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        is_code = attachment.kind in CODE_KINDS
        self._theme.set_font(view, code=is_code)
        if is_code:
            view.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        wrap_for(view, attachment.text[:MAX_CHARS])
        view.setPlainText(attachment.text[:MAX_CHARS])
        return view

    def _facts_text(self) -> str:
        shown = attachment_facts(self._attachment)
        if len(self._attachment.text) <= MAX_CHARS:
            return shown
        words = translate(
            "AttachmentReader", "Showing the first {shown} of {all} characters; the model gets all of them"
        )
        return f"{shown} · {words.format(shown=count(MAX_CHARS), all=count(len(self._attachment.text)))}"

    def _copy(self) -> None:
        if self._whole.isNull():
            copy_with_feedback(self.copy_button, self._attachment.text)
        else:
            QGuiApplication.clipboard().setPixmap(self._whole)

    def _ask_file(self) -> None:
        kept = self._attachment.picture
        ending = "jpg" if kept is not None and kept.data.startswith(b"\xff\xd8") else "png"
        ask_picture_file(self, f"{Path(self._attachment.name).stem}.{ending}", self.save)

    def save(self, path: str) -> None:
        """Save the original picture; report a failure."""
        kept = self._attachment.picture
        if kept is None:
            return
        try:
            Path(path).write_bytes(kept.data)
        except OSError as error:
            self.save_button.setText(tr("Not saved"))
            words = tr("It could not be saved: {reason}.")
            self.save_button.setToolTip(words.format(reason=error.strerror or error))
