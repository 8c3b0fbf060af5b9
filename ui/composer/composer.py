"""The composer: the text box and its buttons, with the options of the next answer."""

from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from app.core.domain.attachments import Attachment
from app.core.domain.context import estimated_tokens
from app.core.domain.engine_view import EngineState, EngineView
from app.core.domain.engines import host_in, is_local_url
from app.core.domain.tools.servers import ToolMenu
from engine.records import THINKING_OFF, THINKING_ON, Mode, ThinkingOption
from ui.composer.attachments.chips import AttachmentTray
from ui.composer.context_meter import TEMPLATE_TOKENS_PER_MESSAGE, ContextSum, sum_words, warning
from ui.composer.message_edit import MessageEdit
from ui.composer.mode_button import MenuButton, ModeButton
from ui.text.formatting import count, tooltip
from ui.text.language import Translator, mark, translate
from ui.theme.theme import Theme
from ui.widgets.building import ElidedLabel, Stretch, button, hbox, label, set_style_property, vbox
from ui.widgets.choice_list import Choice
from ui.widgets.dialogs import ask_attachment_files
from ui.widgets.icon_button import IconButton
from ui.widgets.popups import ChoicePopup

tr = Translator("Composer")

CONTROL_SPACE_PX = 48  # the card's margins and the spaces between its controls

REMOTE_PLACEHOLDER = tr.mark("Messages and files of this chat are sent to {host}.")
LOCAL_PLACEHOLDER = tr.mark("Answered by another program on this computer, {host}, which may send messages elsewhere.")
NOT_READY_REASONS = {
    EngineState.EMPTY: tr.mark("No model is loaded. Open one or start the quick demo."),
    EngineState.LOADING: tr.mark("The model is loading. You can send your message in a moment."),
    EngineState.RACING: tr.mark("A race is using the model. You can send your message when it is over."),
}
MENU_PX, TOOLS_PX = 260, 400
MAX_TOOLS_SHARE = 0.25  # maximum share of the context for tool descriptions without a warning
MANAGE_KEY = "manage"
_THINKING_NAMES = {
    THINKING_OFF: mark("Thinking", "Off"),
    THINKING_ON: mark("Thinking", "On"),
    "adaptive": mark("Thinking", "As needed"),
    "minimal": mark("Thinking", "Minimal"),
    "low": mark("Thinking", "Low"),
    "medium": mark("Thinking", "Medium"),
    "high": mark("Thinking", "High"),
    "xhigh": mark("Thinking", "Very high"),
    "max": mark("Thinking", "Maximum"),
}
_THINKING_LINES = {
    THINKING_OFF: mark("Thinking", "Answers at once"),
    THINKING_ON: mark("Thinking", "Reasons before it answers"),
    "adaptive": mark("Thinking", "Decides by the question"),
    "minimal": mark("Thinking", "Hardly reasons"),
    "low": mark("Thinking", "Reasons briefly"),
    "medium": mark("Thinking", "Reasons for a while"),
    "high": mark("Thinking", "Reasons at length"),
    "xhigh": mark("Thinking", "Reasons at great length"),
    "max": mark("Thinking", "Reasons for as long as it can"),
}


def thinking_name(name: str) -> str:
    if name.isdecimal():
        return translate("Thinking", "Up to {number} tokens").format(number=count(int(name)))
    return translate("Thinking", _THINKING_NAMES[name])


def thinking_line(name: str) -> str:
    if name.isdecimal():
        return translate("Thinking", "Reasons up to this length")
    return translate("Thinking", _THINKING_LINES[name])


def tools_words(menu: ToolMenu) -> str:
    if not menu.is_on:
        return tr("Tools are off in this chat.")
    if not menu.tokens:
        return tr("Tools are on in this chat.")
    words = tr("Tools are on. They take about {tokens} of {size} tokens of the context.")
    return words.format(tokens=count(menu.tokens), size=count(menu.context_size))


