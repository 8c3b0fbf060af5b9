"""The page of the local server: switch it, give programs its address, see which models it has and what it was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from app.core.domain.local_server import LOOPBACK, Activity, LoggedRequest, ServerSetup, ServerState, ServerView
from app.core.domain.settings.fields import SettingField, SettingValue
from app.core.domain.settings.table import SERVER
from engine.records import ModelInfo
from ui.models.parts import StatusMark
from ui.server.access import ServerAccess
from ui.server.request_table import RequestTable
from ui.settings.rows import make_row
from ui.text.formatting import count, speed
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import button, hbox, label, page_bar, page_column, scrolled, vbox
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.enter_key import press_button
from ui.widgets.icon_button import IconButton
from ui.widgets.styling import rule

COLUMN_PX = 1080
SWITCHES = ("server", "server_loads")
TONES = {
    ServerState.OFF: ("circle-x", "muted"),
    ServerState.STARTING: ("refresh-cw", "muted"),
    ServerState.ON: ("circle-check", "good"),
    ServerState.FAILED: ("triangle-alert", "bad"),
}
MOST_NAMES = 12  # of other models, by which a line still says something


def queue_words(activity: Activity) -> str:
    """How many requests run and wait, and how fast those that run are together."""
    fields = {"running": count(activity.num_running), "waiting": count(activity.num_waiting)}
    if not activity.tokens_per_second:
        return translate("ServerPage", "{running} running, {waiting} waiting").format(**fields)
    words = translate("ServerPage", "{running} running, {waiting} waiting, {speed} in all")
    return words.format(speed=speed(activity.tokens_per_second), **fields)


class ServerPage(QWidget):
    """Values in by methods.

    Signals:
        changed(dict): a setting was switched.
        settings_requested, back: the other settings; the chat is wanted.
        renewal_requested: another key is to be made.
        stop_requested, retry_requested: the answer to a program; the server, which failed.
    """

    changed = Signal(dict)
    settings_requested = Signal()
    back = Signal()
    renewal_requested = Signal()
    stop_requested = Signal()
    retry_requested = Signal()

    def __init__(self, theme: Theme, fields: Sequence[SettingField]) -> None:
        super().__init__()
        self._theme = theme
        self._target: ModelInfo | None = None
        self._guest = ""
        self._others: tuple[str, ...] = ()
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.back_button = IconButton(
            theme, "arrow-left", translate("ServerPage", "Back to the chat (Esc)"), self.back.emit
        )
        self.settings_button = button(translate("ServerPage", "Settings…"), self.settings_requested.emit)
        self.stop_button = button(translate("ServerPage", "Stop the answer"), self.stop_requested.emit)
        self.retry_button = button(translate("ServerPage", "Try again"), self.retry_requested.emit)
        self.state = StatusMark(theme, wrap=True)
        by_key = {field.key: field for field in fields if field.section == SERVER}
        self.switches = {key: make_row(by_key[key]) for key in SWITCHES}
        self.access = ServerAccess(theme)
        self.own_model = ElidedLabel()
        self.others = label(kind="caption", wrap=True)
        self.queue = label(kind="muted")
        self.table = RequestTable(theme)
        self.nothing = label(translate("ServerPage", "No program has asked anything yet."), "muted", wrap=True)
        self._arrange()
        self._connect()
        self.set_view(ServerView(), "")
        self.set_requests(())

    def _arrange(self) -> None:
        title = label(translate("ServerPage", "Local server"), "strong")
        vbox(
            page_bar(self.back_button, title, self.settings_button, wide=title),
            (scrolled(self._content(), translate("ServerPage", "Local server")), 1),
            parent=self,
            margins=0,
            spacing=0,
        )

    def _content(self) -> QWidget:
        state = hbox((self.state, 1), (self.retry_button, 0, Qt.AlignmentFlag.AlignTop), spacing=8)
        head = hbox(label(translate("ServerPage", "Requests"), "strong"), (self.queue, 1), self.stop_button, spacing=8)
        note = translate(
            "ServerPage",
            "What was asked and answered is neither shown nor kept. The list is emptied when the server is turned off.",
        )
        requests = vbox(head, self.nothing, self.table, label(note, "caption", wrap=True), spacing=8)
        title = label(translate("ServerPage", "Models"), "strong")
        models = vbox(title, self.own_model, self.switches["server_loads"], self.others, spacing=8)
        parts = (self.switches["server"], state, rule(), requests, rule(), models, rule(), self.access)
        return page_column(*parts, width_px=COLUMN_PX, spacing=16)

    def _connect(self) -> None:
        self.access.renewal_requested.connect(self.renewal_requested)
        for key, row in self.switches.items():
            row.changed.connect(lambda key=key, row=row: self.changed.emit({key: row.value()}))

    # ---- values -----------------------------------------------------------------------------------------------------

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
        """What the server does, also in words."""
        icon, tone = TONES[view.state]
        self.state.show_mark(icon, words, tone)
        self.retry_button.setVisible(view.state is ServerState.FAILED)
        self.stop_button.setVisible(bool(view.activity.num_running))
        several = view.activity.num_running > 1
        self.stop_button.setText(
            translate("ServerPage", "Stop the answers") if several else translate("ServerPage", "Stop the answer")
        )
        self.queue.setText(queue_words(view.activity))
        self.queue.setVisible(view.state is ServerState.ON)
        self._guest = view.guest
        self._show_models()

    def set_models(self, target: ModelInfo | None, others: Sequence[str]) -> None:
        """The model of the chats, and the names of those that may be named beside it."""
        self._target, self._others = target, tuple(others)
        self.access.set_target(target)
        self._show_models()

    def _show_models(self) -> None:
        name = self.access.model.text()
        text = (
            translate("ServerPage", "{name}, the model of your chats").format(name=name)
            if name
            else translate("ServerPage", "No model is loaded. Programs are told to try again.")
        )
        self.own_model.setText(text)
        lines = []
        if self._guest:
            loaded = translate("ServerPage", "In memory now, for a program: {name}.")
            lines.append(loaded.format(name=self._guest))
        if self._others and self.switches["server_loads"].value():
            names = ", ".join(self._others[:MOST_NAMES])
            if len(self._others) > MOST_NAMES:
                more = len(self._others) - MOST_NAMES
                names = translate("ServerPage", "{names} and {number} more", None, more).format(
                    names=names, number=count(more)
                )
            lines.append(translate("ServerPage", "Others that programs may name: {names}.").format(names=names))
        self.others.setText("\n".join(lines))
        self.others.setVisible(bool(lines))

    def set_requests(self, rows: Sequence[LoggedRequest]) -> None:
        """The latest requests, the newest first."""
        self.table.set_rows(rows)
        self.table.setVisible(bool(rows))
        self.nothing.setVisible(not rows)

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_button(event):
            super().keyPressEvent(event)
