"""Summaries that replace the messages of a chat up to and including one of them."""

import sqlite3


def of_conversation(db: sqlite3.Connection, conversation_id: int) -> dict[int, str]:
    """The summaries in all branches of a conversation, by the last message that each covers."""
    sql = (
        "SELECT message_id, summaries.text FROM summaries JOIN messages ON messages.id = message_id "
        "WHERE conversation_id = ?"
    )
    return {int(number): str(text) for number, text in db.execute(sql, (conversation_id,))}


def put(db: sqlite3.Connection, message_id: int, text: str) -> None:
    """Store a summary of all messages up to and including ``message_id``; ignored if the message does not exist."""
    sql = "INSERT OR REPLACE INTO summaries (message_id, text) SELECT id, ? FROM messages WHERE id = ?"
    db.execute(sql, (text, message_id))


def remove(db: sqlite3.Connection, message_id: int) -> None:
    db.execute("DELETE FROM summaries WHERE message_id = ?", (message_id,))
