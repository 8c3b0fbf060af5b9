"""Shows the text of an attachment to read and copy. Very long ones are shown in part: the model is given all."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.core.domain.attachments import Attachment, AttachmentKind
from ui.composer.attachments.chips import facts
from ui.composer.message_edit import wrap_for
from ui.text.formatting import count
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, hbox, label, read_only_text, vbox
from ui.widgets.dialogs import Dialog, copy_with_feedback

MOST_CHARS = 200_000  # more would keep the window waiting for its layout
CODE_LIKE = (AttachmentKind.CODE, AttachmentKind.CSV)


class AttachmentDialog(Dialog):
    """One attachment; Esc closes it."""

    def __init__(self, theme: Theme, attachment: Attachment, parent: QWidget) -> None:
        super().__init__(parent, attachment.name)
        self.resize(QSize(760, 560).boundedTo(parent.size() * 0.9))
        name = label(attachment.name, "strong", wrap=True)
        about = label(self._about(attachment), "caption")
        name_of_text = translate("AttachmentReader", "Text of {name}").format(name=attachment.name)
        self.text = read_only_text("", name_of_text)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        is_code = attachment.kind in CODE_LIKE
        theme.set_font(self.text, code=is_code)
        if is_code:
            self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        wrap_for(self.text, attachment.text[:MOST_CHARS])
        self.text.setPlainText(attachment.text[:MOST_CHARS])
        self.copy_button = button(
            translate("AttachmentReader", "Copy all"), lambda: copy_with_feedback(self.copy_button, attachment.text)
        )
        self.close_button = button(translate("AttachmentReader", "Close"), self.accept)
        self.close_button.setDefault(True)
        buttons = hbox(Stretch(), self.copy_button, self.close_button, spacing=8)
        vbox(name, about, (self.text, 1), 4, buttons, parent=self, margins=(24, 20, 24, 20), spacing=8)

    @staticmethod
    def _about(attachment: Attachment) -> str:
        shown = facts(attachment)
        if len(attachment.text) <= MOST_CHARS:
            return shown
        words = translate(
            "AttachmentReader", "Showing the first {shown} of {all} characters; the model gets all of them"
        )
        return f"{shown} · {words.format(shown=count(MOST_CHARS), all=count(len(attachment.text)))}"
