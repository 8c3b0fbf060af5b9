"""The conversation list and the one that is open: new, select, rename, delete, and its mode and depth.

Knows the window and the store; knows no engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from app.chats.store import Turn
from app.errors import StorageError
from app.parts import Parts
from app.unsent_controller import UnsentController
from engine.records import Mode
from ui.records import MessageState, MessageView

Result = TypeVar("Result")


class ConversationController:
    """``current_id`` is None in a chat that has no message yet: it is stored with its first one.

    ``runnable`` gives the mode that can run in place of a wanted one, and why.
    """

    def __init__(self, parts: Parts, runnable: Callable[[Mode], tuple[Mode, str]]) -> None:
        self._runnable = runnable
        self._window = parts.window
        self._store = parts.store
        self._keeper = parts.keeper
        self.current_id: int | None = None
        self.unsent = UnsentController(parts)
        self._wanted_mode = Mode(self._keeper.current.text("mode"))
        self.mode = self._wanted_mode
        self.depth = self._keeper.current.whole("depth")

    def start(self) -> None:
        """Show the list, and the conversation that changed last."""
        latest = self._tell(self._store.latest_conversation)
        if latest is None:
            self.new_chat()
        else:
            self.select(latest)

    def refresh(self) -> None:
        """Show the list as it is stored."""
        listed = self._tell(self._store.conversations)
        folders = self._tell(self._store.library.folders)
        if listed is not None:
            self._window.set_conversations(listed, self.current_id, folders)

    def new_chat(self) -> None:
        """Open an empty chat, in the mode of the settings."""
        self.current_id = None
        self._show_mode(Mode(self._keeper.current.text("mode")), self._keeper.current.whole("depth"))
        self._window.show_conversation("", ())
        self.unsent.open(None)
        self.refresh()

    def select(self, conversation_id: int) -> None:
        """Open a stored conversation, in the mode it was last in."""
        conversation = self._tell(lambda: self._store.conversation(conversation_id))
        if conversation is None:
            self.new_chat()
            return
        self.current_id = conversation_id
        self._show_mode(conversation.mode, conversation.depth)
        self.show(conversation.title)
        self.unsent.open(conversation_id)
        self.refresh()

    def show(self, title: str | None = None) -> None:
        """Show the open conversation's messages again; an answer in the making goes on growing there."""
        conversation_id = self.current_id
        if conversation_id is None:
            return
        if title is None:
            conversation = self._tell(lambda: self._store.conversation(conversation_id))
            title = conversation.title if conversation else ""
        views = self._tell(lambda: self._store.messages(conversation_id)) or ()
        growing = views[-1] if views and views[-1].state is MessageState.STREAMING else None
        self._window.show_conversation(title, views[:-1] if growing else views)
        if growing:
            self._show_growing(growing)

    def opened(self, turn: Turn) -> None:
        """Note that the open chat was stored with its first turn, and show it with its name."""
        self.current_id = turn.conversation_id
        self._window.show_conversation(turn.title, turn.history)
        self.unsent.sent(turn.conversation_id)

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation the user's title; an empty one is not taken."""
        if title.strip():
            self._tell(lambda: self._store.rename_conversation(conversation_id, title.strip()))
        if conversation_id == self.current_id:
            self.show()
        self.refresh()


    def change_mode(self, mode: Mode, depth: int | None) -> None:
        """Use another mode or depth from the next message on, here and in new chats."""
        self._wanted_mode = self.mode = mode
        self.depth = depth
        self._keeper.change({"mode": mode.value, "depth": depth})
        conversation_id = self.current_id
        if conversation_id is not None:
            self._tell(lambda: self._store.set_conversation_mode(conversation_id, mode, depth))

    def runnable(self, mode: Mode) -> Mode:
        """Give the mode that can run in place of a wanted one; where it is another, say why."""
        possible, reason = self._runnable(mode)
        if reason:
            self._window.show_notice(reason)
        return possible

    def models_changed(self) -> None:
        """Leave a mode that cannot run now, and say why; come back to it when it can again."""
        before = self.mode
        reason = self._show_mode(self._wanted_mode, self.depth)
        if reason and self.mode is not before:
            self._window.show_notice(reason)

    def _show_mode(self, mode: Mode, depth: int | None) -> str:
        self._wanted_mode = mode
        self.mode, reason = self._runnable(mode)
        self.depth = depth
        self._window.set_mode(self.mode)
        self._window.set_depth(depth)
        return reason

    def _show_growing(self, view: MessageView) -> None:
        self._window.begin_answer(replace(view, text="", spans=()))
        if view.text:
            self._window.append_text(view.text, view.spans)

    def _tell(self, job: Callable[[], Result]) -> Result | None:
        try:
            return job()
        except StorageError as error:
            self._window.show_problem(error.problem)
            return None