def tool_rows(menu: ToolMenu) -> list[Choice]:
    """The rows of the tools menu: a switch for all, the built-in tools, each server with its tools, a link."""

    def row(server: str, name: str, title: str, is_on: bool, lines: tuple[str, ...] = (), tokens: int = 0) -> Choice:
        side = tr("{count} tokens", None, tokens).format(count=count(tokens)) if tokens else ""
        spoken = tr("on") if is_on else tr("off")
        icon = "check" if is_on else ""
        return Choice(f"{server}\n{name}", title, lines, side, icon, "accent", spoken, wraps=True)

    rows = [row("", "", tr("Tools in this chat"), menu.is_on, (menu.refusal or tools_words(menu),))]
    rows.append(Choice("", tr("Built in")))
    off = {one.server for one in menu.tools if not one.name and not one.is_on}
    for tool in menu.tools:
        is_on = menu.is_on and tool.is_on and tool.server not in off
        if tool.name:
            rows.append(row(tool.server, tool.name, tool.title, is_on, tokens=tool.tokens or 0))
            continue
        cost = sum(one.tokens or 0 for one in menu.tools if one.server == tool.server)
        rows.append(Choice("", tool.title))
        title = tr("All tools of this server")
        rows.append(row(tool.server, "", title, is_on, (tool.note,) if tool.note else (), cost))
    return [*rows, Choice("", ""), Choice(MANAGE_KEY, tr("Add or change servers…"), icon="settings")]


class ThinkingButton(MenuButton):
    """Shows the reasoning option; hidden if the chat template offers none."""

    chosen = Signal(str)  # the name of the chosen `ThinkingOption`

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._options: tuple[ThinkingOption, ...] = ()
        self._wanted = ""
        self.setAccessibleName(translate("ThinkingButton", "How the model thinks"))
        self.hide()

    @property
    def option(self) -> str:
        """The current option: the chosen one if the model has it, else the model's default."""
        names = [option.name for option in self._options]
        return self._wanted if self._wanted in names else next(iter(names), "")

    def make_popup(self) -> ChoicePopup:
        made = ChoicePopup(self._theme, translate("ThinkingButton", "How the model thinks"), self)
        made.picked.connect(self._choose)
        made.setFixedWidth(round(MENU_PX * self._theme.type.growth))
        return made

    def set_options(self, options: Sequence[ThinkingOption]) -> None:
        """Set the loaded model's options, the default first."""
        self._options = tuple(options)
        self._show()

    def set_wanted(self, name: str) -> None:
        self._wanted = name
        self._show()

    def _choose(self, name: str) -> None:
        if name != self.option:
            self.set_wanted(name)
            self.chosen.emit(name)

    def _show(self) -> None:
        self.setVisible(bool(self._options))
        if not self._options:
            return
        name = thinking_name(self.option)
        words = translate("ThinkingButton", "Thinking: {name}").format(name=name)
        self.setText(words)  # "On" alone would be unclear, above all without a mode beside it
        self.setAccessibleName(words)
        line = thinking_line(self.option)
        self.setAccessibleDescription(line)
        self.setToolTip(tooltip(translate("ThinkingButton", "Thinking: {name}. {line}.").format(name=name, line=line)))
        self.fill()

    def fill(self) -> None:
        if self._popup is None:
            return
        rows = [
            Choice(
                option.name,
                thinking_name(option.name),
                (thinking_line(option.name),),
                side=translate("ThinkingButton", "usual") if option is self._options[0] else "",
                icon="check" if option.name == self.option else "",
                tone="accent",
                spoken=translate("ThinkingButton", "in use") if option.name == self.option else "",
            )
            for option in self._options
        ]
        self._popup.list.set_rows(rows, self.option)
        self._popup.fit_rows()


