"""State shared by the controllers. One controller writes each part; the others read it or connect to its signal.

Signals are emitted after all parts are consistent, so the order in which controllers are created does not matter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, Signal

from app.core.domain.engine_view import EngineState, EngineView
from app.core.domain.model_name import model_name
from app.core.domain.settings.values import Settings
from engine.records import EngineReady, LoadRequest, Mode


@dataclass(frozen=True, slots=True)
class OpenChat:
    """The open chat: its id (None before its first message), its settings, and what can run."""

    id: int | None = None
    settings: Settings = field(default_factory=Settings)
    mode: Mode = Mode.OFF


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """The running answer of a chat.

    ``is_waiting``: the engine has not started it. ``titles_before``: titles of the chats whose answers come first.
    ``deleted``: its chat is deleted; the answer is being stopped.
    """

    state: EngineState
    is_waiting: bool = False
    titles_before: tuple[str, ...] = ()
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Models:
    """The loaded models and the load in progress.

    ``loaded``: the models in use until another load succeeds. ``loaded_by``: their load request, with the current
    draft. ``progress`` (0 to 1) and ``loading`` (a name) describe the load in progress.
    """

    loaded: EngineReady | None = None
    loaded_by: LoadRequest | None = None
    is_loading: bool = False
    progress: float | None = None
    loading: str = ""

    @property
    def usable(self) -> bool:
        """True if a question can be answered now or after loading."""
        return self.loaded is not None or self.is_loading

    @property
    def ready(self) -> EngineReady | None:
        return None if self.is_loading else self.loaded

    @property
    def target_path(self) -> str:
        """The target's file; empty without one, or while another is loading."""
        return self.ready.target.path if self.ready else ""

    @property
    def names(self) -> tuple[str, str]:
        """The names of target and draft, the keys of the statistics; empty without one."""
        loaded = self.loaded
        return (model_name(loaded.target), model_name(loaded.draft)) if loaded else ("", "")

    @property
    def num_parallel(self) -> int:
        return self.loaded.target.parallel if self.loaded is not None else 1

    @property
    def engine_url(self) -> str:
        """The URL of the remote server in use; empty for a local model."""
        return self.loaded.target.engine_url if self.loaded is not None else ""

    @property
    def has_vision(self) -> bool:
        return self.loaded is not None and self.loaded.target.has_vision

    def runnable(self, mode: Mode) -> tuple[Mode, str]:
        """``mode`` if it can run, else the best replacement and the reason."""
        unavailable = self.loaded.unavailable if self.loaded is not None else {}
        best = next(choice for choice in (mode, Mode.NGRAM, Mode.OFF) if choice not in unavailable)
        return best, unavailable.get(mode, "")


class AppState(QObject):
    """Lives on the GUI thread. The values are frozen, so other threads may read them.

    Signals, and their writers:
    settings_changed(object): the app's settings; the changed keys. `SettingsKeeper`.
    chat_settings_changed: the open chat's settings in force, or its layers.
    chat_shown: another chat is on the page, or another branch of it.
    chats_listed: chats were added, removed or renamed. `ConversationController` emits these three.
    answers_changed: the running answers. `AnswerController`.
    answer_ended(int): the answer of this chat ended or failed. `AnswerController`.
    models_changed: `ModelController`.
    model_answered: the models in use finished an answer of a chat, a race or the server.
    tools_changed: the tool definitions of the open chat. `ToolController`.
    race_changed: a race began, ended, or was deleted. `RaceController`.
    engine_changed: the engine's activity, which depends on all of these.
    """

    settings_changed = Signal(object)
    chat_settings_changed = Signal()
    chat_shown = Signal()
    chats_listed = Signal()
    answers_changed = Signal()
    answer_ended = Signal(int)
    models_changed = Signal()
    model_answered = Signal()
    tools_changed = Signal()
    race_changed = Signal()
    engine_changed = Signal()

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self.chat = OpenChat()
        self.answers: Mapping[int, ChatAnswer] = {}  # by chat; includes deleted chats
        self.models = Models()
        self.pairs: Mapping[str, str] = {}  # last draft by target (files); set by `HubLibraryController`
        self.tools_text = ""  # for counting tokens; empty without tools
        self.is_racing = False
        self.is_serving = False  # the local server answers a program; set by `LocalServerController`
        self.engine = EngineView()

    @property
    def chat_id(self) -> int | None:
        return self.chat.id

    @property
    def answer(self) -> ChatAnswer | None:
        return None if self.chat.id is None else self.answers.get(self.chat.id)

    @property
    def answering(self) -> frozenset[int]:
        """The chats with a running answer, without deleted ones."""
        return frozenset(chat for chat, answer in self.answers.items() if not answer.deleted)

    def open_chat(self, chat_id: int | None) -> None:
        self.chat = replace(self.chat, id=chat_id)

    def set_chat_settings(self, settings: Settings, mode: Mode) -> None:
        self.chat = OpenChat(self.chat.id, settings, mode)
        self.chat_settings_changed.emit()

    def show_chat(self) -> None:
        """Announce that the page shows the open chat as stored."""
        self.chat_shown.emit()
        self._update_engine()

    def set_settings(self, settings: Settings, changed: frozenset[str]) -> None:
        self.settings = settings
        self.settings_changed.emit(changed)

    def set_answers(self, answers: Mapping[int, ChatAnswer]) -> None:
        if answers != self.answers:
            self.answers = answers
            self.answers_changed.emit()
            self._update_engine()

    def set_models(self, models: Models) -> None:
        if models != self.models:
            self.models = models
            self.models_changed.emit()
            self._update_engine()

    def set_tools_text(self, text: str) -> None:
        if text != self.tools_text:
            self.tools_text = text
            self.tools_changed.emit()

    def set_racing(self, *, is_racing: bool) -> None:
        """Announce that a race waits, runs or ended, or that a stored race was deleted."""
        self.is_racing = is_racing
        self.race_changed.emit()
        self._update_engine()

    def _update_engine(self) -> None:
        loaded, models = self.models.loaded, self.models
        state = EngineState.READY if loaded else EngineState.EMPTY
        if models.is_loading:
            state = EngineState.LOADING
        elif self.is_racing:
            state = EngineState.RACING
        view = EngineView(
            state=self.answer.state if self.answer is not None else state,
            target=loaded.target if loaded else None,
            draft=loaded.draft if loaded else None,
            own_head=loaded.own_head if loaded else None,
            has_heads=loaded is not None and loaded.has_heads,
            unavailable=dict(loaded.unavailable) if loaded else {},
            notices=loaded.notices if loaded else (),
            progress=models.progress,
            loading=models.loading,
        )
        if view != self.engine:
            self.engine = view
            self.engine_changed.emit()
