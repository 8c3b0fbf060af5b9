"""Keeps the full-text indexes up to date, in the transaction that changes a title, a message or an attachment.

An external-content index of FTS5 must be given the old words to forget them, before they change.
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

_FORGET_ATTACHMENTS = """
    INSERT INTO found_attachments (found_attachments, rowid, text)
    SELECT 'delete', id, text FROM attachment_words WHERE
"""


def add_message(db: sqlite3.Connection, message_id: int) -> None:
    """Take in a message that is new, or has new words."""
    db.execute(_ADD + "id = ?", (message_id,))


def forget_message(db: sqlite3.Connection, message_id: int) -> None:
    """Forget a message before its words change or go."""
    db.execute(_FORGET + "id = ?", (message_id,))


def forget_messages_of(db: sqlite3.Connection, conversation_id: int) -> None:
    """Forget all messages of a conversation, and what is attached to them, before they go."""
    messages = "message_id IN (SELECT id FROM messages WHERE conversation_id = ?)"
    db.execute(_FORGET_ATTACHMENTS + messages, (conversation_id,))
    db.execute(_FORGET + "conversation_id = ?", (conversation_id,))


def add_attachment(db: sqlite3.Connection, attachment_id: int) -> None:
    """Take in an attachment that is new; it is found once its message is sent."""
    sql = "INSERT INTO found_attachments (rowid, text) SELECT id, text FROM attachment_words WHERE id = ?"
    db.execute(sql, (attachment_id,))


def forget_attachment(db: sqlite3.Connection, attachment_id: int) -> None:
    """Forget one attachment before it goes."""
    db.execute(_FORGET_ATTACHMENTS + "id = ?", (attachment_id,))


def forget_attachments_of(db: sqlite3.Connection, message_id: int) -> None:
    """Forget what is attached to a message before both go."""
    db.execute(_FORGET_ATTACHMENTS + "message_id = ?", (message_id,))


def forget_unsent_of(db: sqlite3.Connection, conversation_id: int) -> None:
    """Forget what is attached to an unsent message before it goes."""
    db.execute(_FORGET_ATTACHMENTS + "unsent_of = ?", (conversation_id,))


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
    db.execute("INSERT INTO found_attachments (found_attachments) VALUES ('rebuild')")
    # A rebuilt index holds all messages; answers in the making do not belong into it.
    db.execute(
        "INSERT INTO found_messages (found_messages, rowid, text) "
        "SELECT 'delete', id, text FROM messages WHERE state = 'streaming'"
    )
