"""Saves unsent text so that it survives a crash: the composer's text and edits of sent messages."""

import logging
import sqlite3
from collections.abc import Sequence
from concurrent.futures import Future

from PySide6.QtCore import Signal

from app.controllers.parts import DebounceTimer, Parts, PartsController
from app.core.domain.errors import StorageError
from ui.text.language import mark, translate

log = logging.getLogger(__name__)

UNFINISHED = mark("EditsController", "You are still editing a message in this chat; your text is there.")


class UnsentController(PartsController):
    """Saves the composer's text after a pause in typing, and at once when another chat is opened."""

    opened = Signal(object)  # id of the shown chat, or None; also emitted after sending

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._library = parts.store.library
        self._conversation_id: int | None = None
        self._stored_text = ""
        self._timer = DebounceTimer(self)
        self._timer.timeout.connect(self.save)
        parts.window.composer.text_changed.connect(self._on_text)

    def open(self, conversation_id: int | None) -> None:
        """Show the unsent text of a chat in the composer. None: the new chat, which is not stored yet."""
        if conversation_id == self._conversation_id and self._window.composer.text:
            self.opened.emit(conversation_id)
            return
        self.save()
        self._conversation_id = conversation_id
        try:
            self._stored_text = self._library.unsent(conversation_id)
        except StorageError as error:
            log.warning("An unsent text could not be read: %s", error.message)
            self._stored_text = ""
        if self._window.composer.text != self._stored_text:
            self._window.composer.set_text(self._stored_text)
        self._timer.stop()
        self.opened.emit(conversation_id)

    def sent(self, conversation_id: int | None) -> None:
        """Called when the text was sent; the store has already removed it."""
        self._timer.stop()
        self._conversation_id, self._stored_text = conversation_id, ""
        if self._window.composer.text:
            self._timer.start()
        self.opened.emit(conversation_id)

    def save(self) -> None:
        self._timer.stop()
        text = self._window.composer.text
        if text != self._stored_text:
            self._stored_text = text
            try:
                self._library.save_unsent(self._conversation_id, text).add_done_callback(_log_failure)
            except StorageError as error:
                log.warning("An unsent text could not be kept: %s", error.message)

    def _on_text(self, _text: str) -> None:
        self._timer.restart()


class EditsController(PartsController):
    """Saves open edits of messages after a pause in typing, and at once when another chat is opened."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._edits = parts.store.edits
        self._typed: dict[int, str] = {}  # typed text by message, not saved yet
        self._conversation_id: int | None = None
        self._save_timer = DebounceTimer(self)
        self._save_timer.timeout.connect(self.save)
        self._window.transcript.edit_typed.connect(self._on_typed)

    def open(self, conversation_id: int | None, message_ids: Sequence[int] = ()) -> None:
        """Restore the open edits of a chat, before its messages are shown."""
        self.save()
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
        """Called when an edited message was sent; the store has already removed its text."""
        self._typed.pop(message_id, None)

    def save(self) -> None:
        self._save_timer.stop()
        typed, self._typed = self._typed, {}
        for message_id, text in typed.items():
            try:
                self._edits.save(message_id, text).add_done_callback(_log_failure)
            except StorageError as error:
                log.warning("An edited message could not be kept: %s", error.message)

    def _on_typed(self, message_id: int, text: str) -> None:
        self._typed[message_id] = text
        self._save_timer.restart()


def _log_failure(done: Future[None]) -> None:
    """Log a failed save; `DiskSpaceController` reports a full disk."""
    error = done.exception()
    if isinstance(error, sqlite3.Error | StorageError):
        log.warning("An unsent text could not be kept: %s", error)