class Composer(QWidget):
    submitted = Signal(str)  # a message was sent; the text box is empty again

    stop_requested = Signal()  # stop the answer
    mode_chosen = Signal(object)  # the mode of the next message
    text_changed = Signal(str)
    # paths, or a pasted text, to attach
    files_offered = Signal(list)
    text_offered = Signal(str)
    # an attachment's id
    attachment_removed = Signal(int)
    attachment_opened = Signal(int)
    find_draft = Signal()  # find a draft for the target, which has none
    # server and tool to switch on or off; an empty tool means the whole server, two empty strings all tools
    tool_picked = Signal(str, str)
    # the tools menu is about to open; open the settings of the servers
    tools_opening = Signal()
    tools_managed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._engine_busy = False
        self._streaming = False
        self._ready = False
        self._not_ready = ""
        self._context = (0, 0)
        self._sum: ContextSum | None = None  # the shown sum
        self._attached = 0  # estimated tokens of the attachments
        self._policy = ""
        self._reading = False
        self.edit = MessageEdit(theme)
        self.tray = AttachmentTray(theme, self.edit)
        self.attach_button = IconButton(theme, "paperclip", tr("Attach files"), self.ask_files)
        self.modes = ModeButton(theme)
        self.thinking = ThinkingButton(theme)
        self.destination = label("", "warning", wrap=True)
        self.destination.hide()
        self.reason = ElidedLabel()
        self.find_draft_button = button(tr("Find a draft"), self.find_draft.emit, kind="link")
        self.context_label = label("", "caption")
        self.fit_label = label("", "warning", wrap=True)
        self.send_button = button("", self.submit, kind="primary", name=tr("Send"), tip=tr("Send the message (Enter)"))
        self.stop_button = button("", self._stop, name=tr("Stop"), tip=tr("Stop the answer"))
        self._set_button_texts(worded=True)
        self._make_controls()
        self._arrange()
        self._connect()
        theme.changed.connect(self._recolor)
        self._recolor()
        self.set_engine(EngineView())

    def _make_controls(self) -> None:
        self._lacks_draft = self._wants_draft = False
        self.reason.setProperty("kind", "caption")
        self.find_draft_button.hide()
        self._theme.set_font(self.context_label, -1)
        self.fit_label.hide()
        self.tools_button = IconButton(self._theme, "puzzle", tr("Tools"), self.open_tools)
        self.tools_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the caret in the message
        self.tools_popup: ChoicePopup | None = None
        self._tools = ToolMenu()
        self.attach_button.setToolTip(tr("Attach text, code, tables, PDF files or pictures"))
        for each in (self.send_button, self.stop_button):
            each.setIconSize(QSize(14, 14))
            each.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self.stop_button.hide()

    def _arrange(self) -> None:
        row = hbox(
            self.attach_button,
            self.modes,
            self.thinking,
            self.tools_button,
            Stretch(),
            self.stop_button,
            self.send_button,
            spacing=8,
        )
        self.card = QFrame()
        self.card.setObjectName("composerCard")
        vbox(self.tray, self.edit, row, parent=self.card, margins=(12, 10, 8, 8), spacing=8)
        self.destination.setContentsMargins(12, 0, 12, 0)
        captions = hbox(
            self.find_draft_button, (self.reason, 1), self.context_label, margins=(12, 0, 12, 0), spacing=16
        )
        self.fit_label.setContentsMargins(12, 0, 12, 0)
        vbox(self.destination, self.card, captions, self.fit_label, parent=self, margins=0, spacing=6)
        self.setFocusProxy(self.edit)

    def _connect(self) -> None:
        self.edit.send.connect(self.submit)
        self.edit.textChanged.connect(self._on_text)
        self.edit.focus_changed.connect(self._show_focus)
        self.edit.files_pasted.connect(self.files_offered)
        self.tray.text_offered.connect(self.text_offered)
        self.tray.removed.connect(self.attachment_removed)
        self.tray.opened.connect(self.attachment_opened)
        self.modes.chosen.connect(self._on_mode)

    @property
    def text(self) -> str:
        return self.edit.exact_text()

    def set_text(self, text: str) -> None:
        self.edit.setPlainText(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)

    def set_engine(self, view: EngineView) -> None:
        self._not_ready = tr(NOT_READY_REASONS[view.state]) if view.state in NOT_READY_REASONS else ""
        self._ready = view.state in (EngineState.READY, EngineState.READING, EngineState.ANSWERING)
        self._engine_busy = view.state in (EngineState.READING, EngineState.ANSWERING)
        self.modes.set_unavailable(view.unavailable, view.modes)
        self.thinking.set_options(view.target.thinking if view.target else ())
        self._lacks_draft, self._wants_draft = view.lacks_draft, view.wants_draft
        # For a remote model show where the message is sent; its server chooses the mode.
        url = view.target.engine_url if view.target is not None else ""
        self.modes.setVisible(not url)
        self.destination.setVisible(bool(url))
        if url:
            words = LOCAL_PLACEHOLDER if is_local_url(url) else REMOTE_PLACEHOLDER
            self.destination.setText(tr(words).format(host=host_in(url)))
        self._update()

    def show_tools(self, menu: ToolMenu) -> None:
        """Show this chat's tools; the button shows whether they are on, and their tokens."""
        self._tools = menu
        words = tools_words(menu)
        if menu.is_on and menu.refusal:
            words = tr("Tools are on, but this model cannot use them: {reason}.").format(reason=menu.refusal)
        costs_much = menu.tokens > MAX_TOOLS_SHARE * menu.context_size
        warns = menu.is_on and bool(menu.refusal or (menu.context_size and costs_much))
        self.tools_button.set_marked(menu.is_on, "caution" if warns else "accent_text")
        self.tools_button.setToolTip(tooltip(words))
        self.tools_button.setAccessibleName(words)
        if self.tools_popup is not None and menu.tools:
            self.tools_popup.list.set_rows(tool_rows(menu))
            self.tools_popup.fit_rows()
            if self.tools_are_open:
                self.tools_popup.open_from(self.tools_button, above=True)  # opens upwards, so its lower edge stays

    @property
    def tools_are_open(self) -> bool:
        return self.tools_popup is not None and self.tools_popup.isVisible()

    def open_tools(self) -> None:
        if self.tools_popup is None:
            popup = self.tools_popup = ChoicePopup(self._theme, tr("Tools of this chat"), self)
            popup.stays_open = True
            popup.picked.connect(self._pick_tool)
        self.tools_popup.setFixedWidth(round(TOOLS_PX * self._theme.type.growth))
        self.tools_opening.emit()
        self.tools_popup.open_from(self.tools_button, above=True)
        self.tools_popup.list.setFocus(Qt.FocusReason.PopupFocusReason)

    def _pick_tool(self, key: str) -> None:
        if key == MANAGE_KEY and self.tools_popup is not None:
            self.tools_popup.close()
            self.tools_managed.emit()
            return
        server, _, name = key.partition("\n")
        self.tool_picked.emit(server, name)

    def set_streaming(self, streaming: bool) -> None:
        self._streaming = streaming
        self._update()

    @property
    def is_busy(self) -> bool:
        return self._engine_busy or self._streaming

    def set_mode(self, mode: Mode) -> None:
        self.modes.set_mode(mode)
        self._update()

    @property
    def context_used(self) -> int:
        return self._context[0]

    def set_context(self, used: int, size: int) -> None:
        self._context = (used, size)
        if self._context_sum() != self._sum:
            self._show_context()

    def set_overflow(self, policy: str) -> None:
        self._policy = policy
        self._show_context()

    def show_attachments(self, attachments: Sequence[Attachment], notes: Sequence[str], *, reading: bool) -> None:
        """Show the attachments; ``reading``: some are still being read, which disables Send."""
        self._reading = reading
        self._attached = sum(one.num_tokens or 0 for one in attachments)
        self.tray.show_attachments(attachments, notes)
        self._show_context()
        self._update()

    def _context_sum(self) -> ContextSum | None:
        """The tokens of the next prompt; None if there is nothing to send, or no model."""
        (used, size), text = self._context, self.text
        if not size or not (text.strip() or self._attached):
            return None
        return ContextSum(used, self._attached, estimated_tokens(text) + TEMPLATE_TOKENS_PER_MESSAGE, size)

    def _show_context(self) -> None:
        """Show the size of the next prompt, and what will happen if it is too large."""
        context_sum = self._sum = self._context_sum()
        label, kind = self.context_label, "caption" if context_sum is None or context_sum.fits else "warning"
        label.setText(sum_words(context_sum) if context_sum is not None else "")
        if label.property("kind") != kind:
            set_style_property(label, "kind", kind)
        warned = warning(context_sum, self._policy) if context_sum is not None else ""
        self.fit_label.setText(warned)
        self.fit_label.setVisible(bool(warned))

    def submit(self) -> None:
        text = self.text.strip("\n")
        if not self._can_send or self.is_busy:
            return
        self.edit.clear()
        self.submitted.emit(text)

    def ask_files(self) -> None:
        ask_attachment_files(self.window(), self.files_offered.emit)

    @property
    def _can_send(self) -> bool:
        return self._ready and not self._reading and bool(self.text.strip() or self.tray.rows.chips)

    def _stop(self) -> None:
        if self.is_busy:
            self.stop_requested.emit()

    def _on_mode(self, mode: Mode) -> None:
        self._update()
        self.mode_chosen.emit(mode)

    def _on_text(self) -> None:
        self._update()
        if self._context_sum() != self._sum:
            self._show_context()
        self.text_changed.emit(self.text)

    def _update(self) -> None:
        had_focus = self.stop_button.hasFocus() or self.send_button.hasFocus()
        self.stop_button.setVisible(self.is_busy)
        self.send_button.setVisible(not self.is_busy)
        self.send_button.setEnabled(self._can_send)
        lacks_draft = self._ready and not self._reading and self._lacks_draft
        offers_draft = lacks_draft and self._wants_draft
        self.find_draft_button.setVisible(offers_draft)
        self.find_draft_button.setToolTip(tooltip(self.modes.reason))
        self.find_draft_button.setAccessibleDescription(self.modes.reason)
        self.reason.setText("" if lacks_draft else self._disabled_reason())
        self.reason.setToolTip(tooltip(self.reason.text()))
        if had_focus and not (self.stop_button.hasFocus() or self.send_button.hasFocus()):
            self.edit.setFocus()

    def _disabled_reason(self) -> str:
        """Why no message can be sent or no mode chosen now; empty if possible."""
        if not self._ready:
            return self._not_ready
        if self._reading:
            return tr("A file is still being read. You can send your message in a moment.")
        return self.modes.reason

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow composer the arrow replaces "Send"."""
        super().resizeEvent(event)
        self._set_button_texts(worded=True)
        end = max(self.send_button.sizeHint().width(), self.stop_button.sizeHint().width())
        icons = self.attach_button.sizeHint().width() + self.tools_button.sizeHint().width()
        taken = icons + self.modes.sizeHint().width() + end + CONTROL_SPACE_PX
        if not self.thinking.isHidden():
            taken += self.thinking.sizeHint().width()
        self._set_button_texts(worded=event.size().width() >= taken)

    def _set_button_texts(self, *, worded: bool) -> None:
        """Show or hide the buttons' text; icon, tool tip and accessible name stay."""
        self.send_button.setText(tr(" Send") if worded else "")
        self.stop_button.setText(tr(" Stop") if worded else "")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press between the controls focuses the text."""
        if self.card.geometry().contains(event.position().toPoint()):
            self.edit.setFocus(Qt.FocusReason.MouseFocusReason)
        super().mousePressEvent(event)

    def _show_focus(self, focused: bool) -> None:
        set_style_property(self.card, "focusWithin", "true" if focused else "false")

    def _recolor(self) -> None:
        tokens = self._theme.tokens
        self.reason.setMinimumHeight(ceil(self._theme.text_height(-1)))  # the line below the card keeps its space
        self.send_button.setIcon(self._theme.icon("arrow-up", tokens.on_accent, 14))
        self.stop_button.setIcon(self._theme.icon("square", tokens.text, 14))
