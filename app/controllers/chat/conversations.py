"""Controls the chat list and the open chat: create, select, rename, and the effective settings."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from app.controllers.chat.unsent import EditsController, UnsentController
from app.controllers.layers import ChatLayers
from app.controllers.parts import Parts, PartsController
from app.core.domain.errors import PresetError
from app.core.domain.messages import MessageState
from app.core.domain.projects import with_citations
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import Layer
from app.core.domain.settings.table import DEFAULTS
from app.core.load_requests import load_request
from app.core.storage.chats.store import StoredTurn
from app.core.storage.model_settings import ModelSettings
from app.core.storage.presets import Presets
from app.core.storage.prompts import Prompts
from app.core.storage.window_state import NEW_CHAT, OpenChat
from engine.records import Mode, ModelInfo
from engine.requests import ForgetPast
from ui.composer.prompt_list import builtin_prompts


class ConversationController(PartsController):
    """Sets the open chat. A new chat is stored with its first message."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._open_chat = OpenChat(parts.paths.open_chat_file)
        self.unsent = UnsentController(parts)
        self.edits = EditsController(parts)
        target = load_request(self._state.settings).target
        models = ModelSettings(parts.paths.model_settings_file, parts.window.show_problem)
        self.layers = ChatLayers(self._state, models, parts.store, parts.projects, target)
        self.problems = (models.problem,) if models.problem is not None else ()
        self._list_marks: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
        self._new_folder_id: int | None = None  # the folder of the open chat if it is not stored yet
        self._unread: set[int] = set()  # chats with an unread answer; not stored
        window, state = self._window, self._state
        window.composer.mode_chosen.connect(lambda mode: self.change(Layer.CHAT, {"mode": mode.value}))
        window.sidebar.new_chat.connect(self.new_chat)
        window.sidebar.library_signals.new_in_folder.connect(self.new_chat)
        window.sidebar.list.chosen.connect(self.select)
        window.sidebar.list.rename_requested.connect(self.rename)
        state.settings_changed.connect(self.show_settings)
        state.answer_ended.connect(self._unread.add)
        state.answers_changed.connect(self._mark_chats)
        state.chat_shown.connect(self._mark_chats)

    def start(self) -> None:
        """Show the list and open the last open chat, or else the one that changed last."""
        last = self._open_chat.read()
        found = None if last == NEW_CHAT else self._attempt(lambda: self._store.latest_conversation(last))
        if found is None:
            self.new_chat()
        else:
            self.select(found)

    def refresh(self) -> None:
        listed = self._attempt(self._store.conversations)
        folders = self._attempt(self._store.library.folders)
        if listed is not None:
            self._window.sidebar.set_rows(listed, self._state.chat_id, folders)
        self._state.chats_listed.emit()

    def new_chat(self, folder_id: int | None = None) -> None:
        """Open an empty chat with inherited settings. ``folder_id`` None: outside folders."""
        self._window.chat_settings.flush()  # save settings typed for the previous chat
        self._open(None)
        self._new_folder_id = folder_id
        self.layers.open_new(folder_id)
        self.show_settings()
        self.edits.open(None)
        self._window.show_conversation("", ())
        self.unsent.open(None)
        self._state.show_chat()
        self.refresh()

    def select(self, conversation_id: int) -> None:
        self._window.chat_settings.flush()  # save settings typed for the previous chat
        title = self._attempt(lambda: self._store.title(conversation_id))
        if title is None:
            self.new_chat()
            return
        self._open(conversation_id)
        self._attempt(lambda: self.layers.open(conversation_id))
        self.show_settings()
        self.show(title)
        self.unsent.open(conversation_id)
        self.refresh()

    def show(self, title: str | None = None) -> None:
        """Show the open chat's messages again, with a running answer."""
        conversation_id = self._state.chat_id
        if conversation_id is None:
            return
        if title is None:
            title = self._attempt(lambda: self._store.title(conversation_id)) or ""
        views = self._attempt(lambda: self._store.messages(conversation_id)) or ()
        streaming = views[-1] if views and views[-1].state is MessageState.STREAMING else None
        self.edits.open(conversation_id, [view.id for view in views])
        views = with_citations(views)
        streaming = views[-1] if streaming else None
        self._window.show_conversation(title, views[:-1] if streaming else views)
        if streaming:
            self._window.begin_answer(replace(streaming, text="", spans=()))
            if streaming.text:
                self._window.transcript.append_text(streaming.text, streaming.spans)
        self._state.show_chat()

    def on_stored(self, conversation_id: int) -> None:
        self._open(conversation_id)
        if self._new_folder_id is not None:
            folder_id = self._new_folder_id
            self._attempt(lambda: self._store.library.move_to_folder(conversation_id, folder_id))
        self._attempt(lambda: self.layers.stored_as(conversation_id))

    def show_first(self, turn: StoredTurn) -> None:
        self._window.show_conversation(turn.title, turn.history)
        self.unsent.sent(turn.conversation_id)
        self._state.show_chat()

    def _open(self, conversation_id: int | None) -> None:
        self._state.open_chat(conversation_id)
        self._open_chat.keep(conversation_id)

    def _mark_chats(self) -> None:
        """Mark the chats in the list that are answering or have an unread answer."""
        if self._state.chat_id is not None:
            self._unread.discard(self._state.chat_id)
        marks = self._state.answering, frozenset(self._unread)
        if marks != self._list_marks:
            self._list_marks = marks
            self._window.sidebar.list.set_activity(*marks)

    def rename(self, conversation_id: int, title: str) -> None:
        """Set a title that the user typed; an empty title is ignored."""
        if title.strip():
            self._attempt(lambda: self._store.rename_conversation(conversation_id, title.strip()))
        renamed = self._attempt(lambda: self._store.title(conversation_id))
        if renamed is not None and conversation_id == self._state.chat_id:
            self._window.name_conversation(renamed)
        self.refresh()

    def change(self, layer: Layer, values: Mapping[str, SettingValue]) -> None:
        """Set values of the open chat or its model; they apply from the next message on."""
        self._attempt(lambda: self.layers.change(layer, values))
        self.show_settings()

    def reset(self, layer: Layer, keys: Collection[str]) -> None:
        self._attempt(lambda: self.layers.reset(layer, keys))
        self.show_settings()

    def runnable(self, mode: Mode) -> Mode:
        """The mode that can run in place of ``mode``; if it differs, the reason is shown."""
        possible, reason = self._state.models.runnable(mode)
        if reason:
            self._window.show_notice(reason)
        return possible

    def models_changed(self, target: ModelInfo) -> None:
        """Apply the model's settings. A mode that cannot run is replaced until it can run; the reason is shown."""
        before = self._state.chat.mode
        self.layers.use_target(target)
        reason = self.show_settings()
        if reason and self._state.chat.mode is not before and not target.engine_url:  # else the composer shows it
            self._window.show_notice(reason)

    def show_settings(self) -> str:
        """Show the settings of the open chat; returns why its mode cannot run, else an empty text."""
        held = self.layers.effective()
        mode, reason = self._state.models.runnable(Mode(held.text("mode")))
        self._window.composer.set_mode(mode)
        self._window.composer.set_overflow(held.text("overflow"))
        self._window.chat_settings.set_view(self.layers.view(), self._state.chat_id)
        self._state.set_chat_settings(held, mode)
        return reason


