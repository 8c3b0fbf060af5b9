"""Creates all controllers of the window, passes them the engine's events, and closes them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from app.controllers.chat.answers import AnswerController, VersionController
from app.controllers.chat.attachments import AttachmentController
from app.controllers.chat.context import ContextController
from app.controllers.chat.conversations import ChatSettingsController, ConversationController
from app.controllers.chat.library import DeletionController, LibraryController
from app.controllers.chat.projects import ProjectController
from app.controllers.chat.transfer import TransferController
from app.controllers.engine_bridge import EngineBridge
from app.controllers.models.engines import RemoteServersController
from app.controllers.models.hub import HubController
from app.controllers.models.models import ModelController
from app.controllers.parts import Parts, PartsController
from app.controllers.race.controller import RaceController
from app.controllers.window.disk_space import DiskSpaceController
from app.controllers.window.help_menu import HelpMenuController
from app.controllers.window.layout import LayoutController
from app.controllers.window.local_server import LocalServerController
from app.controllers.window.statistics_pane import StatisticsController
from app.core.hub.addresses import find_endpoint
from app.core.hub.errors import HubError
from app.core.storage.window_state import is_first_run
from engine.records import (
    EngineEnded,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    JobEvent,
    LoadProgress,
    Problem,
    StatsUpdate,
    SummaryUpdate,
)
from ui.models.parts import WELCOME
from ui.text.language import translate
from ui.widgets.first_paint import FirstPaint

if TYPE_CHECKING:
    from ui.models.panel import ModelsPanel

log = logging.getLogger(__name__)

SHUTDOWN_S = 5.0


class Controller(PartsController):
    """Owns all controllers of the window. They share `AppState`."""

    def __init__(self, parts: Parts, bridge: EngineBridge) -> None:
        super().__init__(parts)
        self.state = parts.state
        self._bridge = bridge
        self._closed_well: bool | None = None
        self.models = ModelController(parts)
        self.conversations = ConversationController(parts)
        self.chat_settings = ChatSettingsController(parts, self.conversations)
        self.hub = self._make_hub()
        self.engines = RemoteServersController(parts, self.models)
        self.context = ContextController(parts, self.conversations)
        self.projects = ProjectController(parts, self.conversations, self.hub)
        self.answers = AnswerController(parts, self.conversations, self.context, self.projects)
        self.versions = VersionController(parts, self.conversations, self.answers)
        self.deletions = DeletionController(parts, self.conversations, self.answers)
        self.transfer = TransferController(parts, self.conversations)
        self.attachments = AttachmentController(parts, self.conversations.unsent, self.transfer)
        self.library = LibraryController(parts, self.conversations)
        self.statistics = StatisticsController(parts)
        self.races = RaceController(parts, self.hub)
        self.help = HelpMenuController(parts)
        self.space = DiskSpaceController(parts)
        self.layout = LayoutController(parts)
        self.server = LocalServerController(parts, self.conversations.layers)
        self._window.composer.stop_requested.connect(self._stop)
        self._window.closing.connect(self.close)
        self._state.engine_changed.connect(lambda: self._window.set_engine(self._state.engine))
        bridge.event_arrived.connect(self._on_event)

    def _make_hub(self) -> HubController | None:
        """None if HF_ENDPOINT is no address; the Models panel shows that, and everything else works."""
        try:
            find_endpoint()
        except HubError as error:
            problem = error.problem

            def follow(place: ModelsPanel) -> None:
                place.requests.page_shown.connect(lambda _page: place.show_problem(problem))

            self._window.models.page_created.connect(follow)
            return None
        return HubController(self._parts, self.models, self.conversations.layers)

    def start(self) -> None:
        window = self._window
        self.chat_settings.show()
        self.layout.start()
        self.context.start()
        self.projects.start()
        self.conversations.start()
        self.deletions.start()
        self.space.start()
        self.models.load({})
        window.set_engine(self._state.engine)
        if self.hub is not None:
            if is_first_run(self._parts.paths):
                window.models.open(WELCOME)
            FirstPaint(window, self.hub.start)
        FirstPaint(window, self.server.follow)

    def close(self) -> bool:
        """Save the layout and the running answers, and end the threads; False if a thread did not end."""
        if self._closed_well is not None:
            return self._closed_well
        self._closed_well = True
        self.layout.close()
        self.answers.close()
        self.conversations.unsent.save()
        self.conversations.edits.save()
        self.space.close()
        self.projects.close()
        self.transfer.close()
        if self.hub is not None:
            self.hub.close()
        results = {
            "server ended": self.server.close(SHUTDOWN_S),
            "engine ended": self._bridge.shutdown(SHUTDOWN_S),
            "files written": self._jobs.close(SHUTDOWN_S),
            "everything saved": self._store.close(SHUTDOWN_S),
        }
        if self.hub is not None:
            self.hub.close()
        for what, good in results.items():
            if not good:
                log.error("at closing, not: %s", what)
        self._closed_well = all(results.values())
        return self._closed_well

    def on_save_state(self, problem: Problem | None) -> None:
        """Called when the save state changes. None means that all changes are on disk."""
        self.space.on_save_state(problem)
        if problem is None:
            self._window.show_notice(translate("Controller", "Everything is saved again."))
        else:
            self._window.show_problem(problem)

    def _stop(self) -> None:
        if self._state.answer is not None and self._state.chat_id is not None:
            self.answers.stop(self._state.chat_id)
        else:
            self.models.stop_loading()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, JobEvent):
            self.races.on_event(event)
        elif isinstance(event, LoadProgress | EngineReady | EngineEnded):
            self._on_model_event(event)
        elif isinstance(event, SummaryUpdate):
            self.context.on_summary(event)
        elif isinstance(event, EngineFailed) and self.models.is_pending(event.request_id):
            self.models.on_event(event)
        elif isinstance(event, EngineFailed) and self.races.is_pending(event.request_id):
            self.races.on_failed(event)
        else:
            self.answers.on_event(event)
            if isinstance(event, StatsUpdate | Finished):
                self.context.on_stats(event)
                self.projects.on_stats(event.stats)
            elif isinstance(event, EngineFailed):
                self.context.on_failed(event)
            if isinstance(event, Finished | EngineFailed) and not self._window.isActiveWindow():
                QApplication.alert(self._window)

    def _on_model_event(self, event: LoadProgress | EngineReady | EngineEnded) -> None:
        if isinstance(event, LoadProgress) and not self.models.is_pending(event.request_id):
            self.server.note_reload(event.fraction)
        self.models.on_event(event)
        if isinstance(event, EngineReady):
            self.conversations.models_changed(event.target)
            if self.hub is not None:
                is_away = bool(event.target.engine_url)  # a remote model: no library model is in use
                self.hub.models_loaded(None if is_away else event)
