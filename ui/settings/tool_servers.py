"""The servers of tools in the settings: switch, state, what they offer, their log, and how others are added."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.core.domain.tools.servers import ToolServerView
from ui.settings.import_dialog import ImportDialog
from ui.settings.tool_server_requests import ToolServerRequests
from ui.text.formatting import count, hover, on_button
from ui.text.language import mark, translate
from ui.theme.theme import Theme
from ui.widgets.dialogs import ConfirmDialog, link_dialog
from ui.widgets.icon_button import IconButton
from ui.widgets.popups import Menu

REFRESH_MS = 1_000
DETAILS_PX = 140
NAME_CHARS = 32  # beside the state and the buttons; the page is no wider than its dialog

_STATES = {
    "off": mark("ToolServers", "Off"),
    "starting": mark("ToolServers", "Starting"),
    "ready": mark("ToolServers", "Ready"),
    "failed": mark("ToolServers", "Failed"),
}
_SIGN_IN = {
    "wanted": mark("ToolServers", "Sign in…"),
    "under way": mark("ToolServers", "Stop signing in"),
    "done": mark("ToolServers", "Sign out"),
}


class ToolServers(QWidget):
    """The list, refreshed every second while it is seen."""

    def __init__(self, theme: Theme, requests: ToolServerRequests) -> None:
        super().__init__()
        self._theme, self._requests = theme, requests
        self._shown: tuple[ToolServerView, ...] | None = None
        self.rows: dict[str, ToolServerRow] = {}
        self.preview: ImportDialog | None = None
        self.question: ConfirmDialog | None = None
        title = QLabel(translate("ToolServers", "Servers (MCP)"))
        title.setProperty("kind", "strong")
        self.empty = QLabel(
            translate(
                "ToolServers", "No server yet. Add a program or an address below, or import those of another app."
            )
        )
        self.empty.setProperty("kind", "caption")
        self.empty.setWordWrap(True)
        self.line = QLineEdit()
        self.line.setPlaceholderText(translate("ToolServers", "Command or URL, such as uvx mcp-server-time"))
        self.line.setAccessibleName(translate("ToolServers", "Command or URL of a server"))
        self.add_button = QPushButton(translate("ToolServers", "Add"))
        self.add_button.setAccessibleName(translate("ToolServers", "Add a tool server"))
        self.add_button.setAutoDefault(False)
        self.add_button.clicked.connect(self._add)
        self.import_button = QPushButton(translate("ToolServers", "Import…"))
        self.import_button.setAccessibleName(self.import_button.text())
        self.import_button.setAutoDefault(False)
        self.import_button.clicked.connect(self._import)
        self.import_menu = Menu(self.import_button)
        self.problem = QLabel()
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.problem.setWordWrap(True)
        self.problem.setProperty("kind", "error")
        self.problem.hide()
        self._list = QVBoxLayout()
        self._list.setSpacing(12)
        bottom = QHBoxLayout()
        bottom.addWidget(self.line, 1)
        bottom.addWidget(self.add_button)
        bottom.addWidget(self.import_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(title)
        layout.addWidget(self.empty)
        layout.addLayout(self._list)
        layout.addLayout(bottom)
        layout.addWidget(self.problem)
        requests.sign_in_page.connect(self._ask_to_open)
        self._timer = QTimer(self, interval=REFRESH_MS)
        self._timer.timeout.connect(self.refresh)
        self._timer.start()
        self.refresh()

    def refresh(self) -> None:
        """Show the servers as they are now."""
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
        """Ask whether the browser is to open where one signs in."""
        words = translate("ToolServers", "“{name}” has you sign in here. Your browser will open it.").format(name=name)
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

    def _import(self) -> None:
        """Offer the files of other programs that are here, and any other."""
        places = self._requests.places()
        if not places:
            self._ask_file()
            return
        self.import_menu.clear()
        for source, path in places:
            action = self.import_menu.addAction(on_button(source))
            action.triggered.connect(lambda _checked=False, path=path: self._preview(path))
        self.import_menu.addSeparator()
        self.import_menu.addAction(translate("ToolServers", "Choose a file…"), self._ask_file)
        self.import_menu.popup(self.import_button.mapToGlobal(self.import_button.rect().bottomLeft()))

    def _ask_file(self) -> None:
        dialog = QFileDialog(self, translate("ToolServers", "Import the servers of another app"))
        dialog.setNameFilter("JSON (*.json)")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._preview)
        dialog.open()

    def _preview(self, path: str) -> None:
        view = self._requests.preview(path)
        self.problem.setText(view.problem)
        self.problem.setVisible(bool(view.problem))
        if view.problem:
            return
        self.preview = ImportDialog(self, view)
        self.preview.chosen.connect(lambda names: self._requests.import_requested.emit(path, names))
        self.preview.chosen.connect(lambda _names: self.refresh())
        self.preview.open()


class ToolServerRow(QWidget):
    """One server."""

    def __init__(
        self, theme: Theme, view: ToolServerView, requests: ToolServerRequests, changed: Callable[[], None]
    ) -> None:
        super().__init__()
        self._view = view
        is_long = len(view.name) > NAME_CHARS
        self.switch = QCheckBox(on_button(f"{view.name[: NAME_CHARS - 1]}…" if is_long else view.name))
        self.switch.setToolTip(hover(view.name) if is_long else "")
        self.switch.setAccessibleName(view.name)
        self.switch.clicked.connect(lambda on: requests.switched.emit(view.name, on))
        self.switch.clicked.connect(changed)
        self.state, self.place, self.problem = QLabel(), QLabel(), QLabel()
        for label, kind in ((self.state, "caption"), (self.place, "caption"), (self.problem, "error")):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(label is not self.state)
            label.setProperty("kind", kind)
        words = translate("ToolServers", "Restart {name}").format(name=view.name)
        self.restart = IconButton(theme, "refresh-cw", words)
        self.restart.clicked.connect(lambda: requests.restart_requested.emit(view.name))
        self.restart.clicked.connect(changed)
        remove = translate("ToolServers", "Remove {name}").format(name=view.name)
        self.remove = IconButton(theme, "trash-2", remove)
        self.remove.clicked.connect(lambda: requests.remove_requested.emit(view.name))
        self.remove.clicked.connect(changed)
        self.sign = QPushButton()
        self.sign.setAutoDefault(False)
        self.sign.setProperty("kind", "link")
        self.sign.clicked.connect(lambda: self._ask_to_sign(requests))
        self.sign.clicked.connect(changed)
        self.more = QPushButton(translate("ToolServers", "Tools and log"))
        self.more.setAutoDefault(False)
        self.more.setCheckable(True)
        self.more.setProperty("kind", "link")
        self.more.setAccessibleName(translate("ToolServers", "Tools and log of {name}").format(name=view.name))
        self.details: QPlainTextEdit | None = None
        self.more.toggled.connect(self._open)
        top = QHBoxLayout()
        for widget in (self.switch, self.state):
            top.addWidget(widget)
        top.addStretch(1)
        for button in (self.sign, self.more, self.restart, self.remove):
            top.addWidget(button)
        self._column = layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.place)
        layout.addWidget(self.problem)
        self.show_server(view)

    def show_server(self, view: ToolServerView) -> None:
        """Follow its state."""
        self._view = view
        self.switch.setChecked(view.is_on)
        words = translate("ToolServers", _STATES.get(view.state, "Off"))
        if view.state == "ready":
            words += " · " + translate("ToolServers", "tools: {count}").format(count=count(len(view.tools)))
        self.state.setText(words)
        self.place.setText(view.place)
        self.problem.setText(view.problem)
        self.problem.setVisible(bool(view.problem))
        self.restart.setEnabled(view.is_on)
        self.sign.setVisible(view.sign_in in _SIGN_IN)
        if view.sign_in in _SIGN_IN:
            self.sign.setText(translate("ToolServers", _SIGN_IN[view.sign_in]))
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
        nothing = translate("ToolServers", "(nothing)")
        tools, log = "\n".join(self._view.tools) or nothing, "\n".join(self._view.log) or nothing
        heads = translate("ToolServers", "Tools"), translate("ToolServers", "Log")
        return f"{heads[0]}\n{tools}\n\n{heads[1]}\n{log}"

    def _open(self, is_open: bool) -> None:
        if is_open and self.details is None:
            self.details = QPlainTextEdit(self._words())
            self.details.setReadOnly(True)
            self.details.setProperty("kind", "field")
            self.details.setFixedHeight(DETAILS_PX)
            self.details.setTabChangesFocus(True)
            self.details.setAccessibleName(self.more.accessibleName())
            self._column.addWidget(self.details)
        if self.details is not None:
            self.details.setVisible(is_open)
