"""The conversation list and the one that is open: new, select, rename, and the settings that hold for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from app.controllers.chat.edits import EditsController
from app.controllers.chat.layers import ChatLayers
from app.controllers.chat.unsent import UnsentController
from app.controllers.load_requests import load_request
from app.controllers.parts import Parts
from app.core.domain.messages import MessageState, MessageView
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import Layer
from app.core.domain.settings.values import Settings
from app.core.storage.chats.store import StoredTurn
from app.core.storage.model_settings import ModelSettings, model_settings_file
from app.core.storage.window_state import NEW_CHAT, OpenChat
from engine.records import Mode, ModelInfo
from ui.conversations.model import BATCH


class ConversationController:
    """``current_id`` is None in a chat that has no message yet: it is stored with its first one.

    ``runnable`` gives the mode that can run in place of a wanted one, and why.
    """

    def __init__(self, parts: Parts, runnable: Callable[[Mode], tuple[Mode, str]]) -> None:
        self._runnable = runnable
        self._window = parts.window
        self._attempt = parts.attempt
        self._store = parts.store
        self._keeper = parts.keeper
        self._open_chat = OpenChat(parts.paths.open_chat_file)
        self.current_id: int | None = None
        self.on_settings: Callable[[], None] = lambda: None  # other settings hold for the open chat
        self.on_shown: Callable[[], None] = lambda: None  # another conversation, or another path through it
        self.on_listed: Callable[[], None] = lambda: None  # there may be others, or of other names
        self.unsent = UnsentController(parts)
        self.edits = EditsController(parts)
        target = load_request(self._keeper.current).target
        models = ModelSettings(model_settings_file(parts.paths.model_settings_file), parts.window.show_problem)
        self.layers = ChatLayers(self._keeper, models, parts.store, target)
        self.problems = (models.problem,) if models.problem is not None else ()
        self._num_first: int | None = None  # the list is shown with the newest so many at first
        self._rest_waits = False
        self.mode = Mode(self.settings.text("mode"))
        self.depth = self.settings.whole("depth")

    @property
    def settings(self) -> Settings:
        """The settings as they hold for the open chat."""
        return self.layers.effective()

    def start(self) -> None:
        """Show the list and the chat that was open last, else the one that changed last.

        The list has what can be scrolled to at first; `list_rest` is to follow the first paint.
        """
        self._num_first = BATCH
        last = self._open_chat.read()
        found = None if last == NEW_CHAT else self._attempt(lambda: self._store.latest_conversation(last))
        if found is None:
            self.new_chat()
        else:
            self.select(found)

    def refresh(self) -> None:
        """Show the list as it is stored."""
        newest, self._num_first = self._num_first, None
        listed = self._attempt(lambda: self._store.conversations(newest))
        self._rest_waits = listed is not None and newest is not None and len(listed) >= newest
        if self._rest_waits and self.current_id not in {None, *(row.id for row in listed or ())}:
            self.refresh()
            return
        folders = self._attempt(self._store.library.folders)
        if listed is not None:
            self._window.set_conversations(listed, self.current_id, folders)
        self.on_listed()

    def list_rest(self) -> None:
        """Show the whole list where it is not yet."""
        if self._rest_waits:
            self.refresh()

    def new_chat(self) -> None:
        """Open an empty chat, with nothing of its own."""
        self._window.chat_settings.flush()  # what was typed there is the chat's before
        self.current_id = None
        self._open_chat.keep(None)
        self.layers.open_new()
        self.show_settings()
        self.edits.open(None)
        self._window.show_conversation("", ())
        self.unsent.open(None)
        self.on_shown()
        self.refresh()

    def select(self, conversation_id: int) -> None:
        """Open a stored conversation, with the settings of its own."""
        self._window.chat_settings.flush()  # what was typed there is the chat's before
        conversation = self._attempt(lambda: self._store.conversation(conversation_id))
        if conversation is None:
            self.new_chat()
            return
        self.current_id = conversation_id
        self._open_chat.keep(conversation_id)
        self._attempt(lambda: self.layers.open(conversation_id))
        self.show_settings()
        self.show(conversation.title)
        self.unsent.open(conversation_id)
        self.refresh()

    def show(self, title: str | None = None) -> None:
        """Show the open conversation's messages again; an answer in the making goes on growing there."""
        conversation_id = self.current_id
        if conversation_id is None:
            return
        if title is None:
            conversation = self._attempt(lambda: self._store.conversation(conversation_id))
            title = conversation.title if conversation else ""
        views = self._attempt(lambda: self._store.messages(conversation_id)) or ()
        streaming = views[-1] if views and views[-1].state is MessageState.STREAMING else None
        self.edits.open(conversation_id, [view.id for view in views])
        self._window.show_conversation(title, views[:-1] if streaming else views)
        if streaming:
            self._show_streaming(streaming)
        self.on_shown()

    def opened(self, turn: StoredTurn) -> None:
        """Note that the open chat was stored with its first turn, and show it with its name."""
        self.current_id = turn.conversation_id
        self._open_chat.keep(turn.conversation_id)
        self._attempt(lambda: self.layers.stored_as(turn.conversation_id))
        self._window.show_conversation(turn.title, turn.history)
        self.unsent.sent(turn.conversation_id)
        self.on_shown()

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation the user's title; an empty one is not taken."""
        if title.strip():
            self._attempt(lambda: self._store.rename_conversation(conversation_id, title.strip()))
        renamed = self._attempt(lambda: self._store.conversation(conversation_id))
        if renamed and conversation_id == self.current_id:
            self._window.name_conversation(renamed.title)
        self.refresh()

    def change(self, layer: Layer, values: Mapping[str, SettingValue]) -> None:
        """Give this chat or its model values of their own, from the next message on."""
        self._attempt(lambda: self.layers.change(layer, values))
        self.show_settings()

    def reset(self, layer: Layer, keys: Collection[str]) -> None:
        """Take values of this chat's or its model's own away."""
        self._attempt(lambda: self.layers.reset(layer, keys))
        self.show_settings()

    def remember_for_model(self) -> None:
        """Let the model have what this chat has of its own."""
        self._attempt(self.layers.remember_for_model)
        self.show_settings()

    def runnable(self, mode: Mode) -> Mode:
        """Give the mode that can run in place of a wanted one; where it is another, say why."""
        possible, reason = self._runnable(mode)
        if reason:
            self._window.show_notice(reason)
        return possible

    def models_changed(self, target: ModelInfo) -> None:
        """Take what the loaded model remembers. A mode that cannot run now is left, and why is said; it comes back."""
        before = self.mode
        self.layers.use_target(target)
        reason = self.show_settings()
        if reason and self.mode is not before and not target.engine_url:  # of those the composer says it
            self._window.show_notice(reason)

    def show_settings(self) -> str:
        """Show the settings as they hold for the open chat; return why its mode cannot run, if it cannot."""
        held = self.settings
        self.mode, reason = self._runnable(Mode(held.text("mode")))
        self.depth = held.whole("depth")
        self._window.set_mode(self.mode)
        self._window.set_depth(self.depth)
        self._window.composer.set_overflow(held.text("overflow"))
        self.on_settings()
        self._window.chat_settings.set_view(self.layers.view(), self.current_id)
        return reason

    def _show_streaming(self, view: MessageView) -> None:
        self._window.begin_answer(replace(view, text="", spans=()))
        if view.text:
            self._window.append_text(view.text, view.spans)
