"""A scripted engine, a window that records its notices, and the whole app with both."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtWidgets import QApplication

from app.controllers.controller import Controller
from app.controllers.engine_router import EngineRouter
from app.controllers.reports import ThreadReports
from app.core.domain.engine_view import EngineView
from app.core.domain.messages import MessageView
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.table import FIELDS
from app.core.domain.settings.values import Settings
from app.core.paths import Paths, assets_dir, find_paths
from app.core.storage.chats.store import ChatStore
from app.core.storage.settings_file import write_settings
from app.startup.assembly import assemble
from engine.records import (
    ChatRequest,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    Mode,
    ModelInfo,
    Problem,
    RunStats,
    Source,
    TextChunk,
    TokenSpan,
)
from engine.requests import ForgetState, Job, OnEvent, Request, RunJob, SetDraft, SetStateLimit, StateOrder
from ui.window.main_window import MainWindow

TARGET = "models/target.gguf"
DRAFT = "models/draft.gguf"


def info(path: str, parallel: int = 1) -> ModelInfo:
    return ModelInfo(path, "puppet", "llama", 1000, 2000, 64, 512, 512, 1, 0, "from the model", parallel=parallel)


class PuppetWorker:
    """Records its requests; the test sends the engine's events with `tell` and similar methods."""

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        self._on_event = on_event
        self.loads: list[LoadRequest] = []
        self.drafts: list[str | None] = []
        self.requests: list[ChatRequest] = []
        self.cancelled: list[int] = []
        self.num_forgotten = 0
        self.skipped: list[int] = []
        self.races: list[RunJob] = []
        self.state_limits: list[int] = []
        self.forgotten_states: list[int] = []
        self.started = False
        self.is_down = False
        self.is_loaded = False
        self.library_notices: tuple[str, ...] = ()
        self._loading: list[int] = []  # numbers of unanswered requests to load models
        self._load_numbers: set[int] = set()

    def start(self) -> None:
        self.started = True

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        if isinstance(request, LoadRequest | SetDraft):
            self._loading.append(request.request_id)
            self._load_numbers.add(request.request_id)
            if isinstance(request, LoadRequest):
                self.loads.append(request)
            else:
                self.drafts.append(request.path)
        elif isinstance(request, ChatRequest):
            self.requests.append(request)
        elif isinstance(request, StateOrder):
            self._note(request)
        elif request.background:
            problem = Problem("No session", "There is no model.", "Use a real one.")
            (on_event or self._on_event)(EngineFailed(problem, request.request_id))
        else:
            self.races.append(request)

    def _note(self, order: StateOrder) -> None:
        if isinstance(order, SetStateLimit):
            self.state_limits.append(order.disk_bytes)
        elif isinstance(order, ForgetState):
            self.forgotten_states.append(order.conversation_id)
        else:
            self.num_forgotten += 1

    def cancel(self, number: int) -> None:
        self.cancelled.append(number)

    @property
    def num_stops(self) -> int:
        """Number of cancelled answers."""
        return sum(number in {request.request_id for request in self.requests} for number in self.cancelled)

    @property
    def num_skips(self) -> int:
        """Number of skipped summaries."""
        return len(self.skipped)

    @property
    def num_load_stops(self) -> int:
        """Number of cancelled loads."""
        return sum(number in self._load_numbers for number in self.cancelled)

    @property
    def num_job_stops(self) -> int:
        """Number of cancelled races."""
        return sum(number in {race.request_id for race in self.races} for number in self.cancelled)

    @property
    def jobs(self) -> list[Job]:
        return [race.job for race in self.races]

    def skip_summary(self, number: int) -> None:
        self.skipped.append(number)

    def close(self, timeout_s: float) -> bool:
        self.is_down = True
        return True

    def tell(self, event: Event) -> None:
        """Emit an event. An event about models without a request number answers the oldest such request."""
        if isinstance(event, EngineReady | EngineFailed) and event.request_id == 0 and self._loading:
            event = replace(event, request_id=self._loading.pop(0))
        self._on_event(event)

    def ready(
        self,
        target: str = TARGET,
        draft: str | None = DRAFT,
        unavailable: Mapping[Mode, str] | None = None,
        parallel: int = 1,
    ) -> None:
        self.is_loaded = True
        ready = EngineReady(info(target, parallel), info(draft) if draft else None, unavailable or {})
        self.tell(replace(ready, library_notices=self.library_notices))

    def say(self, text: str, place: int = -1) -> None:
        request_id = self.requests[place].request_id
        self.tell(TextChunk(request_id, text, (TokenSpan(len(text), Source.DRAFT),)))

    def finish(self, reason: FinishReason = FinishReason.END, place: int = -1) -> None:
        self.tell(Finished(self.requests[place].request_id, reason, RunStats(tokens=3, passes=2, decode_s=0.1)))