APPEARANCE = frozenset({"theme", "text_size"})


class ChatSettingsController(PartsController):
    def __init__(self, parts: Parts, conversations: ConversationController) -> None:
        super().__init__(parts)
        self._conversations = conversations
        self.presets = Presets(parts.paths.presets_file, parts.window.show_problem)
        self.prompts = Prompts(parts.paths.prompts_file, builtin_prompts(), parts.window.show_problem)
        found = (*conversations.problems, self.presets.problem, self.prompts.problem)
        self.problems = tuple(problem for problem in found if problem is not None)
        wants = self._window.chat_settings
        self._window.dialogs.saved.connect(self._keeper.change)
        self._state.settings_changed.connect(self._on_settings)
        wants.set_presets(self.presets.all)
        wants.set_prompts(self.prompts.all)
        wants.changed.connect(self._on_changed)
        wants.reset.connect(self._on_reset)
        wants.preset_saved.connect(lambda name, values: self._with_presets(lambda: self.presets.save(name, values)))
        wants.preset_renamed.connect(lambda old, new: self._with_presets(lambda: self.presets.rename(old, new)))
        wants.preset_deleted.connect(lambda name: self._with_presets(lambda: self.presets.delete(name)))
        wants.prompts_changed.connect(self.prompts.replace)
        wants.prompts_changed.connect(lambda _prompts: wants.set_prompts(self.prompts.all))

    def show(self) -> None:
        self._on_settings(APPEARANCE)

    def _on_settings(self, changed: Collection[str]) -> None:
        window, settings = self._window, self._state.settings
        window.set_settings(settings.values)
        looks = {"theme": window.set_theme, "text_size": window.set_text_size}
        for key in APPEARANCE.intersection(changed):
            looks[key](settings.text(key))
        if "learn_past" in changed and not settings.values["learn_past"]:
            self._worker.submit(ForgetPast())

    def _on_changed(self, layer: Layer, values: Mapping[str, SettingValue]) -> None:
        if layer is Layer.GLOBAL:
            self._keeper.change(values)
            return
        self._conversations.change(layer, values)
        if values.get("learn_past") is False:
            self._worker.submit(ForgetPast())  # the index of past answers does not separate chats

    def _on_reset(self, layer: Layer, keys: Collection[str]) -> None:
        if layer is Layer.GLOBAL:
            self._keeper.change({key: DEFAULTS[key] for key in keys})
        else:
            self._conversations.reset(layer, keys)

    def _with_presets(self, action: Callable[[], object]) -> None:
        try:
            action()
        except PresetError as error:
            self._window.show_problem(error.problem)
        self._window.chat_settings.set_presets(self.presets.all)
