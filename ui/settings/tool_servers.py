"""The tool servers in the settings: switch, state, tools, log, and adding servers."""

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QCheckBox, QPlainTextEdit, QWidget

from app.core.domain.tools.servers import Phase, ToolServer
from ui.settings.tool_server_requests import ToolServerRequests
from ui.text.formatting import escape_mnemonics, tooltip
from ui.text.language import Translator
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, hbox, label, line_edit, read_only_text, show_text, vbox
from ui.widgets.dialogs import ConfirmDialog, link_dialog
from ui.widgets.icon_button import IconButton

tr = Translator("ToolServers")

REFRESH_MS = 1_000
DETAILS_PX = 140
NAME_CHARS = 32  # a longer name would make the page wider than its dialog

_STATES = {
    Phase.OFF: tr.mark("Off"),
    Phase.STARTING: tr.mark("Starting"),
    Phase.READY: tr.mark("Ready"),
    Phase.FAILED: tr.mark("Failed"),
}
_SIGN_IN = {
    "wanted": tr.mark("Sign in…"),
    "under way": tr.mark("Stop signing in"),
    "done": tr.mark("Sign out"),
}


class ToolServers(QWidget):
    def __init__(self, theme: Theme, requests: ToolServerRequests) -> None:
        super().__init__()
        self._theme, self._requests = theme, requests
        self._shown: tuple[ToolServer, ...] | None = None
        self.rows: dict[str, ToolServerRow] = {}
        self.question: ConfirmDialog | None = None
        title = label(tr("Servers (MCP)"), "strong")
        self.empty = label(
            tr("No server yet. Add a program or an address below, or paste the mcp.json of another app."),
            "caption",
            wrap=True,
        )
        self.line = line_edit(
            tr("Command, URL or mcp.json of a server"), tr("Command or URL, such as uvx mcp-server-time")
        )
        self.add_button = button(tr("Add"), self._add, name=tr("Add a tool server"))
        self._list = vbox(spacing=12)
        bottom = hbox((self.line, 1), self.add_button)
        vbox(title, self.empty, self._list, bottom, parent=self, margins=(0, 8, 0, 0), spacing=8)
        requests.sign_in_page.connect(self._ask_to_open)
        self._timer = QTimer(self, interval=REFRESH_MS)
        self._timer.timeout.connect(self.refresh)
        self._timer.start()
        self.refresh()

    def refresh(self) -> None:
        views = tuple(self._requests.read())
        if views == self._shown:
            return
        self._shown = views
        if [view.name for view in views] != list(self.rows):
            for row in self.rows.values():
                self._list.removeWidget(row)
                row.deleteLater()
            self.rows = {view.name: ToolServerRow(self._theme, view, self._requests, self.refresh) for view in views}
            for row in self.rows.values():
                self._list.addWidget(row)
        for view in views:
            self.rows[view.name].show_server(view)
        self.empty.setVisible(not views)

    def _ask_to_open(self, name: str, address: str) -> None:
        """Ask before opening the sign-in page in the browser."""
        words = tr("Sign in to “{name}” on this page. Your browser will open it.").format(name=name)
        self.question = link_dialog(self, address, words)
        if self.question is None:
            self._requests.sign_in_stopped.emit(name)
            return
        self.question.rejected.connect(lambda: self._requests.sign_in_stopped.emit(name))
        self.question.open()

    def _add(self) -> None:
        if self.line.text().strip():
            self._requests.add_requested.emit(self.line.text().strip())
            self.line.clear()
            self.refresh()


class ToolServerRow(QWidget):
    def __init__(
        self, theme: Theme, view: ToolServer, requests: ToolServerRequests, changed: Callable[[], None]
    ) -> None:
        super().__init__()
        self._view = view
        is_long = len(view.name) > NAME_CHARS
        self.switch = QCheckBox(escape_mnemonics(f"{view.name[: NAME_CHARS - 1]}…" if is_long else view.name))
        self.switch.setToolTip(tooltip(view.name) if is_long else "")
        self.switch.setAccessibleName(view.name)
        self.switch.clicked.connect(lambda on: requests.switched.emit(view.name, on))
        self.state, self.place = label("", "caption"), label("", "caption", wrap=True)
        self.problem = label("", "error", wrap=True)
        words = tr("Restart {name}").format(name=view.name)
        self.restart = IconButton(theme, "refresh-cw", words, lambda: requests.restart_requested.emit(view.name))
        remove = tr("Remove {name}").format(name=view.name)
        self.remove = IconButton(theme, "trash-2", remove, lambda: requests.remove_requested.emit(view.name))
        self.sign = button("", lambda: self._ask_to_sign(requests), kind="link")
        for each in (self.switch, self.restart, self.remove, self.sign):
            each.clicked.connect(changed)
        self.more = button(tr("Tools and log"), kind="link", name=tr("Tools and log of {name}").format(name=view.name))
        self.more.setCheckable(True)
        self.details: QPlainTextEdit | None = None
        self.more.toggled.connect(self._open)
        top = hbox(self.switch, self.state, Stretch(), self.sign, self.more, self.restart, self.remove)
        self._column = vbox(top, self.place, self.problem, parent=self, margins=0, spacing=4)
        self.show_server(view)

    def show_server(self, view: ToolServer) -> None:
        self._view = view
        self.switch.setChecked(view.is_on)
        words = tr(_STATES[view.phase])
        if view.phase is Phase.READY:
            words += " · " + tr("%n tools", None, len(view.tools))
        self.state.setText(words)
        self.place.setText(view.place)
        show_text(self.problem, view.problem)
        self.restart.setEnabled(view.is_on)
        self.sign.setVisible(view.sign_in in _SIGN_IN)
        if view.sign_in in _SIGN_IN:
            self.sign.setText(tr(_SIGN_IN[view.sign_in]))
            self.sign.setAccessibleName(f"{self.sign.text()}: {view.name}")
        if self.details is not None:
            self.details.setPlainText(self._words())

    def _ask_to_sign(self, requests: ToolServerRequests) -> None:
        asked = {
            "wanted": requests.sign_in_requested,
            "under way": requests.sign_in_stopped,
            "done": requests.sign_out_requested,
        }
        if self._view.sign_in in asked:
            asked[self._view.sign_in].emit(self._view.name)

    def _words(self) -> str:
        nothing = tr("(nothing)")
        tools, log = "\n".join(self._view.tools) or nothing, "\n".join(self._view.log) or nothing
        heads = tr("Tools"), tr("Log")
        return f"{heads[0]}\n{tools}\n\n{heads[1]}\n{log}"

    def _open(self, is_open: bool) -> None:
        if is_open and self.details is None:
            self.details = read_only_text(self._words(), self.more.accessibleName(), DETAILS_PX)
            self._column.addWidget(self.details)
        if self.details is not None:
            self.details.setVisible(is_open)
