"""Edits a message in place: Enter sends it as another version, Esc cancels.

It takes text only; for other pasted content a sentence says why not.
"""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QSizePolicy

from app.core.domain.attachments import Attachment
from ui.composer.attachments.chips import AttachmentRows
from ui.composer.message_edit import MessageEdit
from ui.conversations.search_results import claims_escape
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.widgets.building import button, hbox, label, set_style_property, vbox

tr = Translator("MessageEditor")

MAX_LINES = 16
ANSWER_HINT = tr.mark("Enter saves it as another version; the answer stays as it was. Shift+Enter begins a new line.")
HINT = tr.mark("Press Enter to send as a new version; the original is kept.")
NO_FILES = tr.mark("Files cannot be added to a sent message. Attach them to a new one.")


class MessageEditor(QFrame):
    sent = Signal(str)  # the edited text; `removed_ids` has the removed attachments
    cancelled = Signal()  # cancelled
    attachment_opened = Signal(int)  # show an attachment

    def __init__(
        self, theme: Theme, text: str, attachments: Sequence[Attachment] = (), *, is_answer: bool = False
    ) -> None:
        super().__init__()
        self.setObjectName("composerCard")
        hint = self._hint_words = tr(ANSWER_HINT if is_answer else HINT)
        self._attachments = tuple(attachments)
        self.removed_ids: set[int] = set()
        self.rows = AttachmentRows(theme, removable=True, parent=self)
        self.rows.show_attachments(self._attachments)
        self.rows.removed.connect(self._remove_attachment)
        self.rows.opened.connect(self.attachment_opened)
        self.edit = MessageEdit(theme, MAX_LINES)
        self.edit.setAccessibleName(translate("Text", "Edit your message"))
        self.edit.setPlaceholderText("")
        self.edit.setPlainText(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)
        self.edit.installEventFilter(self)
        self.hint = label(hint, "caption", wrap=True)
        self.hint.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # or the page would get wider
        named = tr("{action}: the edited message")
        cancel = tr("Cancel")
        send = tr("Save") if is_answer else tr("Send")
        self.cancel_button = button(cancel, self.cancelled.emit, name=named.format(action=cancel))
        self.send_button = button(send, self._send, kind="primary", name=named.format(action=send))
        row = hbox((self.hint, 1), self.cancel_button, self.send_button, spacing=8)
        vbox(self.rows, self.edit, row, parent=self, margins=(12, 10, 8, 8), spacing=8)
        self.edit.send.connect(self._send)
        for pasted in (self.edit.files_pasted, self.edit.picture_pasted):
            pasted.connect(lambda _pasted: self._announce(tr(NO_FILES)))
        too_long = tr("That text is too long to edit here. Paste it into a new message.")
        self.edit.huge_pasted.connect(lambda _text: self._announce(too_long))
        self.edit.focus_changed.connect(self._show_focus)
        self.edit.textChanged.connect(lambda: self._show_hint(self._hint_words, "caption"))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take Esc before the window's shortcut."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
            return True
        return claims_escape(event) or super().eventFilter(watched, event)

    def _remove_attachment(self, attachment_id: int) -> None:
        self.removed_ids.add(attachment_id)
        self.rows.show_attachments([each for each in self._attachments if each.id not in self.removed_ids])
        if not self.rows.chips:
            self.edit.setFocus()

    def _show_focus(self, focused: bool) -> None:
        set_style_property(self, "focusWithin", "true" if focused else "false")

    def _announce(self, words: str) -> None:
        """Show a sentence in place of the hint until the next key, also for screen readers."""
        self._show_hint(words, "warning")
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.edit, words))

    def _show_hint(self, words: str, kind: str) -> None:
        if words != self.hint.text():
            self.hint.setText(words)
            set_style_property(self.hint, "kind", kind)

    def _send(self) -> None:
        text = self.edit.exact_text().strip("\n")
        if text.strip() or self.rows.chips:
            self.sent.emit(text)
