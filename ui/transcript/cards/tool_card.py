"""A tool call on the page: tool, arguments, state, and its folded result.

Tool output is shown as plain text only: no Markdown, HTML or links.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from app.core.domain.messages import MessageView
from app.core.domain.tools.calls import (
    OPEN_STATUSES,
    REPEATABLE_STATUSES,
    UNREADABLE,
    CallStatus,
    StoredCall,
)
from ui.composer.attachments.chips import AttachmentRows
from ui.markdown.source_map import SourceMap
from ui.text.formatting import count, duration
from ui.text.language import Translator
from ui.theme.theme import Theme
from ui.transcript.cards.card import CardState, MessageCard
from ui.transcript.cards.code_block import CodeView
from ui.transcript.cards.text_part import TextPart
from ui.transcript.cards.user_card import shown_text
from ui.widgets.building import Stretch, button, hbox, label, line_edit, show_text, vbox

tr = Translator("ToolCard")

PREVIEW_LINES, PREVIEW_CHARS = 4, 400
ARGUMENT_CHARS = 120
MAX_ARGUMENTS = 6
DETAILS_LINES = 14
MAX_LINES = 10_000  # maximum lines of a result in the details: Qt needed half a second for 260,000 empty ones
ICON_PX = 14
TICK_MS = 1000

_STATUS_WORDS = {
    CallStatus.WAITING: tr.mark("Waiting for the call before it"),
    CallStatus.ASKED: tr.mark("Waiting for you"),
    CallStatus.RUNNING: tr.mark("Running"),
    CallStatus.DONE: tr.mark("Done"),
    CallStatus.FAILED: tr.mark("Failed"),
    CallStatus.REFUSED: tr.mark("Refused"),
    CallStatus.STOPPED: tr.mark("Stopped"),
    CallStatus.UNKNOWN: tr.mark("Was not finished"),
}
NOT_RUN_STATES = tr.mark("This call was not run: it is not valid, or the tool does not exist.")
_STATUS_ICONS = {
    CallStatus.WAITING: "pause",
    CallStatus.ASKED: "circle-question-mark",
    CallStatus.RUNNING: "play",
    CallStatus.DONE: "circle-check",
    CallStatus.FAILED: "circle-x",
    CallStatus.REFUSED: "circle-x",
    CallStatus.STOPPED: "square",
    CallStatus.UNKNOWN: "triangle-alert",
}
# The decisions of the user, as in `app.core.tools.policy.Permission`.
DECISIONS = (
    ("once", tr.mark("Allow once")),
    ("chat", tr.mark("Allow in this chat")),
    ("always", tr.mark("Always allow")),
)


class ToolCard(MessageCard):
    """A tool call; `show_call` updates it."""

    decided = Signal(int, str, str)  # "once", "chat" or "always" allow the call; "refused" with an optional reason
    repeat_requested = Signal(int)  # repeat a call that has no result
    attachment_opened = Signal(int)  # show a picture of the result
    resized = Signal()  # the card's height changed

    def __init__(self, theme: Theme, view: MessageView, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(theme, view, "")
        self.setObjectName("toolCard")
        self._clock, self._since_s = clock, clock()
        self._tick = QTimer(self, interval=TICK_MS)
        self._tick.timeout.connect(self._update_status)
        self.sign, self.status, self.server, self.note = (label("", "caption", selectable=True) for _ in range(4))
        self.arguments, self.preview = (label("", kind, wrap=True, selectable=True) for kind in ("muted", ""))
        self.preview.setFont(theme.code_font())
        self.pictures: AttachmentRows | None = None
        self.details: CodeView | None = None
        self.toggle = button("", kind="link")
        self.toggle.setCheckable(True)
        self.toggle.toggled.connect(self._on_toggled)
        self.copy_button = self.add_copy_action(tr("Copy result"))
        self.buttons: dict[str, QPushButton] = {}
        self._permission_buttons: QWidget | None = None
        self.reason: QLineEdit | None = None
        self.repeat_button: QPushButton | None = None
        self._arrange()
        self.theme.changed.connect(self._update_status)
        self.show_call(view)

    def _arrange(self) -> None:
        self.author.setProperty("kind", "strong")
        self._top = top = hbox(self.sign, (self.author, 1), self.copy_button, self.status, spacing=6)
        if self.versions is not None:
            top.addWidget(self.versions)
        self._column = vbox(
            top,
            self.server,
            self.arguments,
            self.preview,
            self.note,
            (self.toggle, 0, Qt.AlignmentFlag.AlignLeft),
            parent=self,
            margins=(14, 8, 14, 10),
            spacing=4,
        )

    @property
    def call(self) -> StoredCall:
        return self._view.call or StoredCall("", "", "", "")

    def show_call(self, view: MessageView) -> None:
        was, self._view = self._view.call, replace(view, versions=view.versions or self._view.versions)
        self.message_id = view.id
        call = self.call
        if call.status is CallStatus.RUNNING and (was is None or was.status is not CallStatus.RUNNING):
            self._since_s = self._clock()
        self._tick.start() if call.status is CallStatus.RUNNING else self._tick.stop()
        is_unreadable = not call.server and call.name == UNREADABLE
        self.author.setText(tr("Tool call") if is_unreadable else call.title or call.name)
        name = call.name if call.title and call.title != call.name else ""  # the heading shows it
        show_text(self.server, " · ".join(filter(None, (call.server, name))))
        lines = readable_arguments(call.arguments)
        show_text(self.arguments, lines)
        self._show_result(view.text)
        # Show thumbnails below the text of the result.
        shown = self._view.attachments
        if self.pictures is None and shown:
            self.pictures = AttachmentRows(self.theme, removable=False, parent=self)
            self.pictures.opened.connect(self.attachment_opened)
            self._column.insertWidget(self._column.indexOf(self.note), self.pictures)
        if self.pictures is not None and [chip.attachment for chip in self.pictures.chips] != list(shown):
            self.pictures.show_attachments(shown)
        self._update_status()
        asks = call.status is CallStatus.ASKED
        if asks and self._permission_buttons is None:
            self._permission_buttons = self._make_permission_buttons()
            self._column.insertWidget(self._column.indexOf(self.toggle), self._permission_buttons)
            self._permission_buttons.show()
        elif not asks and self._permission_buttons is not None:
            self._column.removeWidget(self._permission_buttons)
            self._permission_buttons.hide()
            self._permission_buttons.deleteLater()
            self._permission_buttons, self.reason, self.buttons = None, None, {}
        self._show_repeat(call.status in REPEATABLE_STATUSES)
        self.copy_button.setEnabled(bool(view.text))

    def _show_result(self, text: str) -> None:
        if not is_result(self.call):
            is_failed = self.call.status is CallStatus.FAILED
            text = tr(NOT_RUN_STATES) if is_failed else ""  # the status line states any other outcome
        preview, is_whole = preview_of(text)
        self.preview.setText(preview)
        self.preview.setVisible(bool(preview) and not self.toggle.isChecked())
        cut = self.call.cut
        words = tr("{count} more characters were left out.").format(count=count(cut)) if cut else ""
        show_text(self.note, words)
        self._is_whole = is_whole
        self._name_toggle()
        if self.details is not None:
            self.details.setPlainText(self.raw_text)
            self.details.fit()

    def _name_toggle(self) -> None:
        if self.toggle.isChecked():
            words = tr("Show less")
        elif self._is_whole:
            words = tr("Show details")
        else:
            words = tr("Show all")
        self.toggle.setText(words)
        self.toggle.setAccessibleName(f"{words}: {self.call.title or self.call.name}")

    def _update_status(self) -> None:
        status = self.call.status
        words = tr(_STATUS_WORDS[status])
        if status is CallStatus.RUNNING and (seconds := int(self._clock() - self._since_s)):
            words = tr("Running for {seconds} s").format(seconds=count(seconds))
        elif status is CallStatus.DONE and self.call.took_ms is not None:
            words = tr("Done in {time}").format(time=duration(self.call.took_ms / 1000))
        self.status.setText(words)
        tokens = self.theme.tokens
        colors = {CallStatus.DONE: tokens.good, CallStatus.FAILED: tokens.danger, CallStatus.ASKED: tokens.caution}
        color = colors.get(status, tokens.caution if status is CallStatus.UNKNOWN else "")
        self.sign.setPixmap(self.theme.pixmap(_STATUS_ICONS[status], color, ICON_PX, self.devicePixelRatioF()))
        name = tr("Call of {tool} of {server}. {status}.")
        call = self.call
        self.setAccessibleName(name.format(tool=call.title or call.name, server=call.server or "-", status=words))

    def _make_permission_buttons(self) -> QWidget:
        """Create the buttons that ask for permission; none takes the focus or reacts to Enter."""
        asking = QWidget()
        for answer, words in DECISIONS:
            decide = partial(self._decide, answer)
            self.buttons[answer] = button(tr(words), decide)
        self.buttons["refused"] = button(tr("Refuse…"), self._ask_reason)
        row = hbox(*self.buttons.values(), Stretch(), spacing=8)
        self._asking_column = vbox(row, parent=asking, margins=(0, 4, 0, 0), spacing=8)
        return asking

    def _ask_reason(self) -> None:
        if self.reason is None:
            self.reason = line_edit(tr("Reason for the refusal"), tr("Tell the model why (optional)"))
            self.reason.returnPressed.connect(self._refuse)
            send = button(tr("Refuse"), self._refuse)
            row = hbox((self.reason, 1), send)
            self._asking_column.addLayout(row)
            self.resized.emit()
        self.reason.setFocus(Qt.FocusReason.OtherFocusReason)

    def _decide(self, answer: str) -> None:
        self.decided.emit(self.message_id, answer, "")

    def _refuse(self) -> None:
        self.decided.emit(self.message_id, "refused", self.reason.text() if self.reason is not None else "")

    def _show_repeat(self, offered: bool) -> None:
        if offered and self.repeat_button is None:
            words = tr("Run it again")
            self.repeat_button = button(words, lambda: self.repeat_requested.emit(self.message_id))
            row = hbox(self.repeat_button, Stretch(), margins=(0, 4, 0, 0))
            self._column.insertLayout(self._column.indexOf(self.toggle), row)
        if self.repeat_button is not None:
            self.repeat_button.setVisible(offered)
        if self.call.status is CallStatus.UNKNOWN:
            self.note.setText(tr("This call was not finished, and may have had an effect. Run it again?"))
            self.note.show()

    def set_open(self, is_open: bool) -> None:
        self.toggle.setChecked(is_open)

    def _on_toggled(self, is_open: bool) -> None:
        if is_open and self.details is None:
            self.details = CodeView(self.theme, most_lines=DETAILS_LINES)
            self.details.setAccessibleName(tr("Arguments and result"))
            self.details.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # the message has its own menu
            self.details.setPlainText(self.raw_text)
            self._column.insertWidget(self._column.indexOf(self.toggle), self.details)
        if self.details is not None:
            self.details.setVisible(is_open)
        self.preview.setVisible(bool(self.preview.text()) and not is_open)
        self._name_toggle()
        self.resized.emit()

    @property
    def text(self) -> str:
        return self._view.text

    @property
    def raw_text(self) -> str:
        return call_text(self._view)

    @property
    def parts(self) -> Sequence[TextPart]:
        if self.details is None or self.details.isHidden():
            return ()
        text = self.raw_text
        return [TextPart(self.details, SourceMap(text, range(len(text))))]

    def set_wholly_selected(self, *, selected: bool) -> None:
        for each in (self.server, self.arguments, self.preview):
            if selected and not each.hasSelectedText():
                each.setSelection(0, len(each.text()))
            elif not selected and each.hasSelectedText() and not each.hasFocus():
                each.setSelection(0, 0)

    def add_more_actions(self) -> None:
        self.add_menu_button(self.copy_button, self._top)

    @property
    def is_in_use(self) -> bool:
        return self.call.status in OPEN_STATUSES or super().is_in_use

    def save_state(self) -> CardState | None:
        state = super().save_state()
        return state and replace(state, expanded=self.toggle.isChecked())

    def restore_state(self, state: CardState) -> None:
        if state.expanded:
            self.set_open(True)


def is_result(call: StoredCall) -> bool:
    """Whether the result is the tool's output; otherwise the app wrote it for the model."""
    return bool(call.server) and call.status is not CallStatus.REFUSED


