"""Updates the full-text indexes, in the transaction that changes a title, a message or an attachment.

FTS5 with external content removes a row by its indexed text, so rows are removed before their text changes. There are
two indexes: one of words, and one of letters for texts in scripts without spaces (`app.core.domain.unspaced`).
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _SearchIndex:
    """An indexed column. ``words`` and ``letters``: its indexes. ``where`` selects the rows to index."""

    table: str
    column: str
    words: str
    words_column: str
    letters: str
    where: str = "1"

    def add(self, db: sqlite3.Connection, which: str, value: int | None = None) -> None:
        """Add the rows that match the condition ``which``; ``value`` is its parameter."""
        self._update(db, which, value, forget=False)

    def forget(self, db: sqlite3.Connection, which: str, value: int | None = None) -> None:
        """Remove the rows that match ``which``, before they change or are deleted."""
        self._update(db, which, value, forget=True)

    def rebuild(self, db: sqlite3.Connection) -> None:
        db.execute(f"INSERT INTO {self.words} ({self.words}) VALUES ('rebuild')")  # noqa: S608 (constants)
        # FTS5's rebuild adds all rows, including those that ``where`` excludes: remove these again.
        self._update_one(db, (self.words, self.words_column, self.column), f"NOT ({self.where})", None, forget=True)
        db.execute(f"INSERT INTO {self.letters} ({self.letters}) VALUES ('delete-all')")  # noqa: S608
        self._update_letters(db, self.where, None, forget=False)

    def _update(self, db: sqlite3.Connection, which: str, value: int | None, *, forget: bool) -> None:
        which = f"{self.where} AND {which}"
        self._update_one(db, (self.words, self.words_column, self.column), which, value, forget=forget)
        self._update_letters(db, which, value, forget=forget)

    def _update_letters(self, db: sqlite3.Connection, which: str, value: int | None, *, forget: bool) -> None:
        index = (self.letters, "text", f"spaced({self.column})")
        self._update_one(db, index, f"{which} AND has_unspaced({self.column})", value, forget=forget)

    def _update_one(
        self, db: sqlite3.Connection, index: tuple[str, str, str], which: str, value: int | None, *, forget: bool
    ) -> None:
        name, column, words = index
        columns, values = f"rowid, {column}", f"id, {words}"
        if forget:
            columns, values = f"{name}, {columns}", f"'delete', {values}"
        sql = f"INSERT INTO {name} ({columns}) SELECT {values} FROM {self.table} WHERE {which}"  # noqa: S608 (constants)
        db.execute(sql, () if value is None else (value,))


# Streaming answers are not indexed: their text changes four times a second.
_MESSAGES = _SearchIndex("messages", "text", "found_messages", "text", "found_letters_messages", "state <> 'streaming'")
_TITLES = _SearchIndex("conversations", "title", "found_titles", "title", "found_letters_titles")
_ATTACHMENTS = _SearchIndex("attachment_words", "text", "found_attachments", "text", "found_letters_attachments")


def add_message(db: sqlite3.Connection, message_id: int) -> None:
    """Add a new or changed message."""
    _MESSAGES.add(db, "id = ?", message_id)


def forget_message(db: sqlite3.Connection, message_id: int) -> None:
    """Remove a message before its text changes or it is deleted."""
    _MESSAGES.forget(db, "id = ?", message_id)


def forget_messages_of(db: sqlite3.Connection, conversation_id: int) -> None:
    """Remove all messages of a conversation and their attachments before they are deleted."""
    _ATTACHMENTS.forget(db, "message_id IN (SELECT id FROM messages WHERE conversation_id = ?)", conversation_id)
    _MESSAGES.forget(db, "conversation_id = ?", conversation_id)


def add_attachment(db: sqlite3.Connection, attachment_id: int) -> None:
    """Add a new attachment; searches find it when its message is sent."""
    _ATTACHMENTS.add(db, "id = ?", attachment_id)


def forget_attachment(db: sqlite3.Connection, attachment_id: int) -> None:
    """Remove an attachment before it is deleted."""
    _ATTACHMENTS.forget(db, "id = ?", attachment_id)


def forget_attachments_of(db: sqlite3.Connection, message_id: int) -> None:
    """Remove the attachments of a message before they are deleted."""
    _ATTACHMENTS.forget(db, "message_id = ?", message_id)


def forget_unsent_of(db: sqlite3.Connection, conversation_id: int) -> None:
    """Remove the attachments of an unsent message before they are deleted."""
    _ATTACHMENTS.forget(db, "unsent_of = ?", conversation_id)


def add_title(db: sqlite3.Connection, conversation_id: int) -> None:
    _TITLES.add(db, "id = ?", conversation_id)


def forget_title(db: sqlite3.Connection, conversation_id: int) -> None:
    _TITLES.forget(db, "id = ?", conversation_id)


def rebuild(db: sqlite3.Connection) -> None:
    """Rebuild damaged indexes."""
    for indexed in (_MESSAGES, _TITLES, _ATTACHMENTS):
        indexed.rebuild(db)
