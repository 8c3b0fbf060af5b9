"""The statements on conversations and messages, each on an open connection. Knows no thread and no file."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.chats.answers import Snapshot
from app.chats.codec import spans_from_text, spans_to_text, stats_from_text, stats_to_text
from engine.records import Mode
from ui.records import ConversationRow, MessageState, MessageView

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is known of a conversation besides its messages."""

    id: int
    title: str
    mode: Mode
    depth: int | None


def to_us(moment: datetime) -> int:
    """Give microseconds since 1970, exactly."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_us(microseconds: int) -> datetime:
    """Give the moment back, in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)


def insert_conversation(db: sqlite3.Connection, title: str, mode: Mode, depth: int | None, now: datetime) -> int:
    """Add a conversation and return its id; ids are never used twice."""
    sql = "INSERT INTO conversations (title, created_at, updated_at, mode, depth) VALUES (?, ?, ?, ?, ?)"
    cursor = db.execute(sql, (title, to_us(now), to_us(now), mode.value, depth))
    return int(cursor.lastrowid or 0)


def set_title(db: sqlite3.Connection, conversation_id: int, title: str) -> None:
    """Give the title that the user wrote; it is never replaced by one of ours."""
    db.execute("UPDATE conversations SET title = ?, title_by_user = 1 WHERE id = ?", (title, conversation_id))


def set_mode(db: sqlite3.Connection, conversation_id: int, mode: Mode, depth: int | None) -> None:
    """Remember the mode and depth that a conversation was last in."""
    db.execute("UPDATE conversations SET mode = ?, depth = ? WHERE id = ?", (mode.value, depth, conversation_id))


def delete_conversation(db: sqlite3.Connection, conversation_id: int) -> None:
    """Remove a conversation with all its messages."""
    db.execute("DELETE FROM conversations WHERE id = ?", (conversation_id,))


def list_conversations(db: sqlite3.Connection) -> tuple[ConversationRow, ...]:
    """List all conversations, the last changed first."""
    rows = db.execute("SELECT id, title, updated_at FROM conversations ORDER BY updated_at DESC, id DESC")
    return tuple(ConversationRow(row[0], row[1], from_us(row[2])) for row in rows)


def read_conversation(db: sqlite3.Connection, conversation_id: int) -> Conversation | None:
    """Read one conversation; None where it is gone. A mode of another version reads as off."""
    sql = "SELECT id, title, mode, depth FROM conversations WHERE id = ?"
    row = db.execute(sql, (conversation_id,)).fetchone()
    if row is None:
        return None
    mode = Mode(row[2]) if row[2] in set(Mode) else Mode.OFF
    return Conversation(row[0], row[1], mode, row[3])


def insert_message(
    db: sqlite3.Connection, conversation_id: int, view: MessageView, now: datetime, replaces: int | None = None
) -> int:
    """Add a message at the end and return its id; the conversation becomes the last changed one."""
    sql = """
        INSERT INTO messages (conversation_id, position, role, text, state, created_at, notice, replaces)
        SELECT ?, coalesce(max(position), -1) + 1, ?, ?, ?, ?, ?, ? FROM messages WHERE conversation_id = ?
    """
    values = (
        conversation_id,
        view.role,
        view.text,
        view.state.value,
        to_us(now),
        view.notice,
        replaces,
        conversation_id,
    )
    cursor = db.execute(sql, values)
    db.execute("UPDATE conversations SET updated_at = ? WHERE id = ?", (to_us(now), conversation_id))
    return int(cursor.lastrowid or 0)


def title_if_unnamed(db: sqlite3.Connection, conversation_id: int, title: str) -> None:
    """Name a conversation that has no name yet."""
    sql = "UPDATE conversations SET title = ? WHERE id = ? AND title = '' AND title_by_user = 0"
    db.execute(sql, (title, conversation_id))


def list_messages(db: sqlite3.Connection, conversation_id: int) -> tuple[MessageView, ...]:
    """List the messages in order; an answer that is just being given again hides the one it replaces."""
    sql = """
        SELECT id, role, text, state, stats, spans, notice FROM messages WHERE conversation_id = ?1 AND id NOT IN
            (SELECT replaces FROM messages
             WHERE conversation_id = ?1 AND state = 'streaming' AND replaces IS NOT NULL)
        ORDER BY position
    """
    return tuple(_view(row) for row in db.execute(sql, (conversation_id,)))


def list_texts(db: sqlite3.Connection, conversation_id: int) -> tuple[MessageView, ...]:
    """List the messages in order with their words only: what a prompt needs of a long conversation."""
    sql = "SELECT id, role, text, state FROM messages WHERE conversation_id = ? ORDER BY position"
    rows = db.execute(sql, (conversation_id,))
    return tuple(MessageView(row[0], row[1], row[2], MessageState(row[3])) for row in rows)


def write_answer(db: sqlite3.Connection, snapshot: Snapshot, now: datetime) -> None:
    """Write an answer as far as it is; its ending settles what becomes of the answer it replaces."""
    ending = snapshot.ending
    if ending is not None and not ending.keep:
        db.execute("DELETE FROM messages WHERE id = ?", (snapshot.message_id,))
        return
    values = (snapshot.text, spans_to_text(snapshot.spans), snapshot.message_id)
    db.execute("UPDATE messages SET text = ?, spans = ? WHERE id = ?", values)
    if ending is None:
        return
    db.execute("DELETE FROM messages WHERE id = (SELECT replaces FROM messages WHERE id = ?)", (snapshot.message_id,))
    db.execute(
        "UPDATE messages SET state = ?, stats = ?, notice = ?, replaces = NULL WHERE id = ?",
        (ending.state.value, stats_to_text(ending.stats), ending.notice, snapshot.message_id),
    )
    db.execute(
        "UPDATE conversations SET updated_at = ? WHERE id = (SELECT conversation_id FROM messages WHERE id = ?)",
        (to_us(now), snapshot.message_id),
    )


def interrupt_streaming(db: sqlite3.Connection, notice: str) -> int:
    """Mark the answers that nobody is giving any more; what they were to replace stays. Return how many."""
    sql = "UPDATE messages SET state = ?, notice = ?, replaces = NULL WHERE state = ?"
    cursor = db.execute(sql, (MessageState.INTERRUPTED.value, notice, MessageState.STREAMING.value))
    return cursor.rowcount


def _view(row: tuple[int, str, str, str, str | None, str | None, str]) -> MessageView:
    message_id, role, text, state, stats, spans, notice = row
    return MessageView(
        message_id, role, text, MessageState(state), stats_from_text(stats), spans_from_text(spans), notice
    )
