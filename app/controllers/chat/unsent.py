"""The unsent text of the composer: kept for each conversation, also over a crash."""

from __future__ import annotations

import logging
import sqlite3
from concurrent.futures import Future

from PySide6.QtCore import QObject, Signal

from app.controllers.debounce import DebounceTimer
from app.controllers.parts import Parts
from app.core.domain.errors import StorageError

log = logging.getLogger(__name__)


class UnsentController(QObject):
    """Follows the composer; writes a moment after the last key, and at once when another conversation is opened.

    Signals:
        opened(object): the id of the conversation whose unsent message is shown now, or None; again when it was sent.
    """

    opened = Signal(object)

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self._window = parts.window
        self._library = parts.store.library
        self._conversation_id: int | None = None
        self._kept = ""
        self._timer = DebounceTimer(self)
        self._timer.timeout.connect(self.keep)
        parts.window.draft_text_changed.connect(self._on_text)

    def open(self, conversation_id: int | None) -> None:
        """Put the unsent text of a conversation into the composer; None is the chat without a message."""
        if conversation_id == self._conversation_id and self._window.composer.text:
            self.opened.emit(conversation_id)
            return
        self.keep()
        self._conversation_id = conversation_id
        try:
            self._kept = self._library.unsent(conversation_id)
        except StorageError as error:
            log.warning("An unsent text could not be read: %s", error.message)
            self._kept = ""
        if self._window.composer.text != self._kept:
            self._window.composer.set_text(self._kept)
        self._timer.stop()
        self.opened.emit(conversation_id)

    def sent(self, conversation_id: int | None) -> None:
        """Note that the text was sent: it is forgotten in the file already."""
        self._timer.stop()
        self._conversation_id, self._kept = conversation_id, ""
        if self._window.composer.text:
            self._timer.start()
        self.opened.emit(conversation_id)

    def keep(self) -> None:
        """Write what stands there now, without waiting for the disk."""
        self._timer.stop()
        text = self._window.composer.text
        if text != self._kept:
            self._kept = text
            try:
                self._library.keep_unsent(self._conversation_id, text).add_done_callback(log_failure)
            except StorageError as error:
                log.warning("An unsent text could not be kept: %s", error.message)

    def _on_text(self, _text: str) -> None:
        self._timer.changed()


def log_failure(done: Future[None]) -> None:
    """Log why unsent text could not be stored; the disk watcher reports problems of the disk."""
    error = done.exception()
    if isinstance(error, sqlite3.Error | StorageError):
        log.warning("An unsent text could not be kept: %s", error)
