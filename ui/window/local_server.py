"""The local server in the window: its header button, and its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.core.domain.local_server import ServerState, ServerView
from app.core.domain.settings.table import SERVER
from engine.records import Problem
from ui.text.formatting import count, tooltip
from ui.text.language import Translator
from ui.text.problem_words import explanation
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton

tr = Translator("LocalServer")

if TYPE_CHECKING:
    from ui.server.page import ServerPage
    from ui.window.main_window import MainWindow


def state_words(view: ServerView) -> str:
    if view.state is ServerState.FAILED:
        return explanation(view.problem) if view.problem else tr("The server is off.")
    if view.state is ServerState.STARTING:
        return tr("The server is starting.")
    if view.state is ServerState.OFF:
        return tr("The server is off.")
    return _busy_words(view)


def _busy_words(view: ServerView) -> str:
    if view.window_waits:
        return tr("A program's request is being answered; yours is next.")
    if view.activity.num_running > 1:
        words = tr("{number} requests of programs are being answered.")
        return words.format(number=count(view.activity.num_running))
    if view.activity.num_running:
        return tr("A program's request is being answered.")
    if view.guest:
        words = tr("{name} is loaded for a program. Your model comes back with your next message.")
        return words.format(name=view.guest)
    return tr("The server is ready.")


def count_words(view: ServerView) -> str:
    done, waiting = view.activity.num_answered, view.activity.num_waiting
    answered = tr("{number} requests answered", None, done).format(number=count(done))
    if not waiting:
        return answered
    return f"{answered}, {_waiting_words(waiting)}"


def _waiting_words(number: int) -> str:
    return tr("{number} waiting", None, number).format(number=count(number))


class ServerButton(IconButton):
    """The indicator of the local server, shown while it is on; opens its page."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "server", tr("Local server"))
        self.set_view(ServerView())

    def set_view(self, view: ServerView) -> None:
        self.setVisible(view.state is not ServerState.OFF)
        failed, busy = view.state is ServerState.FAILED, bool(view.activity.num_running)
        text = tr("Server off") if failed else tr("Server answering") if busy else tr("Server on")
        self.set_icon_name("triangle-alert" if failed else "refresh-cw" if busy else "server")
        self.set_marked(busy)
        words = state_words(view)
        if view.state is ServerState.ON:
            words = f"{view.address}/v1\n{count_words(view)}\n{words}"
        self.setToolTip(tooltip(words))
        if busy and view.activity.num_waiting:
            text = f"{text}, {_waiting_words(view.activity.num_waiting)}"
        self.setAccessibleName(tr("Local server: {state}").format(state=text))
        self.setAccessibleDescription(words)


class LocalServer(QObject):
    key_requested = Signal()  # show the API key
    renewal_requested = Signal()  # create a new API key
    stop_requested = Signal()  # stop the answer for another program
    retry_requested = Signal()  # restart the failed server
    page_shown = Signal()  # the page is visible; call `show_target`

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.view = ServerView()
        self.button = ServerButton(window.theme)
        window.header.add_indicator(self.button)
        self.button.clicked.connect(window.server.show_page)
        window.server.page_created.connect(self._connect_page)
        window.models.stack.currentChanged.connect(lambda _index: self._on_page_changed())

    @property
    def is_page_open(self) -> bool:
        return self._window.server.is_open

    def _connect_page(self, page: ServerPage) -> None:
        window = self._window
        page.changed.connect(window.dialogs.save)
        page.settings_requested.connect(lambda: window.dialogs.open_section(SERVER))
        page.renewal_requested.connect(self.renewal_requested)
        page.stop_requested.connect(self.stop_requested)
        page.retry_requested.connect(self.retry_requested)
        self._fill(page)

    def _fill(self, page: ServerPage) -> None:
        page.set_values(self._window.dialogs.values)
        page.set_view(self.view, state_words(self.view))

    def _on_page_changed(self) -> None:
        if self.is_page_open:
            self._fill(self._window.server.page)
            self.key_requested.emit()
            self.page_shown.emit()

    def set_view(self, view: ServerView) -> None:
        if view != self.view:
            self.view = view
            self.button.set_view(view)
            if self._window.server.is_created:
                self._window.server.page.set_view(view, state_words(view))

    def set_values(self) -> None:
        if self._window.server.is_created:
            self._window.server.page.set_values(self._window.dialogs.values)

    def show_target(self) -> None:
        if self._window.server.is_created:
            self._window.server.page.set_target(self._window.engine_view.target)

    def set_key(self, key: str, problem: Problem | None = None) -> None:
        """Show the key. An empty ``key`` shows ``problem``, the reason why there is none."""
        if self._window.server.is_created:
            self._window.server.page.access.set_key(key, explanation(problem) if problem is not None else "")
