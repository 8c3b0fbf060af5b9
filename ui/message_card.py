"""One message of the transcript: the user's on a soft tint, the answer on the page with its figures and actions."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from engine.records import Source, TokenSpan
from ui.answer_body import AnswerBody
from ui.formatting import count, footer, footer_help, hover
from ui.icon_button import IconButton
from ui.message_editor import MessageEditor
from ui.prose_view import ProseView
from ui.provenance import SourceRuns
from ui.records import MessageState, MessageView
from ui.theme import Theme
from ui.version_switch import VersionSwitch

STATE_NOTICES = {
    MessageState.STOPPED: "Stopped.",
    MessageState.INTERRUPTED: "Interrupted: Paceline ended before the answer was complete.",
    MessageState.FAILED: "The answer could not be completed.",
}
FIGURES_HELP = (
    "Tokens per second from the first token to the last, tokens per forward pass of the target, "
    "how many drafted tokens it kept, and who drafted."
)


class MessageCard(QFrame):
    """What both kinds share: the author's line, and actions that appear on hover and on keyboard focus.

    Signals:
        version_wanted(int): another version of this message is to be shown.
        delete_requested(int), menu_requested(object): the message and all after it; this card.
    """

    version_wanted = Signal(int)
    delete_requested = Signal(int)
    menu_requested = Signal(object)

    def __init__(self, theme: Theme, view: MessageView, author: str) -> None:
        super().__init__()
        self.theme = theme
        self.message_id = view.id
        self._actions: list[IconButton] = []
        self._more: IconButton | None = None
        self.author = QLabel(author)
        self.author.setProperty("kind", "section")
        self.setAccessibleName(f"Message from {author}")
        self.versions: VersionSwitch | None = None
        if len(view.versions) > 1:
            self.versions = VersionSwitch(theme, view.versions, view.id)
            self.versions.wanted.connect(self.version_wanted)

    @property
    def text(self) -> str:
        """The message as it would be copied."""
        raise NotImplementedError

    def add_action(self, icon: str, name: str) -> IconButton:
        """One more small button, out of sight until it is wanted."""
        button = IconButton(self.theme, icon, name)
        button.set_revealed(False)
        self._actions.append(button)
        return button

    def add_more(self) -> None:
        """Add the buttons that are wanted less often, the first time that the actions are shown."""
        raise NotImplementedError

    def add_beside(self, icon: str, name: str, before: IconButton, row: QHBoxLayout) -> IconButton:
        """One more action, after ``before`` in the row and for the Tab key."""
        button = self.add_action(icon, name)
        row.insertWidget(row.indexOf(before) + 1, button)
        QWidget.setTabOrder(before, button)
        button.show()
        return button

    @property
    def more_button(self) -> IconButton:
        """The button of the menu; made when it is first needed, since long chats have hundreds."""
        if self._more is None:
            self.add_more()
        if self._more is None:
            raise RuntimeError("a card added no button for its menu")
        return self._more

    def add_menu_button(self, before: IconButton, row: QHBoxLayout) -> None:
        """The button of the menu, after ``before``."""
        self._more = self.add_beside("ellipsis", "More for this message", before, row)
        self._more.clicked.connect(lambda: self.menu_requested.emit(self))

    def copy_text(self) -> None:
        """Put the message on the clipboard."""
        QApplication.clipboard().setText(self.text)

    def build_one(self) -> bool:
        """Make one more part of the message; False where none is missing."""
        return False

    def set_revealed(self, revealed: bool) -> None:
        """Show the actions or not."""
        if revealed and self._more is None:
            self.add_more()
        for button in self._actions:
            button.set_revealed(revealed)

    def enterEvent(self, event: QEnterEvent) -> None:
        """The pointer came."""
        self.set_revealed(True)
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer went; the keyboard may still be here."""
        focus = QApplication.focusWidget()
        self.set_revealed(focus is not None and self.isAncestorOf(focus))
        super().leaveEvent(event)


