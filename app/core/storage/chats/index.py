"""Keeps the full-text indexes up to date, in the transaction that changes a title, a message or an attachment.

An external-content index of FTS5 must be given the old words to forget them, before they change. What is stored has two
indexes: one of words, and one of letters for writing without spaces (`app.core.domain.unspaced`), which holds only what
has such letters.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Indexed:
    """A column that is searched: ``words`` and ``letters`` are its indexes. ``where``: only these rows are in them."""

    table: str
    column: str
    words: str
    words_column: str
    letters: str
    where: str = "1"

    def add(self, db: sqlite3.Connection, which: str, value: int | None = None) -> None:
        """Take in the rows for which ``which`` holds, with ``value`` in the place of its question mark."""
        self._update(db, which, value, forget=False)

    def forget(self, db: sqlite3.Connection, which: str, value: int | None = None) -> None:
        """Forget such rows, before they change or go."""
        self._update(db, which, value, forget=True)

    def rebuild(self, db: sqlite3.Connection) -> None:
        """Make both indexes anew from what is stored."""
        db.execute(f"INSERT INTO {self.words} ({self.words}) VALUES ('rebuild')")  # noqa: S608 (constants)
        # A rebuilt index holds all rows.
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


# An answer in the making is not in the index: its words would be forgotten and learnt again four times a second.
_MESSAGES = _Indexed("messages", "text", "found_messages", "text", "found_letters_messages", "state <> 'streaming'")
_TITLES = _Indexed("conversations", "title", "found_titles", "title", "found_letters_titles")
_ATTACHMENTS = _Indexed("attachment_words", "text", "found_attachments", "text", "found_letters_attachments")


def add_message(db: sqlite3.Connection, message_id: int) -> None:
    """Take in a message that is new, or has new words."""
    _MESSAGES.add(db, "id = ?", message_id)


def forget_message(db: sqlite3.Connection, message_id: int) -> None:
    """Forget a message before its words change or go."""
    _MESSAGES.forget(db, "id = ?", message_id)


def forget_messages_of(db: sqlite3.Connection, conversation_id: int) -> None:
    """Forget all messages of a conversation, and what is attached to them, before they go."""
    _ATTACHMENTS.forget(db, "message_id IN (SELECT id FROM messages WHERE conversation_id = ?)", conversation_id)
    _MESSAGES.forget(db, "conversation_id = ?", conversation_id)


def add_attachment(db: sqlite3.Connection, attachment_id: int) -> None:
    """Take in an attachment that is new; it is found once its message is sent."""
    _ATTACHMENTS.add(db, "id = ?", attachment_id)


def forget_attachment(db: sqlite3.Connection, attachment_id: int) -> None:
    """Forget one attachment before it goes."""
    _ATTACHMENTS.forget(db, "id = ?", attachment_id)


def forget_attachments_of(db: sqlite3.Connection, message_id: int) -> None:
    """Forget what is attached to a message before both go."""
    _ATTACHMENTS.forget(db, "message_id = ?", message_id)


def forget_unsent_of(db: sqlite3.Connection, conversation_id: int) -> None:
    """Forget what is attached to an unsent message before it goes."""
    _ATTACHMENTS.forget(db, "unsent_of = ?", conversation_id)


def add_title(db: sqlite3.Connection, conversation_id: int) -> None:
    """Take in a title that is new."""
    _TITLES.add(db, "id = ?", conversation_id)


def forget_title(db: sqlite3.Connection, conversation_id: int) -> None:
    """Forget a title before it changes or goes."""
    _TITLES.forget(db, "id = ?", conversation_id)


def rebuild(db: sqlite3.Connection) -> None:
    """Make the indexes anew from what is stored, where they were damaged."""
    for indexed in (_MESSAGES, _TITLES, _ATTACHMENTS):
        indexed.rebuild(db)
