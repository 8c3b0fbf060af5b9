"""Keeps the full-text indexes true: every change of a title or a message is told to them in the same transaction.

An index of this kind must be given the old words to forget them. Knows nothing of looking for words.
"""

from __future__ import annotations

import sqlite3

# An answer in the making is not in the index: its words would be forgotten and learnt again four times a second.
_ADD = "INSERT INTO found_messages (rowid, text) SELECT id, text FROM messages WHERE state <> 'streaming' AND "
_FORGET = (
    "INSERT INTO found_messages (found_messages, rowid, text) "
    "SELECT 'delete', id, text FROM messages WHERE state <> 'streaming' AND "
)
_ADD_TITLE = "INSERT INTO found_titles (rowid, title) SELECT id, title FROM conversations WHERE id = ?"
_FORGET_TITLE = (
    "INSERT INTO found_titles (found_titles, rowid, title) SELECT 'delete', id, title FROM conversations WHERE id = ?"
)


def add_message(db: sqlite3.Connection, message_id: int) -> None:
    """Take in a message that is new, or has new words."""
    db.execute(_ADD + "id = ?", (message_id,))


def forget_message(db: sqlite3.Connection, message_id: int) -> None:
    """Forget a message before its words change or go."""
    db.execute(_FORGET + "id = ?", (message_id,))


def forget_messages_of(db: sqlite3.Connection, conversation_id: int) -> None:
    """Forget all messages of a conversation before they go."""
    db.execute(_FORGET + "conversation_id = ?", (conversation_id,))


def add_title(db: sqlite3.Connection, conversation_id: int) -> None:
    """Take in a title that is new."""
    db.execute(_ADD_TITLE, (conversation_id,))


def forget_title(db: sqlite3.Connection, conversation_id: int) -> None:
    """Forget a title before it changes or goes."""
    db.execute(_FORGET_TITLE, (conversation_id,))


def rebuild(db: sqlite3.Connection) -> None:
    """Make the indexes anew from what is stored, where they were damaged."""
    db.execute("INSERT INTO found_messages (found_messages) VALUES ('rebuild')")
    db.execute("INSERT INTO found_titles (found_titles) VALUES ('rebuild')")
    # A rebuilt index holds all messages; answers in the making do not belong into it.
    db.execute(
        "INSERT INTO found_messages (found_messages, rowid, text) "
        "SELECT 'delete', id, text FROM messages WHERE state = 'streaming'"
    )