class UserCard(MessageCard):
    """What the user wrote, as plain text, editable in its place.

    Signals:
        edited(int, str): the message is to be asked in other words.
    """

    edited = Signal(int, str)

    def __init__(self, theme: Theme, view: MessageView, text_width: int = 0) -> None:
        super().__init__(theme, view, "You")
        self.setObjectName("userCard")
        self.body = ProseView(theme, self)
        self.body.setAccessibleName("Your message")
        self.body.fit(text_width)
        self.body.set_plain(view.text)
        self._text = view.text
        copy = self._copy_button = self.add_action("copy", "Copy message")
        copy.clicked.connect(self.copy_text)
        copy.clicked.connect(lambda: copy.confirm("Copied"))
        self._edit: IconButton | None = None
        self.editor: MessageEditor | None = None
        self._top = top = QHBoxLayout()
        top.setSpacing(2)
        top.addWidget(self.author)
        top.addStretch(1)
        for widget in (self.versions, copy):
            if widget is not None:
                top.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 6, 8, 12)
        layout.setSpacing(0)
        self._place = QHBoxLayout()
        self._place.setContentsMargins(0, 0, 6, 0)
        self._place.addWidget(self.body)
        layout.addLayout(top)
        layout.addLayout(self._place)

    def add_more(self) -> None:
        """Edit, and the menu."""
        self._edit = self.add_beside("pencil", "Edit message", self._copy_button, self._top)
        self._edit.clicked.connect(self.begin_edit)
        self.add_menu_button(self._edit, self._top)

    @property
    def edit_button(self) -> IconButton:
        """The button that begins to edit; made when it is first needed."""
        if self._edit is None:
            self.add_more()
        if self._edit is None:
            raise RuntimeError("a card added no button to edit")
        return self._edit

    def begin_edit(self) -> None:
        """Put an editor in the place of the text."""
        if self.editor is None:
            self.editor = MessageEditor(self.theme, self._text)
            self.editor.sent.connect(lambda text: self.edited.emit(self.message_id, text))
            self.editor.left.connect(self.end_edit)
            self.body.hide()
            self._place.addWidget(self.editor)
        self.editor.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def end_edit(self) -> None:
        """Show the text again, as it was."""
        if self.editor is not None:
            self.editor.hide()
            self.editor.deleteLater()
            self.editor = None
            self.body.show()
            self.edit_button.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def text(self) -> str:
        """The message as written."""
        return self._text


