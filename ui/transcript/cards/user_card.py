"""A user message: plain text on a soft tint, editable in place."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from app.core.domain.messages import MessageView
from ui.composer.attachments.chips import AttachmentRows
from ui.composer.attachments.reader import MAX_CHARS
from ui.markdown.blocks import Segment, plain_segments
from ui.markdown.source_map import SourceMap
from ui.text.formatting import count
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.transcript.cards.body import AnswerBody
from ui.transcript.cards.card import ARROW_INSET_PX, CardState, MessageCard
from ui.transcript.cards.editor import MessageEditor
from ui.transcript.cards.text_part import TextPart
from ui.widgets.building import button, hbox, vbox
from ui.widgets.exact_text import VerbatimTextEdit
from ui.widgets.icon_button import IconButton

tr = Translator("UserCard")

FOLD_CHARS, FOLD_LINES = 2_400, 24  # longer messages are folded
SHOWN_CHARS, SHOWN_LINES = 800, 10
MORE_SIGN = " …"
LINE_CHARS = 5_000  # longer lines are broken: the layout time of a line without spaces is quadratic


def shown_text(text: str) -> str:
    """The part of a message that can be laid out at once, with extremely long lines broken; only for display."""
    lines = text[:MAX_CHARS].split("\n")
    shown = "\n".join(line[at : at + LINE_CHARS] for line in lines for at in range(0, max(len(line), 1), LINE_CHARS))
    if len(text) <= MAX_CHARS:
        return shown
    words = translate("AttachmentReader", "Showing the first {shown} of {all} characters; the model gets all of them")
    return f"{shown}\n\n({words.format(shown=count(MAX_CHARS), all=count(len(text)))})"


def first_line_of(text: str) -> str:
    if len(text) <= FOLD_CHARS and text.count("\n") < FOLD_LINES:
        return ""
    return "\n".join(text[:SHOWN_CHARS].split("\n")[:SHOWN_LINES]).rstrip() + MORE_SIGN


class UserCard(MessageCard):
    """A user message as plain text, editable in place; a long text is folded."""

    resized = Signal()  # it was folded or unfolded
    edited = Signal(int, str)  # the message's id and its edited text, to be sent
    edit_typed = Signal(int, str)  # the message and its editor's text; empty if closed or unchanged
    attachment_opened = Signal(int)  # show an attachment
    attachments_removed = Signal(int, object)  # the message and ids of attachments that the next `edited` drops

    def __init__(self, theme: Theme, view: MessageView, text_width: int = 0) -> None:
        super().__init__(theme, view, tr("You"))
        self.setObjectName("userCard")
        self.body = AnswerBody(theme, self, text_width)
        self.body.setAccessibleName(tr("Your message"))
        self._fold: QPushButton | None = None
        if first_line_of(view.text):
            self._fold = button(translate("ToolCard", "Show all"), kind="link")
            self._fold.setCheckable(True)
            self._fold.toggled.connect(self._on_fold)
        self._text = view.text
        self._attached = view.attachments
        self.attachments: AttachmentRows | None = None
        copy = self._copy_button = self.add_copy_action(tr("Copy message"))
        self._edit: IconButton | None = None
        self.editor: MessageEditor | None = None
        self._top = top = hbox((self.author, 1), copy, spacing=2)
        if self.versions is not None:
            top.addWidget(self.versions)  # at the end, so that buttons that appear on hover leave no gap beside it
            QWidget.setTabOrder(self.versions.back, self.versions.forth)
        self._place = hbox(
            self.body,
            ARROW_INSET_PX,  # aligns the end of the text with the arrow above
        )
        self._show_words(view.text)
        layout = vbox(top, parent=self, margins=(14, 6, 14 - ARROW_INSET_PX, 12), spacing=0)
        if view.attachments:
            self.attachments = AttachmentRows(theme, removable=False, parent=self)
            self.attachments.show_attachments(view.attachments)
            self.attachments.opened.connect(self.attachment_opened)
            layout.addWidget(self.attachments)
            layout.addSpacing(8 if view.text else 0)
        layout.addLayout(self._place)
        if self._fold is not None:
            layout.addWidget(self._fold, 0, Qt.AlignmentFlag.AlignLeft)

    def set_open(self, is_open: bool) -> None:
        if self._fold is not None:
            self._fold.setChecked(is_open)

    def _on_fold(self, is_open: bool) -> None:
        if self._fold is not None:
            words = translate("ToolCard", "Show less") if is_open else translate("ToolCard", "Show all")
            self._fold.setText(words)
            self._fold.setAccessibleName(words)
        self._show_words(self._text)
        self.resized.emit()

    def save_state(self) -> CardState | None:
        state = super().save_state()
        return state and replace(state, expanded=self._fold is not None and self._fold.isChecked())

    def restore_state(self, state: CardState) -> None:
        self.set_open(state.expanded)

    def _show_words(self, text: str) -> None:
        is_folded = self._fold is not None and not self._fold.isChecked()
        shown = first_line_of(text) if is_folded else shown_text(text)
        segments = plain_segments(text)
        if shown != text:
            source = shown.removesuffix(MORE_SIGN) if is_folded else text
            segments = [Segment("", shown, is_plain=True, source_map=SourceMap(source, range(len(source))))]
        self.body.show_segments(segments)
        self.body.setVisible(bool(text))

    @property
    def parts(self) -> Sequence[TextPart]:
        return () if self.editor is not None or not self._text else self.body.parts

    def _show_texts(self, *, shown: bool) -> None:
        self.body.setVisible(shown and bool(self._text))
        if self.attachments is not None:
            self.attachments.setVisible(shown)

    def add_more_actions(self) -> None:
        name = tr("Edit message")
        self._edit = self.insert_action_after("pencil", name, self.begin_edit, self._copy_button, self._top)
        self.add_menu_button(self._edit, self._top)

    @property
    def edit_button(self) -> IconButton:
        self.ensure_more_actions()
        if self._edit is None:
            raise RuntimeError("a card added no button to edit")
        return self._edit

    def begin_edit(self) -> None:
        self.resume_edit(self._text).setFocus(Qt.FocusReason.OtherFocusReason)

    def resume_edit(self, typed: str) -> VerbatimTextEdit:
        if self.editor is None:
            self.editor = MessageEditor(self.theme, typed, self._attached)
            self.editor.edit.textChanged.connect(self._emit_typed)
            self.editor.sent.connect(self._send_edited)
            self.editor.attachment_opened.connect(self.attachment_opened)
            self.editor.cancelled.connect(self.end_edit)
            self._show_texts(shown=False)
            self._place.insertWidget(0, self.editor)
        return self.editor.edit

    def _send_edited(self, text: str) -> None:
        if self.editor is not None and self.editor.removed_ids:
            self.attachments_removed.emit(self.message_id, frozenset(self.editor.removed_ids))
        self.edited.emit(self.message_id, text)

    def _emit_typed(self) -> None:
        typed = self.editor.edit.exact_text() if self.editor is not None else ""
        self.edit_typed.emit(self.message_id, "" if typed == self._text else typed)

    def end_edit(self) -> None:
        if self.editor is not None:
            self.edit_typed.emit(self.message_id, "")
            self.editor.hide()
            self.editor.deleteLater()
            self.editor = None
            self._show_texts(shown=True)
            self.edit_button.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def is_in_use(self) -> bool:
        return self.editor is not None or super().is_in_use

    @property
    def text(self) -> str:
        return self._text
