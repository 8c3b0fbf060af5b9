"""The tool servers in the settings: switch, state, tools, log, and adding servers."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QPlainTextEdit, QWidget

from app.core.domain.tools.servers import ImportView, ToolServerView
from ui.settings.tool_server_requests import ToolServerRequests
from ui.text.formatting import escape_mnemonics, tooltip
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, hbox, label, line_edit, read_only_text, scroll_area, show_text, vbox
from ui.widgets.dialogs import ConfirmDialog, link_dialog
from ui.widgets.icon_button import IconButton
from ui.widgets.popups import Menu

tr = Translator("ToolServers")

REFRESH_MS = 1_000
DETAILS_PX = 140
NAME_CHARS = 32  # a longer name would make the page wider than its dialog

_STATES = {
    "off": tr.mark("Off"),
    "starting": tr.mark("Starting"),
    "ready": tr.mark("Ready"),
    "failed": tr.mark("Failed"),
}
_SIGN_IN = {
    "wanted": tr.mark("Sign in…"),
    "under way": tr.mark("Stop signing in"),
    "done": tr.mark("Sign out"),
}
LIST_PX = 240  # maximum height


class ImportDialog(ConfirmDialog):
    """Shows the servers of a file, each with its command or address; usable ones are checked."""

    chosen = Signal(object)  # names of the servers to add

    def __init__(self, parent: QWidget, view: ImportView) -> None:
        text = translate("ImportDialog", "Added servers are off. Each starts only when you switch it on.")
        super().__init__(
            parent,
            translate("ImportDialog", "Import servers from {source}").format(source=view.source),
            text if view.servers else translate("ImportDialog", "All of its servers already exist."),
            translate("ImportDialog", "Add"),
        )
        self.boxes: dict[str, QCheckBox] = {}
        rows = QWidget()
        column = vbox(parent=rows, margins=(0, 0, 8, 0), spacing=10)
        for server in view.servers:
            self.boxes[server.name] = box = QCheckBox(escape_mnemonics(server.name))
            box.setChecked(not server.problem)
            box.setAccessibleDescription(server.place)
            box.toggled.connect(self._update)
            group = vbox(box, spacing=2)
            for words, kind in ((server.place, "caption"), (server.problem, "error")):
                if words:
                    group.addLayout(hbox(label(words, kind, wrap=True), margins=(24, 0, 0, 0)))
            column.addLayout(group)
        column.addStretch(1)
        if view.servers:
            scroll = scroll_area(rows, self.windowTitle(), sideways=False)
            scroll.setFixedHeight(min(LIST_PX, rows.sizeHint().height() + 8))
            self.column.addWidget(scroll)
        if view.num_known and view.servers:
            known = translate("ImportDialog", "%n more already exist.", None, view.num_known)
            self.column.addWidget(label(known, "caption", wrap=True))
        self.accepted.connect(lambda: self.chosen.emit(self.names))
        self._update()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, box in self.boxes.items() if box.isChecked())

    def _update(self) -> None:
        self.accept_button.setEnabled(bool(self.names))


class ToolServers(QWidget):
    def __init__(self, theme: Theme, requests: ToolServerRequests) -> None:
        super().__init__()
        self._theme, self._requests = theme, requests
        self._shown: tuple[ToolServerView, ...] | None = None
        self.rows: dict[str, ToolServerRow] = {}
        self.preview: ImportDialog | None = None
        self.question: ConfirmDialog | None = None
        title = label(tr("Servers (MCP)"), "strong")
        self.empty = label(
            tr("No server yet. Add a program or an address below, or import those of another app."),
            "caption",
            wrap=True,
        )
        self.line = line_edit(tr("Command or URL of a server"), tr("Command or URL, such as uvx mcp-server-time"))
        self.add_button = button(tr("Add"), self._add, name=tr("Add a tool server"))
        self.import_button = button(tr("Import…"), self._import)
        self.import_menu = Menu(self.import_button)
        self.problem = label("", "error", wrap=True)
        self.problem.hide()
        self._list = vbox(spacing=12)
        bottom = hbox((self.line, 1), self.add_button, self.import_button)
        vbox(title, self.empty, self._list, bottom, self.problem, parent=self, margins=(0, 8, 0, 0), spacing=8)
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

    def _import(self) -> None:
        """Offer existing configuration files of other programs, and a file dialog."""
        places = self._requests.places()
        if not places:
            self._ask_file()
            return
        self.import_menu.clear()
        for source, path in places:
            action = self.import_menu.addAction(escape_mnemonics(source))
            action.triggered.connect(lambda _checked=False, path=path: self._preview(path))
        self.import_menu.addSeparator()
        self.import_menu.addAction(tr("Choose a file…"), self._ask_file)
        self.import_menu.popup(self.import_button.mapToGlobal(self.import_button.rect().bottomLeft()))

    def _ask_file(self) -> None:
        dialog = QFileDialog(self, tr("Import the servers of another app"))
        dialog.setNameFilter("JSON (*.json)")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._preview)
        dialog.open()

    def _preview(self, path: str) -> None:
        view = self._requests.preview(path)
        show_text(self.problem, view.problem)
        if view.problem:
            return
        self.preview = ImportDialog(self, view)
        self.preview.chosen.connect(lambda names: self._requests.import_requested.emit(path, names))
        self.preview.chosen.connect(lambda _names: self.refresh())
        self.preview.open()


class ToolServerRow(QWidget):
    def __init__(
        self, theme: Theme, view: ToolServerView, requests: ToolServerRequests, changed: Callable[[], None]
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

    def show_server(self, view: ToolServerView) -> None:
        self._view = view
        self.switch.setChecked(view.is_on)
        words = tr(_STATES.get(view.state, "Off"))
        if view.state == "ready":
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
