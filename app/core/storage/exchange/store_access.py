"""Reads whole conversations from the store for an export, and inserts imported ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from app.core.domain.conversations import title_from
from app.core.domain.messages import MessageState
from app.core.domain.tools.calls import with_final_status
from app.core.storage.chats import attachments, conversations, index, summaries
from app.core.storage.chats.answers import AnswerSnapshot
from app.core.storage.chats.codec import (
    call_from_text,
    call_to_text,
    sampling_from_text,
    sampling_to_text,
    spans_from_text,
    spans_to_text,
    stats_from_text,
    stats_to_text,
)
from app.core.storage.chats.messages import show_below
from app.core.storage.chats.schema import MESSAGE_ROLE
from app.core.storage.exchange.records import EPOCH, PortableChat, PortableMessage

MAX_SAME_AGE = 20  # maximum number of chats to compare: some programs give all chats of a file the same time
_READ = f"""
    SELECT id, parent_id, {MESSAGE_ROLE} AS role, text, state, created_at, stats, spans, notice, cut, target, draft,
        thinking_ms, call, call_status, drawn, shown_child
    FROM messages WHERE conversation_id = ? AND (messages.role <> 'system' OR call_status <> '') ORDER BY id
"""  # noqa: S608 (constants)


def read_chat(
    db: sqlite3.Connection, conversation_id: int, unwritten: Callable[[int], AnswerSnapshot | None] = lambda _id: None
) -> PortableChat | None:
    """Read a conversation with all its branches; None if it does not exist.

    ``unwritten`` returns the current state of an answer (by message id) that is not completely written.
    """
    known = conversations.read_conversation(db, conversation_id)
    if known is None:
        return None
    created, updated, pinned, archived, folder, root, options = db.execute(
        "SELECT created_at, updated_at, pinned, archived, coalesce(folders.name, ''), shown_root, options "
        "FROM conversations "
        "LEFT JOIN folders ON folders.id = folder_id WHERE conversations.id = ?",
        (conversation_id,),
    ).fetchone()
    cursor = db.execute(_READ, (conversation_id,))
    names = [column[0] for column in cursor.description]
    found = [dict(zip(names, row, strict=True)) for row in cursor]
    return PortableChat(
        known.title,
        tuple(
            replace(
                _message(row, unwritten(row["id"])),
                attachments=attachments.of_message(db, row["id"]),
                summary=summaries.of_message(db, row["id"]),
            )
            for row in found
        ),
        conversations.from_us(created),
        conversations.from_us(updated),
        known.mode,
        known.depth,
        bool(pinned),
        bool(archived),
        folder,
        frozenset({root, *(row["shown_child"] for row in found)} - {None}),
        str(options),
    )


def _message(row: Mapping[str, Any], now: AnswerSnapshot | None) -> PortableMessage:
    message = PortableMessage(
        row["id"],
        row["parent_id"],
        row["role"],
        row["text"],
        MessageState(row["state"]),
        conversations.from_us(row["created_at"]),
        stats_from_text(row["stats"]),
        spans_from_text(row["spans"]),
        row["notice"],
        bool(row["cut"]),
        row["target"],
        row["draft"],
        thinking_ms=row["thinking_ms"],
        call=call_from_text(row["call"], row["call_status"]),
        drawn=sampling_from_text(row["drawn"]),
    )
    message = replace(message, **now.as_fields()) if now else message
    message = replace(message, call=with_final_status(message.call)) if message.call else message
    return replace(message, state=MessageState.INTERRUPTED) if message.state is MessageState.STREAMING else message


def insert_chat(db: sqlite3.Connection, chat: PortableChat, now: datetime) -> int | None:
    """Insert a conversation; returns its id, or None if the store has it already.

    The store has it also if ``chat`` is only one of its branches or an earlier state.
    """
    if _is_known(db, chat):
        return None
    first = next((message.text for message in chat.messages if message.role == "user"), "")
    conversation_id = conversations.insert_conversation(db, chat.title or title_from(first), chat.mode, chat.depth, now)
    created = chat.created_at if chat.created_at > EPOCH else now
    updated = max(chat.updated_at, created)
    db.execute(
        "UPDATE conversations SET title_by_user = 1, created_at = ?, updated_at = ?, pinned = ?, archived = ?, "
        "folder_id = ?, origin = ?, options = ? WHERE id = ?",
        (
            conversations.to_us(created),
            conversations.to_us(min(updated, now)),
            chat.pinned and not chat.archived,
            chat.archived,
            _folder(db, chat.folder),
            chat.digest,
            chat.options,
            conversation_id,
        ),
    )
    ids: dict[int | None, int] = {}
    for position, message in enumerate(chat.messages):
        ids[message.key] = _insert_message(db, conversation_id, position, message, ids.get(message.parent), created)
    for message in chat.messages:
        if message.key in chat.shown:
            show_below(db, conversation_id, ids.get(message.parent), ids[message.key])
    return conversation_id


def _insert_message(
    db: sqlite3.Connection,
    conversation_id: int,
    position: int,
    message: PortableMessage,
    parent_id: int | None,
    created: datetime,
) -> int:
    values = {
        "conversation_id": conversation_id,
        "position": position,
        "parent_id": parent_id,
        "role": message.role if message.call is None else "system",
        "text": message.text,
        "state": message.state.value,
        "created_at": conversations.to_us(message.created_at if message.created_at > EPOCH else created),
        "stats": stats_to_text(message.stats),
        "spans": spans_to_text(message.spans) if message.spans else None,
        "notice": message.notice,
        "cut": message.cut,
        "target": message.target,
        "draft": message.draft,
        "thinking_ms": message.thinking_ms,
        "drawn": sampling_to_text(message.drawn),
        "call": call_to_text(message.call),
        "call_status": message.call.status.value if message.call else "",
    }
    names = ", ".join(values)
    marks = ", ".join("?" * len(values))
    cursor = db.execute(f"INSERT INTO messages ({names}) VALUES ({marks})", tuple(values.values()))  # noqa: S608 (our words)
    message_id = int(cursor.lastrowid or 0)
    index.add_message(db, message_id)
    if message.summary:
        summaries.put(db, message_id, message.summary)
    for attachment in message.attachments:
        attachments.insert(db, "message_id", message_id, attachment)
    return message_id


def _is_known(db: sqlite3.Connection, chat: PortableChat) -> bool:
    if db.execute("SELECT 1 FROM conversations WHERE origin = ? AND deleted_at IS NULL", (chat.digest,)).fetchone():
        return True
    sql = "SELECT id FROM conversations WHERE created_at = ? AND deleted_at IS NULL ORDER BY id DESC LIMIT ?"
    same_age = db.execute(sql, (conversations.to_us(chat.created_at), MAX_SAME_AGE)).fetchall()
    stored = [read_chat(db, conversation_id) for (conversation_id,) in same_age]
    return any(each is not None and each.contains(chat) for each in stored)


def _folder(db: sqlite3.Connection, name: str) -> int | None:
    if not name:
        return None
    row = db.execute("SELECT id FROM folders WHERE name = ?", (name,)).fetchone()
    if row:
        return int(row[0])
    sql = "INSERT INTO folders (name, place) SELECT ?, coalesce(max(place), 0) + 1 FROM folders"
    return int(db.execute(sql, (name,)).lastrowid or 0)
