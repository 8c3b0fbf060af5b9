"""Edits a message in place: Enter sends it as another version, Esc cancels.

It takes text only; for other pasted content a sentence says why not.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QSizePolicy

from app.core.domain.attachments import Attachment
from ui.composer.attachments.chips import AttachmentRows
from ui.composer.message_edit import fits_box, height_of, local_paths, wrap_for
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.widgets.building import button, hbox, label, set_style_property, vbox
from ui.widgets.exact_text import VerbatimTextEdit

tr = Translator("MessageEditor")

MAX_LINES = 16
ANSWER_HINT = tr.mark("Enter saves it as another version; the answer stays as it was. Shift+Enter begins a new line.")
HINT = tr.mark("Press Enter to send as a new version; the original is kept.")
NO_FILES = tr.mark("Files cannot be added to a sent message. Attach them to a new one.")


class _EditorText(VerbatimTextEdit):
    """Grows with its lines."""

    # Enter and Esc
    send = Signal()
    cancel_requested = Signal()
    refused = Signal(str)  # why the pasted content was rejected
    focus_changed = Signal(bool)  # the focus came or went

    def __init__(self, theme: Theme, text: str) -> None:
        super().__init__()
        self.setObjectName("composerText")
        self.setAccessibleName(translate("Text", "Edit your message"))
        self.setTabChangesFocus(True)
        self.setFont(theme.font(1))
        self.document().setDocumentMargin(0)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        wrap_for(self, text)
        self.setPlainText(text)
        self.moveCursor(self.textCursor().MoveOperation.End)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(height_of(self, MAX_LINES))

    def event(self, event: QEvent) -> bool:
        """Take Esc before the window's shortcut; report the focus for the frame around."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.focus_changed.emit(event.type() == QEvent.Type.FocusIn)
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.send.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.cancel_requested.emit()
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """The window handles dragged files; a pasted picture is accepted only to explain its rejection."""
        return (source.hasText() or source.hasImage()) and not local_paths(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste plain text; explain the rejection of anything else."""
        if local_paths(source):
            self.refused.emit(tr(NO_FILES))
        elif source.hasText():
            if fits_box(source.text()):
                wrap_for(self, self.exact_text() + source.text())
                self.insertPlainText(source.text())
            else:
                self.refused.emit(tr("That text is too long to edit here. Paste it into a new message."))
        elif source.hasImage():
            self.refused.emit(tr(NO_FILES))


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
        self.edit = _EditorText(theme, text)
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
        self.edit.cancel_requested.connect(self.cancelled)
        self.edit.refused.connect(self._announce)
        self.edit.focus_changed.connect(self._show_focus)
        self.edit.textChanged.connect(lambda: self._show_hint(self._hint_words, "caption"))

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
