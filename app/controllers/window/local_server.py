"""Runs the local server by the settings: start, stop, restart; and shows its activity in the window.

It uses the window's engine and models; if the settings allow it, programs can load other models. The window's requests
come first.
"""

import logging
from collections.abc import Callable, Collection

from PySide6.QtCore import Qt, QTimer, Signal

from app.controllers.layers import ChatLayers
from app.controllers.parts import Parts, PartsController
from app.controllers.window.served_models import ServedModels
from app.core.domain.errors import AppError, PortTakenError
from app.core.domain.local_server import Activity, ServerSetup, ServerState, ServerView, read_host_names
from app.core.domain.settings.table import SERVER_KEYS
from app.core.server.api_key import find_key, new_key
from app.core.server.background import BackgroundServer
from engine.records import Problem
from engine.sentences import i18n
from ui.text.language import mark

log = logging.getLogger(__name__)

SHOW_MS = 150  # interval of reading a busy server's state
NOT_STARTED = mark("Problems", "The local server could not start")


class LocalServerController(PartsController):
    """One server at most; a new one starts after the previous one has released its port."""

    activity_changed = Signal()  # the server's activity changed
    _reported = Signal()

    def __init__(self, parts: Parts, layers: ChatLayers) -> None:
        super().__init__(parts)
        self._key_file = parts.paths.api_key_file
        self._layers = layers
        self._server: BackgroundServer | None = None
        self._setup: ServerSetup | None = None  # the running server's; None if the server has to restart
        self._problem: Problem | None = None
        self._served = ServedModels(parts, layers.of_model_file, self._report)
        self._has_reported = self._is_closed = False
        self._num_answered = 0
        self._reload_fraction: float | None = None  # loaded fraction of the window's models
        self._timer = QTimer(self, singleShot=True, interval=SHOW_MS)
        self._timer.timeout.connect(self._read_state)
        self._reported.connect(self._on_reported, Qt.ConnectionType.QueuedConnection)
        wants = self._window.local_server
        wants.key_requested.connect(lambda: self._show_key(lambda: find_key(None, {}, self._key_file)[0]))
        wants.renewal_requested.connect(self._renew_key)
        wants.stop_requested.connect(self._stop_answer)
        wants.retry_requested.connect(self.follow)
        wants.page_shown.connect(self._show)
        wants.page_shown.connect(wants.show_target)
        state = self._state
        state.settings_changed.connect(self._on_settings)
        for changed in (state.models_changed, state.chat_settings_changed):
            changed.connect(self._serve)
        for changed in (state.answers_changed, state.chat_shown):
            changed.connect(self._show_waiting)

    def _on_settings(self, changed: Collection[str]) -> None:
        self._serve()
        if SERVER_KEYS & set(changed):
            self.follow()

    def follow(self) -> None:
        wanted = self._wanted_setup()
        if self._server is not None:
            if self._setup != wanted:
                self._setup = None
                self._server.stop()  # `_read_state` calls this again when the server has ended
        elif wanted is not None:
            self._begin(wanted)
        self._show()

    def _wanted_setup(self) -> ServerSetup | None:
        values = self._state.settings
        if not values.values["server"]:
            return None
        names, wants_key = read_host_names(values.text("server_names")), bool(values.values["server_key"])
        return ServerSetup(values.text("server_host"), values.integer("server_port") or 0, names, wants_key)

    def _begin(self, setup: ServerSetup) -> None:
        self._withdraw_problem()
        try:
            key, _is_new = find_key(None, {}, self._key_file)
        except AppError:
            self._fail(self._key_problem())
            return
        self._setup = setup
        self._server = BackgroundServer(self._worker, self._served, setup, key, self._report)
        self._server.start()

    @property
    def _is_full(self) -> bool:
        """True if a chat has to wait: requests of programs use all slots or another model."""
        num_running = self._server.activity.num_running if self._server is not None else 0
        has_room = num_running + len(self._state.answers) <= self._state.models.num_parallel and not self._served.guest
        return num_running > 0 and not has_room

    def close(self, timeout_s: float) -> bool:
        """Stop the server as the app closes; False if it did not end within the time limit."""
        server, self._server = self._server, None
        self._is_closed = True
        self._timer.stop()
        self._reported.disconnect()
        if server is None:
            return True
        server.stop()
        return server.join(timeout_s)

    def _serve(self) -> None:
        ready = self._state.models.ready
        if ready is not None and ready.target.engine_url:
            ready = None
        self._served.serve(ready, self._layers.of_model(), self._state.models.loaded_by)
        self._window.local_server.show_target()

    def note_reload(self, fraction: float) -> None:
        """Note that the window's models are being loaded again in place of a program's; ``fraction`` is done."""
        self._reload_fraction = fraction
        self._served.set_guest("")
        self._show_waiting()

    def _report(self) -> None:
        """The activity changed; called on any thread, often."""
        if not self._has_reported:
            self._has_reported = True
            self._reported.emit()

    def _on_reported(self) -> None:
        if not self._is_closed and not self._timer.isActive():  # a late report may arrive after closing
            self._timer.start()

    def _read_state(self) -> None:
        self._has_reported = False
        server = self._server
        if server is not None and server.has_ended:
            self._server = None
            if server.failure is not None and self._setup is not None:
                self._fail(_problem(server.failure, self._setup))
            if server.failure is None or self._setup is None:  # stopped without a failure
                self.follow()
        self.activity_changed.emit()
        self._show()

    def _fail(self, problem: Problem) -> None:
        self._problem = problem
        self._window.show_problem(problem)

    def _withdraw_problem(self) -> None:
        if self._problem is not None:
            self._window.withdraw_problem(self._problem)
            self._problem = None

    def _show(self) -> None:
        server = self._server
        activity = Activity() if server is None else server.activity
        if activity.num_answered > self._num_answered:
            self._state.model_answered.emit()
        self._num_answered = activity.num_answered
        self._state.is_serving = activity.num_running > 0
        if self._wanted_setup() is None:
            self._withdraw_problem()
        address = "" if server is None or self._setup is None else server.address  # the server may be stopping
        answer = self._state.answer
        waits = self._is_full and answer is not None and answer.is_waiting
        state = self._server_state(bool(address))
        self._window.local_server.set_view(
            ServerView(state, address, activity, self._problem, waits, self._served.guest)
        )
        self._show_waiting()

    def _server_state(self, listens: bool) -> ServerState:
        if self._wanted_setup() is None:
            return ServerState.OFF
        if self._problem is not None:
            return ServerState.FAILED
        return ServerState.ON if listens else ServerState.STARTING

    def _show_waiting(self) -> None:
        """Show in the chat why its question waits: other answers, a program's answer, or loading of the model."""
        answer = self._state.answer
        if answer is not None and answer.is_waiting:
            self._window.transcript.show_waiting(self._is_full, self._reload_fraction, answer.titles_before)
        else:
            self._reload_fraction = None

    def _stop_answer(self) -> None:
        if self._server is not None:
            self._server.stop_running()

    def _show_key(self, get: Callable[[], str]) -> bool:
        """Show the key; False if there is none, because of a problem that is shown instead."""
        try:
            key = get()
        except AppError as error:
            log.warning("there is no key: %s", error)
            self._window.local_server.set_key("", self._key_problem())
            return False
        self._window.local_server.set_key(key)
        return True

    def _key_problem(self) -> Problem:
        message = i18n("The key in {file} cannot be used, or other users may read it.", file=self._key_file)
        return Problem(NOT_STARTED, message, "Make another key on the Server page.")

    def _renew_key(self) -> None:
        if not self._show_key(lambda: new_key(self._key_file)):
            return
        if self._server is None:
            self.follow()  # it may have failed because the key was missing
        else:
            self._setup = None
            self._server.stop()  # disconnects clients with the old key; `_read_state` restarts it


def _problem(failure: Exception, setup: ServerSetup) -> Problem:
    if isinstance(failure, PortTakenError):
        message = i18n("Another program uses port {port}.", port=setup.port)
        return Problem(NOT_STARTED, message, "Choose another port in the settings, under Local server.")
    if isinstance(failure, AppError):
        message = i18n("The system does not allow the server to use port {port}.", port=setup.port)
        return Problem(NOT_STARTED, message, "Choose another port in the settings, under Local server.")
    return Problem(NOT_STARTED, "Something unexpected went wrong; the log has the details.", "Turn it on again.")