def call_text(view: MessageView) -> str:
    """The whole call: tool, arguments as JSON, and result."""
    call = view.call or StoredCall("", "", "", "")
    arguments = tr("Arguments")
    result = tr("Result") if is_result(call) else tr("Sent to the model")
    parts = [call.title or call.name, f"{arguments}\n{pretty_json(call.arguments)}"]
    parts += [f"{result}\n{_first_lines(shown_text(view.text))}"] if view.text else []
    return "\n\n".join(parts)


def readable_arguments(arguments: str) -> str:
    """Each argument as a shortened line; empty if the arguments are not a JSON object."""
    try:
        found = json.loads(arguments)
    except ValueError:
        return arguments[:ARGUMENT_CHARS]
    if not isinstance(found, dict):
        return arguments[:ARGUMENT_CHARS]
    lines = [f"{key}: {_one_line(value)}" for key, value in list(found.items())[:MAX_ARGUMENTS]]
    return "\n".join([*lines, *(["…"] if len(found) > MAX_ARGUMENTS else [])])


def _one_line(value: object) -> str:
    text = " ".join((value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).split())
    return text if len(text) <= ARGUMENT_CHARS else f"{text[:ARGUMENT_CHARS]}…"


def pretty_json(arguments: str) -> str:
    """Arguments as indented JSON; unchanged if invalid."""
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, indent=2)
    except ValueError:
        return arguments


def _first_lines(text: str) -> str:
    """The result as shown in the details; extremely many lines are cut."""
    lines = text.split("\n", MAX_LINES)
    if len(lines) <= MAX_LINES:
        return text
    more = tr("{count} more lines are not shown here. Copy the result to have them all.")
    return "\n".join([*lines[:MAX_LINES], more.format(count=count(lines[-1].count("\n") + 1))])


def preview_of(text: str) -> tuple[str, bool]:
    """The first lines of a result, and whether they are the whole result."""
    lines = text.splitlines()
    preview = "\n".join(lines[:PREVIEW_LINES])
    is_whole = len(lines) <= PREVIEW_LINES and len(preview) <= PREVIEW_CHARS
    return (preview if is_whole else preview[:PREVIEW_CHARS].rstrip() + " …"), is_whole
