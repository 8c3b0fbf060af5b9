"""Sent messages that somebody is editing: what stands in the editor, by message. It goes with its message.

Owns the table `edits`; on which thread its statements run is the store's affair.
"""

from __future__ import annotations

import sqlite3
from concurrent.futures import Future

from app.chats.writer import Access


class Edits:
    """What was typed into messages and is not sent."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def keep(self, message_id: int, text: str) -> Future[None]:
        """Remember what stands in a message's editor, without waiting; empty forgets it."""
        return self._access.post(lambda db: write(db, message_id, text))

    def of_conversation(self, conversation_id: int) -> dict[int, str]:
        """Give the texts of a conversation's editors, in all its branches, by message."""
        sql = (
            "SELECT message_id, edits.text FROM edits JOIN messages ON messages.id = message_id "
            "WHERE conversation_id = ?"
        )
        return self._access.read(lambda db: {int(key): str(text) for key, text in db.execute(sql, (conversation_id,))})


def write(db: sqlite3.Connection, message_id: int, text: str) -> None:
    """Remember or forget a text; nothing happens where its message is gone."""
    if text:
        db.execute(
            "INSERT OR REPLACE INTO edits (message_id, text) SELECT id, ? FROM messages WHERE id = ?",
            (text, message_id),
        )
    else:
        db.execute("DELETE FROM edits WHERE message_id = ?", (message_id,))