class SpyWindow(MainWindow):
    """The real window, which also records its notices and problems."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.notices: list[str] = []
        self.restored: list[str] = []
        self.shown: list[tuple[str, tuple[MessageView, ...]]] = []
        self.text = ""
        self.finished: list[MessageView] = []
        self.engine = EngineView()
        self.themes: list[str] = []
        self.values: dict[str, SettingValue] = {}
        super().__init__(assets_dir(), FIELDS)
        append_text = self.transcript.append_text

        def append(text: str, spans: tuple[TokenSpan, ...]) -> None:
            self.text += text
            append_text(text, spans)

        self.transcript.append_text = append  # type: ignore[method-assign]

    @property
    def mode(self) -> Mode:
        return self.composer.modes.mode

    def show_problem(self, problem: Problem, *, of_chat: bool = False) -> None:
        self.problems.append(problem)
        super().show_problem(problem, of_chat=of_chat)

    def show_notice(self, text: str) -> None:
        self.notices.append(text)
        super().show_notice(text)

    def restore_composer(self, text: str) -> None:
        self.restored.append(text)
        super().restore_composer(text)

    def show_conversation(self, title: str, messages: Sequence[MessageView]) -> None:
        self.shown.append((title, tuple(messages)))
        super().show_conversation(title, messages)

    def begin_answer(self, view: MessageView) -> None:
        self.text = ""
        super().begin_answer(view)

    def finish_answer(self, view: MessageView) -> None:
        self.finished.append(view)
        super().finish_answer(view)

    def set_engine(self, view: EngineView) -> None:
        self.engine = view
        super().set_engine(view)

    def set_theme(self, name: str) -> None:
        self.themes.append(name)
        super().set_theme(name)

    def set_settings(self, values: Mapping[str, SettingValue]) -> None:
        self.values = dict(values)
        super().set_settings(values)


@dataclass
class AppHarness:
    """The whole app in the folders of the test, without a real engine."""

    window: SpyWindow
    controller: Controller
    paths: Paths
    engine: Any
    reports: ThreadReports

    @property
    def store(self) -> ChatStore:
        return self.controller._parts.store

    def close(self) -> None:
        self.window.close()
        self.window.deleteLater()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the engine was closed before: then nothing is connected

    def rows(self) -> list[str]:
        return [row.title for row in self.store.conversations()]

    def messages(self) -> tuple[MessageView, ...]:
        current = self.controller.state.chat_id
        return () if current is None else self.store.messages(current)


def keep_settings(values: Mapping[str, SettingValue]) -> Paths:
    """Write settings with a chosen pair, so that no built-in file is needed; returns the folders."""
    paths = find_paths()
    settings, complaints = Settings().changed({"target_path": TARGET, "draft_path": DRAFT, **values})
    assert complaints == ()
    write_settings(paths.settings_file, settings)
    return paths


def open_app(make_worker: Callable[[Callable[[Event], None]], Any] = PuppetWorker) -> AppHarness:
    """Assemble the app like `app.startup.window`, without running its event loop."""
    assert QApplication.instance() is not None
    window, paths, reports = SpyWindow(), find_paths(), ThreadReports()
    controller = assemble(window, paths, reports, make_worker)
    window.show()
    router = controller._bridge.worker
    assert isinstance(router, EngineRouter)
    return AppHarness(window, controller, paths, router.local, reports)