class AnswerCard(MessageCard):
    """What the model wrote. A finished answer is filled by `build_one`, so that long ones can be made in slices.

    Signals:
        regenerate_requested(int), regenerate_in_mode(int, object): another version is wanted; the `Mode`.
        continue_requested(int): an answer that was cut short is to go on.
        link_activated(str): a link of the answer was activated.
    """

    regenerate_requested = Signal(int)
    regenerate_in_mode = Signal(int, object)
    continue_requested = Signal(int)
    link_activated = Signal(str)

    def __init__(self, theme: Theme, view: MessageView, text_width: int = 0) -> None:
        super().__init__(theme, view, "Paceline")
        self._text = ""
        self._runs = SourceRuns()
        self._marked: frozenset[Source] = frozenset()
        self.body = AnswerBody(theme, self, text_width)
        self.body.link_activated.connect(self.link_activated)
        self.progress_label = QLabel("Reading the prompt")
        self.progress_label.setProperty("kind", "caption")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Reading the prompt")
        self.notice = QLabel()
        self.notice.setProperty("kind", "caption")
        self.notice.setWordWrap(True)
        self.notice.setTextFormat(Qt.TextFormat.PlainText)
        self.figures = QLabel()
        self.figures.setProperty("kind", "caption")
        theme.dress(self.figures, -1)
        self.figures.setToolTip(hover(FIGURES_HELP))
        self.figures.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.copy_button = self.add_action("copy", "Copy answer")
        self.copy_button.clicked.connect(self.copy_text)
        self.copy_button.clicked.connect(lambda: self.copy_button.confirm("Copied"))
        self.regenerate_button = self.add_action("refresh-cw", "Regenerate this answer")
        self.regenerate_button.clicked.connect(lambda: self.regenerate_requested.emit(self.message_id))
        self._is_streaming = False
        self.continue_button: QPushButton | None = None
        self._is_last = False
        self.can_go_on = False
        self._arrange()
        self._show_text(view)
        self._set_state(view)

    def _arrange(self) -> None:
        self._bottom = bottom = QHBoxLayout()
        bottom.setSpacing(2)
        if self.versions is not None:
            bottom.addWidget(self.versions)
            bottom.addSpacing(4)
        bottom.addWidget(self.figures)
        bottom.addSpacing(8)
        for button in (self.copy_button, self.regenerate_button):
            bottom.addWidget(button)
        bottom.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 0, 14, 0)
        layout.setSpacing(6)
        for widget in (self.author, self.progress_label, self.progress, self.body, self.notice):
            layout.addWidget(widget)
        layout.addLayout(bottom)

    def add_more(self) -> None:
        """The menu."""
        self.add_menu_button(self.regenerate_button, self._bottom)
        self.more_button.setEnabled(not self._is_streaming)

    def _show_text(self, view: MessageView) -> None:
        self._text = view.text
        self._runs.extend(view.spans)
        if view.state is MessageState.STREAMING:
            self.body.append(view.text)
        else:
            self.body.prepare(view.text)

    def build_one(self) -> bool:
        """Make one more part of a finished answer, from its end; False where none is missing."""
        more = self.body.build_one()
        if not more and self._marked:
            self._mark()
        return more

    def mark_sources(self, wanted: frozenset[Source]) -> None:
        """Mark the tokens that came from these sources."""
        if wanted or self._marked:
            self._marked = wanted
            self._mark()

    def _mark(self, *, afresh: bool = True) -> None:
        self.body.mark(self._text, self._runs, self._marked, afresh=afresh)

    @property
    def text(self) -> str:
        """The answer as Markdown."""
        return self._text

    @property
    def shown_notice(self) -> str:
        """The line below an answer that did not end by itself."""
        return self.notice.text()

    def append(self, text: str, spans: Iterable[TokenSpan] = ()) -> None:
        """Show the next piece."""
        self._text += text
        self._runs.extend(spans)
        self.body.append(text)
        if self._marked:
            self._mark(afresh=False)
        self.progress.hide()
        self.progress_label.hide()

    def show_prefill(self, done: int, total: int) -> None:
        """Say how far the prompt has been read."""
        known = total > 0
        self.progress.setRange(0, max(total, 1))
        self.progress.setValue(done if known else 0)
        self.progress_label.setText(
            f"Reading the prompt · {count(done)} of {count(total)} tokens" if known else "Reading the prompt"
        )
        self.progress_label.setVisible(not self._text)
        self.progress.setVisible(known and not self._text)

    def finish(self, view: MessageView) -> None:
        """The answer ended; its text is made whole where a piece is missing."""
        if view.text == self._text or not view.text:
            self.body.finish()
        else:
            self._text = view.text
            self.body.set_text(view.text)
        if view.spans:
            self._runs = SourceRuns()
            self._runs.extend(view.spans)
        if self._marked:
            self._mark()
        self._set_state(view)

    def set_last(self, last: bool) -> None:
        """Only the last answer can go on: what follows an earlier one rests on it."""
        self._is_last = last
        self._offer_to_go_on()

    def _offer_to_go_on(self) -> None:
        self.can_go_on = self._is_last and self._unfinished
        if self.can_go_on and self.continue_button is None:
            button = self.continue_button = QPushButton(" Continue")
            button.setIcon(self.theme.icon("play", size=14))
            button.setAccessibleName("Continue this answer")
            button.setToolTip("Let the answer go on where it was cut")
            button.clicked.connect(lambda: self.continue_requested.emit(self.message_id))
            self._bottom.insertWidget(self._bottom.count() - 1, button)
        if self.continue_button is not None:
            self.continue_button.setVisible(self.can_go_on)

    def _set_state(self, view: MessageView) -> None:
        streaming = view.state is MessageState.STREAMING
        self.message_id = view.id
        self.progress_label.setVisible(streaming and not self._text)
        self.progress.hide()
        self.figures.setText(footer(view.stats))
        self.figures.setToolTip(hover(footer_help(view.stats)))
        self.figures.setVisible(bool(self.figures.text()))
        notice = " ".join(part for part in (STATE_NOTICES.get(view.state, ""), view.notice) if part)
        self.notice.setText(notice)
        self.notice.setVisible(bool(notice))
        self.copy_button.setEnabled(not streaming)
        self.regenerate_button.setEnabled(not streaming)
        self._is_streaming = streaming
        if self._more is not None:
            self._more.setEnabled(not streaming)
        self._unfinished = view.can_go_on
        self._offer_to_go_on()
