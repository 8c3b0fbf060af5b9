"""Connects the window's requests and the engine's events with the controllers. Decides nothing itself."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.controllers.chat.answers import AnswerController
from app.controllers.chat.attachments import AttachmentController
from app.controllers.chat.background import BackgroundController
from app.controllers.chat.branches import BranchController
from app.controllers.chat.context import ContextController
from app.controllers.chat.conversations import ConversationController
from app.controllers.chat.deletion import DeletionController
from app.controllers.chat.library import LibraryController
from app.controllers.chat.regenerate import RegenerateController
from app.controllers.chat.seeds import SeedController
from app.controllers.chat.settings import ChatSettingsController
from app.controllers.chat.transfer import TransferController
from app.controllers.engine_bridge import EngineBridge
from app.controllers.models.engines import EnginesController
from app.controllers.models.hub import HubController
from app.controllers.models.models import NO_BUILTIN, ModelController
from app.controllers.parts import Parts
from app.controllers.race.controller import RaceController
from app.controllers.window.disk_space import DiskSpaceController
from app.controllers.window.help_menu import HelpMenuController
from app.controllers.window.layout import LayoutController
from app.controllers.window.local_server import LocalServerController
from app.controllers.window.notifications import NotificationController
from app.controllers.window.statistics_pane import StatisticsController
from app.controllers.window.updates import UpdatesController
from app.core.domain.engine_view import EngineState, EngineView
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import Layer
from app.core.domain.settings.table import RELOAD_KEYS
from app.core.domain.speed.races import RaceEnded
from app.core.hub.addresses import find_endpoint
from app.core.hub.errors import HubError
from app.core.paths import builtin_target
from engine.records import (
    AnswerEvent,
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
    TokensCounted,
)
from engine.requests import ForgetPast
from ui.text.language import mark, translate
from ui.widgets.first_paint import UNSEEN_MS, FirstPaint

if TYPE_CHECKING:
    from app.controllers.models.hub_service import HubService
    from ui.models.panel import ModelsPanel

log = logging.getLogger(__name__)

EngineEvent = LoadProgress | EngineReady | EngineEnded | TokensCounted | AnswerEvent
SHUTDOWN_S = 5.0
NO_MODEL = Problem("No model is loaded", "A model is needed to answer.", "Open a GGUF file or start the quick demo.")

AFTER_THE_PROGRAM = mark("Controller", "This happens when the answer to another program is finished.")
AFTER_THE_ANSWER = mark("Controller", "This happens when the answer is finished. Stop the answer to do it now.")
AFTER_THE_ANSWERS = mark("Controller", "This happens when all answers are finished. Stop them to do it now.")


class Controller(QObject):
    """All controllers, from the first paint to the last.

    Signals:
    """

    def __init__(self, parts: Parts, bridge: EngineBridge) -> None:
        super().__init__()
        self._parts = parts
        self._bridge = bridge
        self._window = parts.window
        self._closed_well: bool | None = None
        self._shown_view: tuple[EngineView, bool] | None = None  # and whether any chat is being answered
        self._no_hub: Problem | None = None  # why there is none
        self.models = ModelController(parts)
        self.conversations = ConversationController(parts, self.models.runnable)
        self.answers = AnswerController(parts, self.conversations, self.models)
        self._background = BackgroundController(parts, self.conversations, self.answers)
        self.context = ContextController(parts, self.conversations)
        self.conversations.on_shown = self._on_shown
        self.answers.prepare = self.context.prepare
        self.conversations.on_settings = self._follow_chat_settings
        self.chat_settings = ChatSettingsController(parts, self.conversations, self._on_settings)
        self.branches = BranchController(parts, self.conversations, self.answers)
        self.seeds = SeedController(parts, self.conversations, self.answers)
        self.deletions = DeletionController(parts, self.conversations, self.answers)
        self.transfer = TransferController(parts, self.conversations)
        self.statistics = StatisticsController(parts, self.conversations)
        self.races = RaceController(parts, self.conversations, self.models, self.answers)
        self.races.on_changed = self._show_engine
        self.races.find_drafts = self._find_drafts
        self.races.find_targets = self._find_targets
        self.answers.tools.on_changed = self._show_engine
        self.answers.tools.on_offered = self._count_tools
        self.answers.blocked = lambda: self.races.is_racing
        self.attachments = AttachmentController(parts, self.conversations, self.transfer.import_file)
        self.attachments.find_seeing = self._find_seeing
        self.context.tools_text = self.attachments.sums.tools_text = lambda: self.answers.tools.counted_text
        self.library = LibraryController(parts, self.conversations, self.branches)
        self.help = HelpMenuController(parts, lambda: self.models.view(self.answers.state))
        self._updates = UpdatesController(parts.window)
        self._notifications = NotificationController(parts)
        self.space = DiskSpaceController(parts)
        self.layout = LayoutController(parts)
        self.server = LocalServerController(parts, self.models, self.conversations.layers, self.answers)
        self.hub = self._make_hub()
        if self.hub is not None:
            self.models.draft_of = self.hub.draft_of
        chat = self._then_show_engine(self.models.load_pair)
        self.engines = EnginesController(parts, chat, lambda: self.models.target_path)
        self.regenerating = RegenerateController(
            parts, self.conversations, self.answers, self.models, self._targets_on_disk
        )
        self.regenerating.load = self._then_show_engine(self.models.choose_file)
        self._connect()

    def _make_hub(self) -> HubController | None:
        """None where HF_ENDPOINT is no address; then the Models panel says so, and all else works."""
        try:
            find_endpoint()
        except HubError as error:
            self._no_hub = error.problem
            return None
        chat, begin = self._then_show_engine(self.models.load_pair), self.conversations.layers.begin_model
        return HubController(self._parts, self._open_hub_service, chat, begin)

    def _open_hub_service(self, on_downloads: Callable[[], None]) -> HubService:
        from app.controllers.models.hub_service import open_hub_service  # noqa: PLC0415  (the start does not wait for it)

        return open_hub_service(self._parts.paths, self._parts.keeper.current, on_downloads)

    def start(self) -> None:
        """Show what is stored, and have the models loaded."""
        window, settings = self._window, self._parts.keeper.current
        window.set_settings(settings.values)
        window.set_theme(settings.text("theme"))
        window.set_text_size(settings.text("text_size"))
        window.set_density(settings.text("density"))
        self.layout.start()
        self.context.start()
        self.conversations.start()
        FirstPaint(window, self.conversations.list_rest, after_ms=UNSEEN_MS)
        self.deletions.start()
        self.space.start()
        self.models.load_chosen()
        self._show_engine()
        if self.hub is not None:
            self.hub.greet()
            FirstPaint(window, self.hub.start)
        FirstPaint(window, self.server.follow)

    @property
    def is_answering(self) -> bool:
        """Whether an answer is in the making."""
        return self.answers.is_answering

    def close(self) -> bool:
        """Keep the layout and the answer in the making, end the threads; False if something did not end well."""
        if self._closed_well is not None:
            return self._closed_well
        self._closed_well = True
        self.layout.close()
        self.answers.close()
        self.conversations.unsent.keep()
        self.conversations.edits.keep()
        self.space.close()
        self._updates.close()
        if self.hub is not None:
            self.hub.close()
        self.engines.close()
        results = {
            "server ended": self.server.close(SHUTDOWN_S),
            "engine ended": self._bridge.shutdown(SHUTDOWN_S),
            "reading ended": self.attachments.close(SHUTDOWN_S),
            "race exported": self.races.close(SHUTDOWN_S),
            "transfer ended": self.transfer.close(SHUTDOWN_S),
            "statistics written": self.statistics.close(SHUTDOWN_S),
            "everything saved": self._parts.store.close(SHUTDOWN_S),
        }
        for what, good in results.items():
            if not good:
                log.error("at closing, not: %s", what)
        self._closed_well = all(results.values())
        return self._closed_well

    def _connect(self) -> None:
        window, conversations, models = self._window, self.conversations, self.models
        window.message_submitted.connect(self._on_submitted)
        window.stop_requested.connect(self._on_stop)
        window.regenerate_requested.connect(self._then_show_engine(self.answers.regenerate, of_models=False))
        window.mode_changed.connect(lambda mode: conversations.change(Layer.CHAT, {"mode": mode.value}))
        window.depth_changed.connect(lambda depth: conversations.change(Layer.CHAT, {"depth": depth}))
        window.new_chat_requested.connect(conversations.new_chat)
        window.conversation_selected.connect(conversations.select)
        window.conversation_rename_requested.connect(conversations.rename)
        window.settings_changed.connect(self._on_settings)
        window.model_file_chosen.connect(self._then_show_engine(models.choose_file))
        window.draft_removed.connect(self._then_show_engine(models.remove_draft))
        window.builtin_pair_requested.connect(self._then_show_engine(models.use_builtin))
        window.closing.connect(self.close)
        self._bridge.event_arrived.connect(self._on_event)

        self._connect_page()
        self._explain_missing_hub()

    def _connect_page(self) -> None:
        page = self._window.transcript
        page.edited.connect(self._then_show_engine(self.answers.edit, of_models=False))
        page.regenerate_in_mode.connect(self._then_show_engine(self.answers.regenerate, of_models=False))
        page.regenerate_with.connect(self._then_show_engine(self.regenerating.again_with, of_models=False))
        page.seed_wanted.connect(self._then_show_engine(self.seeds.act, of_models=False))
        page.continue_requested.connect(self._then_show_engine(self.answers.continue_answer, of_models=False))

    def _explain_missing_hub(self) -> None:
        problem = self._no_hub
        if problem is not None:

            def follow(place: ModelsPanel) -> None:
                place.requests.page_shown.connect(lambda _page: place.show_problem(problem))

            self._window.models.panel_created.connect(follow)

    def _on_shown(self) -> None:
        """Another conversation is open, or another path through it."""
        self.context.show()
        self.answers.show()
        self._show_engine()

    def _follow_chat_settings(self) -> None:
        """Other settings hold for the open chat."""
        self.context.follow_settings()
        self.answers.tools.show_sign()
        self.attachments.sums.update()

    def _count_tools(self) -> None:
        """The open chat has other tools than before."""
        self.context.follow_settings()
        self.attachments.sums.update()

    def _then_show_engine(self, request: Callable[..., object], *, of_models: bool = True) -> Callable[..., None]:
        def act(*arguments: object) -> None:
            if of_models and (num_answers := self.answers.num_answering):
                words = AFTER_THE_ANSWER if num_answers == 1 else AFTER_THE_ANSWERS
                self._window.show_notice(translate("Controller", words))
            elif of_models and self.server.is_answering:
                self._window.show_notice(translate("Controller", AFTER_THE_PROGRAM))
            request(*arguments)
            self._show_engine()

        return act

    # ---- requests that concern several ------------------------------------------------------------------------------

    def _on_submitted(self, text: str) -> None:
        if not self.models.usable:
            self._window.show_problem(NO_MODEL if builtin_target().exists() else NO_BUILTIN)
            self._window.restore_composer(text)
            return
        self.answers.submit(text)
        self._show_engine()

    def _on_stop(self) -> None:
        is_open = self.conversations.current_id
        if is_open is not None and self.answers.is_answering_in(is_open):
            self.answers.stop(is_open)
        else:
            self.models.stop_loading()

    def _targets_on_disk(self) -> list[tuple[str, str]]:
        """Path and name of every model that can be loaded: those of the library, and the built-in one."""
        found = [] if self.hub is None else self.hub.service.targets()
        found += self.engines.targets()
        return [*found, *_builtin()]

    def _find_drafts(self, target: str, show: Callable[[Sequence[tuple[str, str]]], None]) -> None:
        """Look for drafts of a target in the library, beside the window."""
        if self.hub is not None:
            hub = self.hub
            hub.jobs.run(
                "drafts of a race",
                lambda should_stop: [(row.path, row.name) for row in hub.service.drafts_here(target, should_stop)],
                show,
                lambda problem: log.info("drafts for a race could not be looked for: %s", problem.message),
            )

    def _find_targets(self, show: Callable[[Sequence[tuple[str, str]]], None]) -> None:
        """Read which models of the library can answer, beside the window."""
        if self.hub is not None:
            hub = self.hub
            hub.jobs.run(
                "models of a race",
                lambda _should_stop: [*((row.path, row.name) for row in hub.service.picker_rows()), *_builtin()],
                show,
                lambda problem: log.info("models for a race could not be listed: %s", problem.message),
            )

    def _find_seeing(self, show: Callable[[Sequence[tuple[str, str]]], None]) -> None:
        """Read which models of the library see pictures, beside the window."""
        if self.hub is not None:
            hub = self.hub
            hub.jobs.run(
                "models that see",
                lambda _should_stop: [(row.path, row.name) for row in hub.service.seeing_rows()],
                show,
                lambda problem: log.info("models that see could not be listed: %s", problem.message),
            )

    def _on_settings(self, changes: Mapping[str, SettingValue]) -> None:
        keeper = self._parts.keeper
        changed = keeper.change(changes)
        self._window.set_settings(keeper.current.values)
        if "theme" in changed:
            self._window.set_theme(keeper.current.text("theme"))
        if "text_size" in changed:
            self._window.set_text_size(keeper.current.text("text_size"))
        if "density" in changed:
            self._window.set_density(keeper.current.text("density"))
        self.conversations.show_settings()
        self.context.settings_changed(changed)
        self.server.settings_changed(changed)
        if "learn_past" in changed and not keeper.current.values["learn_past"]:
            self._parts.worker.submit(ForgetPast())
        if changed & {*RELOAD_KEYS, "draft_path"}:
            self.models.follow_settings(draft_only=not changed & RELOAD_KEYS)
            self._show_engine()

    # ---- reports ----------------------------------------------------------------------------------------------------

    def _on_event(self, event: Event) -> None:
        if isinstance(event, JobEvent):
            self.races.on_event(event)
            self.models.has_answered |= isinstance(event, RaceEnded) and event.result is not None
        else:
            self._on_engine_event(event)

    def _on_engine_event(self, event: EngineEvent) -> None:
        if isinstance(event, LoadProgress | EngineReady | EngineEnded):
            self._on_model_event(event)
        elif isinstance(event, SummaryUpdate):
            self.context.on_summary(event)
        elif isinstance(event, TokensCounted):
            self.context.on_counted(event)
            self.attachments.sums.on_counted(event)
        elif isinstance(event, EngineFailed) and self.models.awaits(event.request_id):
            self.models.on_event(event)
            self.regenerating.on_failed()
        elif isinstance(event, EngineFailed) and self.races.awaits(event.request_id):
            self.races.on_failed(event)
        else:
            self.answers.on_event(event)
            if isinstance(event, StatsUpdate | Finished):
                self.context.on_stats(event)
            elif isinstance(event, EngineFailed):
                self.context.on_failed(event)
                self.attachments.sums.conversation_changed()
            self._notifications.on_event(event)
            self.models.has_answered |= isinstance(event, Finished)
        self._show_engine()

    def _on_model_event(self, event: LoadProgress | EngineReady | EngineEnded) -> None:
        if isinstance(event, LoadProgress) and not self.models.awaits(event.request_id):
            self.server.models_come_back(event.fraction)
        self.models.on_event(event, is_answering=self.is_answering)
        if isinstance(event, EngineReady):
            self._show_engine()  # who counts pictures asks the window whether the model sees
            self.conversations.models_changed(event.target)
            self.context.model_changed(event.target)
            self.answers.tools.show_sign()
            self.attachments.sums.model_changed(0 if event.target.engine_url else event.target.n_ctx)
            if self.hub is not None:
                is_away = bool(event.target.engine_url)  # then none of the library is in use
                self.hub.models_loaded(None if is_away else event)
            self.regenerating.on_ready(event)

    def on_trouble(self, problem: Problem | None) -> None:
        """Take what the store says about saving: a problem, or None when everything is saved again."""
        self.space.on_trouble(problem)
        if problem is None:
            self._window.show_notice(translate("Controller", "Everything is saved again."))
        else:
            self._window.show_problem(problem)

    def _show_engine(self) -> None:
        racing = EngineState.RACING if self.races.is_racing and not self.models.is_loading else None
        view = self.models.view(self.answers.state or racing)
        if (view, self.is_answering) != self._shown_view:
            self._shown_view = view, self.is_answering
            self._window.set_engine(view)
            self.races.show_state()
            self.server.models_changed()
        self.server.show_waiting()
        self._background.look()


def _builtin() -> list[tuple[str, str]]:
    """Path and name of the built-in target, where it is."""
    builtin = builtin_target()
    return [(str(builtin), translate("Header", "Quick demo"))] if builtin.exists() else []
