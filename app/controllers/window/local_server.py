"""Runs the local server by the settings: start, stop, restart; and shows its activity in the window.

It uses the window's engine and models; if the settings allow it, programs can load other models. The window's requests
come first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal

from app.controllers.layers import ChatLayers
from app.controllers.parts import Parts, PartsController
from app.controllers.state import Models
from app.core.domain.errors import AppError, PortTakenError
from app.core.domain.local_server import Activity, ServerSetup, ServerState, ServerView, read_host_names
from app.core.domain.model_name import printable, shown_name
from app.core.domain.models import FileKind
from app.core.domain.requests import chat_request
from app.core.domain.settings.table import SERVER_KEYS
from app.core.domain.settings.values import Settings
from app.core.hub.library.library import open_library
from app.core.load_requests import load_request
from app.core.server.api_key import find_key, new_key
from app.core.server.background import BackgroundServer
from app.core.server.errors import no_model_error
from app.core.server.library import LoadableModel, ModelSwitch
from engine.records import ChatRequest, EngineReady, LoadRequest, Mode, Overflow, Problem
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


if TYPE_CHECKING:  # imported by the server's thread
    from app.core.hub.records import LibraryModel
    from app.core.server.pictures import PictureSource
    from app.core.server.protocol import ServedModel


def defaults_of(settings: Settings, ready: EngineReady) -> ChatRequest:
    mode, _reason = Models(ready).runnable(Mode(settings.text("mode")))
    request = chat_request(settings, (), mode, 0)
    # Chats of other programs are not stored, and not shortened automatically.
    return replace(request, messages=(), overflow=Overflow.STOP, use_past=False)


class ServedModels(ModelSwitch):
    """The chats' model, and library models that programs may load; used on the server's threads.

    ``settings_of`` returns the settings of new chats for a model's file.

    ``on_change`` is called on any thread when `guest` changes.
    """

    def __init__(self, parts: Parts, settings_of: Callable[[str], Settings], on_change: Callable[[], None]) -> None:
        super().__init__()
        self._state, self._paths = parts.state, parts.paths
        self._settings_of = settings_of
        self._on_change = on_change
        self._own: tuple[EngineReady, Settings, LoadRequest | None] | None = None
        self._pictures: PictureSource | None = None  # caches decoded pictures; made late
        self.guest = ""  # the model that a program loaded in place of the chats' model; empty if none

    def serve(self, ready: EngineReady | None, settings: Settings, request: LoadRequest | None) -> None:
        """Set the chats' model and its load ``request``; None if no model is loaded."""
        with self._lock:
            if self._own is None or self._own[1] != settings:
                self._known.clear()  # the defaults of other models may have changed, too
            self._own = None if ready is None else (ready, settings, request)
        if ready is None:
            self.set_guest("")

    def set_guest(self, name: str) -> None:
        if name != self.guest:
            self.guest = name
            self._on_change()

    def current(self) -> ServedModel:
        if self._own is None:
            raise no_model_error()
        ready, settings, _request = self._own
        return self._served(printable(Path(ready.target.path).stem), settings, ready)

    def _served(self, name: str, settings: Settings, ready: EngineReady) -> ServedModel:
        from app.core.server.pictures import PictureSource  # noqa: PLC0415  (the first paint does not wait for it)
        from app.core.server.protocol import ServedModel  # noqa: PLC0415

        if self._pictures is None:
            self._pictures = PictureSource()  # data URLs only: no files of this computer
        return ServedModel(name, ready, defaults_of(settings, ready), settings.text("system_prompt"), self._pictures)

    def is_known(self, name: str) -> ServedModel | None:
        return super().is_known(name) if self._may_load else None

    def others(self) -> list[str]:
        """The names of library models besides the chats' model; reads the disk."""
        own_path = self._own[0].target.path if self._own is not None else ""
        return [one.name for one in self._models() if str(one.path) != own_path]

    def _find(self, name: str) -> LoadableModel | None:
        model = next((one for one in self._models() if one.name == name), None)
        if model is None:
            return None
        models = open_library(self._paths, self._state.settings).models()
        draft = next((str(one.path) for one in models if model.draft == one.name and not one.missing), "")
        target = str(model.path)
        settings, _complaints = self._settings_of(target).changed({"target_path": target, "draft_path": draft})
        return LoadableModel(load_request(settings), partial(self._served, name, settings))

    def load_for(self, target: str) -> LoadRequest | None:
        own = self._own
        if own is not None and own[2] is not None and own[2].target == target:
            return own[2]
        return super().load_for(target) if self._may_load else None

    def set_loaded(self, ready: EngineReady) -> None:
        is_own = self._own is not None and self._own[0].target.path == ready.target.path
        if is_own or ready.target.path not in self._choices:
            self.set_guest("")
            return
        super().set_loaded(ready)
        self.set_guest(shown_name(ready.target))

    @property
    def _may_load(self) -> bool:
        return bool(self._state.settings.values["server_loads"])

    def _models(self) -> list[LibraryModel]:
        if not self._may_load:
            return []
        models = open_library(self._paths, self._state.settings).models()
        return [model for model in models if model.kind is FileKind.MODEL and not model.missing]
