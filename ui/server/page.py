"""The page of the local server: switch it on, copy its address, see its models and requests."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import (
    QLineEdit,
    QWidget,
)

from app.core.domain.local_server import (
    LOOPBACK,
    Activity,
    ServerSetup,
    ServerState,
    ServerView,
    base_url,
)
from app.core.domain.model_name import printable
from app.core.domain.settings.fields import SettingField, SettingValue
from app.core.domain.settings.table import SERVER
from engine.records import ModelInfo
from ui.models.parts import StatusMark
from ui.settings.rows import make_row
from ui.text.formatting import count, speed
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.widgets.building import (
    ElidedLabel,
    Stretch,
    button,
    grid,
    hbox,
    label,
    page_bar,
    page_column,
    scroll_area,
    separator,
    show_text,
    vbox,
)
from ui.widgets.dialogs import press_button
from ui.widgets.icon_button import IconButton

tr = Translator("ServerPage")

COLUMN_PX = 1080
SWITCHES = ("server", "server_loads")
STATE_TONES = {
    ServerState.OFF: ("circle-x", "muted"),
    ServerState.STARTING: ("refresh-cw", "muted"),
    ServerState.ON: ("circle-check", "good"),
    ServerState.FAILED: ("triangle-alert", "bad"),
}


class ServerAccess(QWidget):
    renewal_requested = Signal()  # create another key

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.url = self._field(translate("ServerAccess", "Base URL"))
        self.model = self._field(translate("ServerAccess", "Model"))
        self.key = self._field(translate("ServerAccess", "Key"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.complaint = label("", "error", wrap=True)
        self.hint = label(
            translate("ServerAccess", "Programs on this computer do not need the key."), "caption", wrap=True
        )
        self.hint.hide()
        self.show_button = IconButton(self._theme, "eye", translate("ServerAccess", "Show the key"))
        self.show_button.setCheckable(True)
        self.show_button.toggled.connect(self._show_key)
        self.renew_button = IconButton(
            self._theme,
            "refresh-cw",
            translate("ServerAccess", "Make another key; programs with the old one are disconnected"),
            self.renewal_requested.emit,
        )
        self._arrange()

    def _arrange(self) -> None:
        heading = label(translate("ServerAccess", "Use it from other programs"), "strong", wrap=True)
        words = translate(
            "ServerAccess",
            "In the program, choose an “OpenAI-compatible” provider and enter these.",
        )
        fields = grid(gaps=(8, 8))
        fields.setColumnStretch(1, 1)
        rows = ((self.url, ()), (self.model, ()), (self.key, (self.show_button, self.renew_button)))
        for place, (field, others) in enumerate(rows):
            name = label(field.accessibleName())
            name.setBuddy(field)
            buttons = hbox(self._copy_button(field), *others, Stretch(), spacing=2)
            fields.addWidget(name, place, 0)
            fields.addWidget(field, place, 1)
            fields.addLayout(buttons, place, 2)
        vbox(
            heading,
            label(words, "caption", wrap=True),
            fields,
            self.hint,
            self.complaint,
            parent=self,
            margins=0,
            spacing=8,
        )

    def set_target(self, target: ModelInfo | None) -> None:
        _show(self.model, printable(Path(target.path).stem) if target else "")

    def set_address(self, host: str, port: int, *, needs_key: bool = True) -> None:
        _show(self.url, base_url(host, port))
        self.hint.setVisible(not needs_key)

    def set_key(self, key: str, problem: str) -> None:
        """Show the key. An empty ``key`` shows ``problem``, the reason why there is none."""
        show_text(self.complaint, problem)
        _show(self.key, key)

    def _show_key(self, shown: bool) -> None:
        self.key.setEchoMode(QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password)
        self.show_button.set_icon_name("eye-off" if shown else "eye")
        name = translate("ServerAccess", "Hide the key") if shown else translate("ServerAccess", "Show the key")
        self.show_button.setAccessibleName(name)
        self.show_button.setToolTip(name)

    def _field(self, name: str) -> QLineEdit:
        field = QLineEdit()
        field.setReadOnly(True)
        field.setAccessibleName(name)
        return field

    def _copy_button(self, field: QLineEdit) -> IconButton:
        name = translate("ServerAccess", "Copy: {what}").format(what=field.accessibleName())
        pressed = IconButton(self._theme, "copy", name)

        def copy() -> None:
            QGuiApplication.clipboard().setText(field.text())
            pressed.confirm(translate("ServerAccess", "Copied"))

        pressed.clicked.connect(copy)
        return pressed


def _show(field: QLineEdit, text: str) -> None:
    field.setText(text)
    field.setCursorPosition(0)  # show the start of a long value


def queue_words(activity: Activity) -> str:
    """The number of running and waiting requests, and the total speed of the running ones."""
    fields = {"running": count(activity.num_running), "waiting": count(activity.num_waiting)}
    if not activity.tokens_per_second:
        return tr("{running} running, {waiting} waiting").format(**fields)
    words = tr("{running} running, {waiting} waiting, {speed} in all")
    return words.format(speed=speed(activity.tokens_per_second), **fields)


class ServerPage(QWidget):
    changed = Signal(dict)  # a setting was changed
    # open the server settings; return to the chat
    settings_requested = Signal()
    back = Signal()
    renewal_requested = Signal()  # create another key
    # stop the answer for another program; restart the failed server
    stop_requested = Signal()
    retry_requested = Signal()

    def __init__(self, theme: Theme, fields: Sequence[SettingField]) -> None:
        super().__init__()
        self._theme = theme
        self._guest = ""
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.back_button = IconButton(theme, "arrow-left", tr("Back to the chat (Esc)"), self.back.emit)
        self.settings_button = button(tr("Settings…"), self.settings_requested.emit)
        self.stop_button = button(tr("Stop the answer"), self.stop_requested.emit)
        self.retry_button = button(tr("Try again"), self.retry_requested.emit)
        self.state = StatusMark(theme, wrap=True)
        by_key = {field.key: field for field in fields if field.section == SERVER}
        self.switches = {key: make_row(by_key[key]) for key in SWITCHES}
        self.access = ServerAccess(theme)
        self.own_model = ElidedLabel()
        self.guest = label(kind="caption", wrap=True)
        self.queue = label(kind="muted")
        self.requests = QWidget()
        self._arrange()
        self.access.renewal_requested.connect(self.renewal_requested)
        for key, row in self.switches.items():
            row.changed.connect(lambda key=key, row=row: self.changed.emit({key: row.value()}))
        self.set_view(ServerView(), "")

    def _arrange(self) -> None:
        title = label(tr("Local server"), "strong")
        vbox(
            page_bar(self.back_button, title, self.settings_button, wide=title),
            (scroll_area(self._content(), tr("Local server")), 1),
            parent=self,
            margins=0,
            spacing=0,
        )

    def _content(self) -> QWidget:
        state = hbox((self.state, 1), (self.retry_button, 0, Qt.AlignmentFlag.AlignTop), spacing=8)
        head = label(tr("Requests"), "strong")
        hbox(head, (self.queue, 1), self.stop_button, parent=self.requests, margins=0, spacing=8)
        title = label(tr("Models"), "strong")
        models = vbox(title, self.own_model, self.switches["server_loads"], self.guest, spacing=8)
        parts = (self.switches["server"], state, self.requests, separator(), models, separator(), self.access)
        return page_column(*parts, width_px=COLUMN_PX, spacing=16)

    def set_values(self, values: Mapping[str, SettingValue]) -> None:
        for key, row in self.switches.items():
            row.blockSignals(True)
            row.set_value(values.get(key, row.field.default))
            row.blockSignals(False)
        host, port = str(values.get("server_host", LOOPBACK)), int(values.get("server_port") or 0)
        setup = ServerSetup(host, port, wants_key=bool(values.get("server_key", True)))
        self.access.set_address(host, port, needs_key=setup.needs_key)
        self._show_models()

    def set_view(self, view: ServerView, words: str) -> None:
        icon, tone = STATE_TONES[view.state]
        self.state.show_mark(icon, words, tone)
        self.retry_button.setVisible(view.state is ServerState.FAILED)
        self.stop_button.setVisible(bool(view.activity.num_running))
        several = view.activity.num_running > 1
        self.stop_button.setText(tr("Stop the answers") if several else tr("Stop the answer"))
        self.queue.setText(queue_words(view.activity))
        self.requests.setVisible(view.state is ServerState.ON)
        self._guest = view.guest
        self._show_models()

    def set_target(self, target: ModelInfo | None) -> None:
        self.access.set_target(target)
        self._show_models()

    def _show_models(self) -> None:
        name = self.access.model.text()
        text = (
            tr("{name}, the model of your chats").format(name=name)
            if name
            else tr("No model is loaded. Programs are told to try again.")
        )
        self.own_model.setText(text)
        self.guest.setText(tr("In memory now, for a program: {name}.").format(name=self._guest))
        self.guest.setVisible(bool(self._guest))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_button(event):
            super().keyPressEvent(event)
