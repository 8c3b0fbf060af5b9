"""The unsent edits of sent messages: kept while they are typed, in an editor again when the chat is opened."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from PySide6.QtCore import QObject

from app.controllers.chat.unsent import log_failure
from app.controllers.debounce import DebounceTimer
from app.controllers.parts import Parts
from app.core.domain.errors import StorageError
from ui.text.language import mark, translate

log = logging.getLogger(__name__)

UNFINISHED = mark("EditsController", "You are still editing a message in this chat; your text is there.")


class EditsController(QObject):
    """Follows the editors of the open chat; writes a moment after the last key, and at once when another is opened."""

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self._window = parts.window
        self._edits = parts.store.edits
        self._typed: dict[int, str] = {}  # what is not given to the store yet
        self._conversation_id: int | None = None
        self._soon = DebounceTimer(self)
        self._soon.timeout.connect(self.keep)
        self._window.transcript.edit_typed.connect(self._on_typed)

    def open(self, conversation_id: int | None, message_ids: Sequence[int] = ()) -> None:
        """Have the page open the editors of a chat with these messages, which it is about to show."""
        self.keep()
        found: dict[int, str] = {}
        if conversation_id is not None:
            try:
                found = self._edits.of_conversation(conversation_id)
            except StorageError as error:
                log.warning("Unsent edits could not be read: %s", error.message)
        self._window.transcript.edits = found
        is_new, self._conversation_id = conversation_id != self._conversation_id, conversation_id
        if is_new and not found.keys().isdisjoint(message_ids):
            self._window.show_notice(translate("EditsController", UNFINISHED))

    def sent(self, message_id: int) -> None:
        """Note that an edited message was sent: its text is forgotten in the file already."""
        self._typed.pop(message_id, None)

    def keep(self) -> None:
        """Write what was typed, without waiting for the disk."""
        self._soon.stop()
        typed, self._typed = self._typed, {}
        for message_id, text in typed.items():
            try:
                self._edits.keep(message_id, text).add_done_callback(log_failure)
            except StorageError as error:
                log.warning("An edited message could not be kept: %s", error.message)

    def _on_typed(self, message_id: int, text: str) -> None:
        self._typed[message_id] = text
        self._soon.changed()
