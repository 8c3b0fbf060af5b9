"""Shows the text of an attachment to read and copy. Very long ones are shown in part: the model is given all."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.core.domain.attachments import Attachment, AttachmentKind
from ui.composer.attachments.chips import facts
from ui.composer.message_edit import wrap_for
from ui.text.formatting import count
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.dialogs import copy_with_feedback
from ui.widgets.enter_key import EnterInDialog

MOST_CHARS = 200_000  # more would keep the window waiting for its layout
CODE_LIKE = (AttachmentKind.CODE, AttachmentKind.CSV)


class AttachmentDialog(QDialog):
    """One attachment; Esc closes it."""

    def __init__(self, theme: Theme, attachment: Attachment, parent: QWidget) -> None:
        super().__init__(parent)
        EnterInDialog(self)
        self.setWindowTitle(attachment.name)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(True)
        self.resize(QSize(760, 560).boundedTo(parent.size() * 0.9))
        name = QLabel(attachment.name)
        name.setProperty("kind", "strong")
        name.setTextFormat(Qt.TextFormat.PlainText)
        name.setWordWrap(True)
        about = QLabel(self._about(attachment))
        about.setProperty("kind", "caption")
        self.text = QPlainTextEdit()
        self.text.setProperty("kind", "field")
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        is_code = attachment.kind in CODE_LIKE
        theme.set_font(self.text, code=is_code)
        if is_code:
            self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        wrap_for(self.text, attachment.text[:MOST_CHARS])
        self.text.setPlainText(attachment.text[:MOST_CHARS])
        self.text.setAccessibleName(translate("AttachmentReader", "Text of {name}").format(name=attachment.name))
        self.copy_button = QPushButton(translate("AttachmentReader", "Copy all"))
        self.close_button = QPushButton(translate("AttachmentReader", "Close"))
        self.copy_button.clicked.connect(lambda: copy_with_feedback(self.copy_button, attachment.text))
        self.close_button.clicked.connect(self.accept)
        self.close_button.setDefault(True)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch(1)
        for button in (self.copy_button, self.close_button):
            button.setAccessibleName(button.text())
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(8)
        layout.addWidget(name)
        layout.addWidget(about)
        layout.addWidget(self.text, 1)
        layout.addSpacing(4)
        layout.addLayout(buttons)

    @staticmethod
    def _about(attachment: Attachment) -> str:
        shown = facts(attachment)
        if len(attachment.text) <= MOST_CHARS:
            return shown
        words = translate(
            "AttachmentReader", "Showing the first {shown} of {all} characters; the model gets all of them"
        )
        return f"{shown} · {words.format(shown=count(MOST_CHARS), all=count(len(attachment.text)))}"
