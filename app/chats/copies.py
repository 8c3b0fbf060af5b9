"""A conversation once more, with all its branches, on an open connection. Knows no thread and no file."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from app.chats import attachments, index, rows, summaries

_COPY = """
    INSERT INTO messages
        (conversation_id, parent_id, position, role, text, state, created_at, stats, spans, notice, cut,
        target, draft, thinking_ms)
    SELECT ?, ?, position, role, text, CASE state WHEN 'streaming' THEN 'interrupted' ELSE state END,
        created_at, stats, spans, notice, cut, target, draft, thinking_ms
    FROM messages WHERE id = ?
"""


def duplicate(db: sqlite3.Connection, conversation_id: int, now: datetime) -> int | None:
    """Copy a conversation; return the copy's id, None where there is nothing to copy.

    An answer in the making is copied as far as it is written, as one that was interrupted.
    """
    source = rows.read_conversation(db, conversation_id)
    if source is None:
        return None
    copy = rows.insert_conversation(db, f"{source.title} (copy)", source.mode, source.depth, now)
    db.execute(
        "UPDATE conversations SET title_by_user = 1, (folder_id, place, options) = "
        "(SELECT folder_id, place, options FROM conversations WHERE id = ?) WHERE id = ?",
        (conversation_id, copy),
    )
    links = db.execute(
        "SELECT id, parent_id, shown_child FROM messages WHERE conversation_id = ? ORDER BY id", (conversation_id,)
    ).fetchall()
    new_ids: dict[int | None, int] = {}
    for message_id, parent_id, _ in links:
        new_ids[message_id] = int(db.execute(_COPY, (copy, new_ids.get(parent_id), message_id)).lastrowid or 0)
        index.add_message(db, new_ids[message_id])
        attachments.copy(db, message_id, new_ids[message_id])
        summaries.copy(db, message_id, new_ids[message_id])
    for message_id, _, shown_child in links:
        db.execute("UPDATE messages SET shown_child = ? WHERE id = ?", (new_ids.get(shown_child), new_ids[message_id]))
    root = db.execute("SELECT shown_root FROM conversations WHERE id = ?", (conversation_id,)).fetchone()[0]
    db.execute("UPDATE conversations SET shown_root = ? WHERE id = ?", (new_ids.get(root), copy))
    return copy
