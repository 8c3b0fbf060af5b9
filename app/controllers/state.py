"""What several controllers need to know. Each part is written by one of them; all others read it, or follow its signal.

A signal is emitted after the part has its new value, and whoever follows one finds all other parts as they are: so it
does not matter in which order controllers are made, or hear of a change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, Signal

from app.core.domain.engine_view import EngineState, EngineView
from app.core.domain.model_name import model_name
from app.core.domain.settings.values import Settings
from engine.records import EngineReady, LoadRequest, Mode


@dataclass(frozen=True, slots=True)
class OpenChat:
    """The chat on the page: None where it has no message yet; the settings as they hold for it, and what can run."""

    id: int | None = None
    settings: Settings = field(default_factory=Settings)
    mode: Mode = Mode.OFF
    depth: int | None = None


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """The answer in the making of a chat.

    ``waits``: the engine has yet to take it up. ``before``: the titles of the chats whose answers come first.
    ``beside``: of those beside whose answers it is about to begin. ``deleted``: its chat is, only its end is awaited.
    """

    state: EngineState
    waits: bool = False
    before: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Models:
    """What is in use, and what is on its way.

    ``loaded``: what was loaded last, which stays in use until something else is. ``loaded_by``: what brought it, with
    the draft that was chosen since. ``progress`` and ``loading``: of what is being loaded, from 0 to 1, and its name.
    """

    loaded: EngineReady | None = None
    loaded_by: LoadRequest | None = None
    is_loading: bool = False
    progress: float | None = None
    loading: str = ""

    @property
    def usable(self) -> bool:
        """Whether a question can be answered, now or when the loading is done."""
        return self.loaded is not None or self.is_loading

    @property
    def ready(self) -> EngineReady | None:
        """What is loaded; None while there is nothing, or something else is on its way."""
        return None if self.is_loading else self.loaded

    @property
    def target_path(self) -> str:
        """The file of the target; empty while there is none, or another one is on its way."""
        return self.ready.target.path if self.ready else ""

    @property
    def names(self) -> tuple[str, str]:
        """The names of target and draft, as figures are kept under; empty where there is none."""
        loaded = self.loaded
        return (model_name(loaded.target), model_name(loaded.draft)) if loaded else ("", "")

    @property
    def num_parallel(self) -> int:
        """How many answers the target makes at once."""
        return self.loaded.target.parallel if self.loaded is not None else 1

    @property
    def engine_url(self) -> str:
        """Of the engine of others whose model is in use; empty where this one answers."""
        return self.loaded.target.engine_url if self.loaded is not None else ""

    @property
    def sees(self) -> bool:
        """Whether the target sees pictures."""
        return self.loaded is not None and self.loaded.target.sees

    def runnable(self, mode: Mode) -> tuple[Mode, str]:
        """Give a mode itself where it can run, else the next best, and why."""
        unavailable = self.loaded.unavailable if self.loaded is not None else {}
        best = next(choice for choice in (mode, Mode.NGRAM, Mode.OFF) if choice not in unavailable)
        return best, unavailable.get(mode, "")


class AppState(QObject):
    """Lives on the window's thread; what is read of it elsewhere is frozen.

    Signals, and who writes what they tell of:
        settings_changed(object): the settings of the app; the keys that have another value. `SettingsKeeper`.
        chat_settings_changed: other settings hold for the open chat, or their own layers are others.
        chat_shown: another chat is on the page, or another path through it.
        chats_listed: there may be other chats, or of other names. These three by `ConversationController`.
        answers_changed: the answers in the making. `AnswerController`.
        answer_ended(int): that of this chat has, with words or with what went wrong. Likewise.
        models_changed: `ModelController`.
        model_answered: the models in use have finished an answer, of a chat, a race or the server.
        tools_changed: what the open chat's model is told of its tools. `ToolController`.
        race_changed: a race began, ended, or was deleted. `RaceController`.
        engine_changed: what the engine does, of all these.
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
        self.answers: Mapping[int, ChatAnswer] = {}  # by chat, also of those that are deleted
        self.models = Models()
        self.pairs: Mapping[str, str] = {}  # files of targets, and of their last drafts, by `HubLibraryController`
        self.tools_text = ""  # for counting tokens; empty without tools
        self.is_racing = False
        self.is_serving = False  # an answer to another program is in the making: by `LocalServerController`
        self.engine = EngineView()

    # ---- the open chat ----------------------------------------------------------------------------------------------

    @property
    def chat_id(self) -> int | None:
        """The open chat; None where it has no message yet."""
        return self.chat.id

    @property
    def answer(self) -> ChatAnswer | None:
        """The answer in the making of the open chat."""
        return None if self.chat.id is None else self.answers.get(self.chat.id)

    @property
    def answering(self) -> frozenset[int]:
        """The chats with an answer in the making, but those that are deleted."""
        return frozenset(chat for chat, answer in self.answers.items() if not answer.deleted)

    def open_chat(self, chat_id: int | None) -> None:
        """Another chat is open; it is shown soon."""
        self.chat = replace(self.chat, id=chat_id)

    def set_chat_settings(self, settings: Settings, mode: Mode, depth: int | None) -> None:
        """The settings as they hold for the open chat."""
        self.chat = OpenChat(self.chat.id, settings, mode, depth)
        self.chat_settings_changed.emit()

    def show_chat(self) -> None:
        """The open chat is on the page, as it is stored."""
        self.chat_shown.emit()
        self._note_engine()

    # ---- the other parts --------------------------------------------------------------------------------------------

    def set_settings(self, settings: Settings, changed: frozenset[str]) -> None:
        """The settings of the app."""
        self.settings = settings
        self.settings_changed.emit(changed)

    def set_answers(self, answers: Mapping[int, ChatAnswer]) -> None:
        """The answers in the making."""
        if answers != self.answers:
            self.answers = answers
            self.answers_changed.emit()
            self._note_engine()

    def set_models(self, models: Models) -> None:
        """What is in use, and what is on its way."""
        if models != self.models:
            self.models = models
            self.models_changed.emit()
            self._note_engine()

    def set_tools_text(self, text: str) -> None:
        """What the open chat's model is told of its tools."""
        if text != self.tools_text:
            self.tools_text = text
            self.tools_changed.emit()

    def set_racing(self, *, is_racing: bool) -> None:
        """A race has the engine or waits for it, or does so no more; or one that was kept is gone."""
        self.is_racing = is_racing
        self.race_changed.emit()
        self._note_engine()

    def _note_engine(self) -> None:
        """Say what the engine does, where that is something else."""
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
            devices=loaded.devices if loaded else (),
        )
        if view != self.engine:
            self.engine = view
            self.engine_changed.emit()
