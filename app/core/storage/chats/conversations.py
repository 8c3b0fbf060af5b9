"""The SQL statements on conversations."""

import logging
import sqlite3
from datetime import datetime, timedelta

from app.core.domain.conversations import ConversationRow
from app.core.domain.engines import HOST_SEPARATOR, is_local_url
from app.core.domain.messages import EPOCH
from app.core.storage.chats import index

log = logging.getLogger(__name__)

_LATEST_US = 230 * 365 * 86_400_000_000  # a damaged file may contain an impossible date

_LISTED = """
    SELECT id, title, updated_at, pinned, archived, folder_id, place
    FROM conversations WHERE deleted_at IS NULL ORDER BY updated_at DESC, id DESC
"""
_REMOTE = "SELECT DISTINCT conversation_id, target FROM messages WHERE instr(target, ' @ ') > 0"


def to_us(moment: datetime) -> int:
    """Microseconds since 1970, exactly."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def from_us(microseconds: int) -> datetime:
    """The time in UTC, limited to 1970 to 2199."""
    return EPOCH + timedelta(microseconds=min(max(microseconds, 0), _LATEST_US))


def insert_conversation(db: sqlite3.Connection, title: str, now: datetime) -> int:
    """Insert a conversation; returns its id, which is never reused."""
    sql = "INSERT INTO conversations (title, created_at, updated_at, mode) VALUES (?, ?, ?, '')"
    conversation_id = int(db.execute(sql, (title, to_us(now), to_us(now))).lastrowid or 0)
    index.TITLES.add(db, conversation_id)
    return conversation_id


def set_title(db: sqlite3.Connection, conversation_id: int, title: str) -> None:
    """Set the title that the user wrote; it is never replaced by a generated one."""
    with index.TITLES.changed(db, conversation_id):
        db.execute("UPDATE conversations SET title = ?, title_by_user = 1 WHERE id = ?", (title, conversation_id))


def title_if_unnamed(db: sqlite3.Connection, conversation_id: int, title: str) -> None:
    sql = "UPDATE conversations SET title = ? WHERE id = ? AND title = '' AND title_by_user = 0"
    with index.TITLES.changed(db, conversation_id):
        db.execute(sql, (title, conversation_id))


def delete_conversation(db: sqlite3.Connection, conversation_id: int) -> None:
    """Delete a conversation with all its messages and unsent text."""
    of_messages = "message_id IN (SELECT id FROM messages WHERE conversation_id = ?)"
    index.ATTACHMENTS.forget(db, conversation_id, of_messages)
    index.MESSAGES.forget(db, conversation_id, "conversation_id = ?")
    index.TITLES.forget(db, conversation_id)
    db.execute("DELETE FROM unsent WHERE conversation_id = ?", (conversation_id,))
    index.ATTACHMENTS.forget(db, conversation_id, "unsent_of = ?")
    db.execute("DELETE FROM attachments WHERE unsent_of = ?", (conversation_id,))
    db.execute("DELETE FROM conversations WHERE id = ?", (conversation_id,))


def list_conversations(db: sqlite3.Connection) -> tuple[ConversationRow, ...]:
    """List all conversations, last changed first."""
    away = _with_remote_answers(db)
    return tuple(
        ConversationRow(number, title, from_us(updated), bool(pinned), bool(archived), folder_id, place, number in away)
        for number, title, updated, pinned, archived, folder_id, place in db.execute(_LISTED)
    )


def _with_remote_answers(db: sqlite3.Connection) -> frozenset[int]:
    """Conversations with answers of remote servers; empty if messages are damaged, so that the list can be shown."""
    try:
        return frozenset(
            number
            for number, target in db.execute(_REMOTE)
            if not is_local_url(f"http://{target.rpartition(HOST_SEPARATOR)[2]}")
        )
    except sqlite3.DatabaseError:
        log.warning("which conversations were answered elsewhere cannot be read: the file is damaged")
        return frozenset()


def find_latest(db: sqlite3.Connection, wanted: int | None = None) -> int | None:
    """Find ``wanted``, else the conversation that changed last; None if there is none outside the archive."""
    sql = (
        "SELECT id FROM conversations WHERE archived = 0 AND deleted_at IS NULL "
        "ORDER BY id IS ? DESC, updated_at DESC, id DESC LIMIT 1"
    )
    row = db.execute(sql, (wanted,)).fetchone()
    return int(row[0]) if row else None


def title_of(db: sqlite3.Connection, conversation_id: int) -> str | None:
    """The title of a conversation; None if it is gone."""
    sql = "SELECT title FROM conversations WHERE id = ? AND deleted_at IS NULL"
    row = db.execute(sql, (conversation_id,)).fetchone()
    return str(row[0]) if row else None


def set_updated(db: sqlite3.Connection, conversation_id: int, now: datetime) -> None:
    db.execute("UPDATE conversations SET updated_at = ? WHERE id = ?", (to_us(now), conversation_id))
