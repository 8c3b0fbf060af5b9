"""Whole conversations: read with all branches, and inserted, for exports, imports and copies."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from app.core.domain.conversations import title_from
from app.core.domain.messages import EPOCH, MessageState, MessageView
from app.core.domain.tools.calls import with_final_status
from app.core.storage.chats import attachments, conversations, messages, summaries
from app.core.storage.chats.answers import AnswerSnapshot
from app.core.storage.chats.codec import options_from_text, options_to_text

MAX_SAME_AGE = 20  # maximum number of chats to compare: some programs give all chats of a file the same time


@dataclass(frozen=True, slots=True)
class PortableChat:
    """One conversation. ``messages``: parents precede their children.

    ``shown``: the ids of messages on shown branches, in any order. ``options``: its own settings.
    """

    title: str
    messages: tuple[MessageView, ...]
    created_at: datetime = EPOCH
    updated_at: datetime = EPOCH
    pinned: bool = False
    archived: bool = False
    folder: str = ""
    shown: frozenset[int] = frozenset()
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """A digest that is equal for the same texts in the same tree, from any source."""
        places: dict[int | None, int] = {message.id: place for place, message in enumerate(self.messages)}
        content = [(places.get(each.parent), *_content(each)) for each in self.messages]
        return _sha256(json.dumps([self.title, content]).encode()).hex()[:32]

    def contains(self, other: PortableChat) -> bool:
        """True if this chat contains every message of ``other``, with the same ancestors."""
        return other._lines() <= self._lines()

    def _lines(self) -> Counter[bytes]:
        """Digests of all messages with their ancestors, with their counts."""
        lines: dict[int | None, bytes] = {None: b""}
        for each in self.messages:
            content = json.dumps(_content(each)).encode()
            lines[each.id] = _sha256(lines.get(each.parent, b"") + content)
        return Counter(line for key, line in lines.items() if key is not None)


def _sha256(data: bytes) -> bytes:
    import hashlib  # noqa: PLC0415  (nothing is imported before the first paint)

    return hashlib.sha256(data).digest()


def _content(message: MessageView) -> list[object]:
    """The parts of a message by which imports are compared."""
    call = message.call
    files = [(file.name, file.text) for file in message.attachments]
    return [message.role, message.text, *files, *([(call.name, call.arguments)] if call else [])]


def read_chat(
    db: sqlite3.Connection, conversation_id: int, unwritten: Callable[[int], AnswerSnapshot | None] = lambda _id: None
) -> PortableChat | None:
    """Read a conversation with all its branches; None if it does not exist.

    ``unwritten`` returns the current state of an answer (by message id) that is not completely written.
    """
    row = db.execute(
        "SELECT title, created_at, updated_at, pinned, archived, coalesce(folders.name, ''), options "
        "FROM conversations LEFT JOIN folders ON folders.id = folder_id "
        "WHERE conversations.id = ? AND deleted_at IS NULL",
        (conversation_id,),
    ).fetchone()
    if row is None:
        return None
    title, created, updated, pinned, archived, folder, options = row
    tree, told = messages.read_tree(db, conversation_id), summaries.of_conversation(db, conversation_id)
    views = attachments.with_attachments(db, messages.read_messages(db, tuple(tree.parents)), texts=True)
    return PortableChat(
        title,
        tuple(
            replace(_settled(view, unwritten(view.id)), parent=tree.parents[view.id], summary=told.get(view.id, ""))
            for view in views
        ),
        conversations.from_us(created),
        conversations.from_us(updated),
        bool(pinned),
        bool(archived),
        folder,
        frozenset(child for child in tree.shown.values() if child is not None),
        options_from_text(options),
    )


def _settled(view: MessageView, now: AnswerSnapshot | None) -> MessageView:
    view = replace(view, **now.as_fields()) if now else view
    view = replace(view, call=with_final_status(view.call)) if view.call else view
    return replace(view, state=MessageState.INTERRUPTED) if view.state is MessageState.STREAMING else view


def import_chat(db: sqlite3.Connection, chat: PortableChat, now: datetime) -> int | None:
    """Insert an imported conversation; returns its id, or None if the store has it already.

    The store has it also if ``chat`` is only one of its branches or an earlier state.
    """
    if db.execute("SELECT 1 FROM conversations WHERE origin = ? AND deleted_at IS NULL", (chat.digest,)).fetchone():
        return None
    sql = "SELECT id FROM conversations WHERE created_at = ? AND deleted_at IS NULL ORDER BY id DESC LIMIT ?"
    same_age = db.execute(sql, (conversations.to_us(chat.created_at), MAX_SAME_AGE)).fetchall()
    stored = (read_chat(db, conversation_id) for (conversation_id,) in same_age)
    if any(each is not None and each.contains(chat) for each in stored):
        return None
    conversation_id = insert_chat(db, chat, now)
    folder_id = None
    if chat.folder:
        row = db.execute("SELECT id FROM folders WHERE name = ?", (chat.folder,)).fetchone()
        folder_id = row[0] if row else create_folder(db, chat.folder)
    sql = "UPDATE conversations SET pinned = ?, archived = ?, folder_id = ?, origin = ? WHERE id = ?"
    pinned = chat.pinned and not chat.archived
    db.execute(sql, (pinned, chat.archived, folder_id, chat.digest, conversation_id))
    return conversation_id


def create_folder(db: sqlite3.Connection, name: str) -> int:
    """Add a folder at the end; returns its id."""
    sql = "INSERT INTO folders (name, place) SELECT ?, coalesce(max(place), 0) + 1 FROM folders"
    return int(db.execute(sql, (name,)).lastrowid or 0)


def insert_chat(db: sqlite3.Connection, chat: PortableChat, now: datetime) -> int:
    """Insert a conversation with its messages and options; returns its id. Times that are unknown become ``now``."""
    first = next((message.text for message in chat.messages if message.role == "user"), "")
    conversation_id = conversations.insert_conversation(db, chat.title or title_from(first), now)
    created = chat.created_at if chat.created_at > EPOCH else now
    ids: dict[int | None, int] = {}
    for message in chat.messages:
        ids[message.id] = number = messages.insert_message(
            db, conversation_id, message, created, ids.get(message.parent)
        )
        if message.summary:
            summaries.put(db, number, message.summary)
        for attachment in message.attachments:
            attachments.insert(db, "message_id", number, attachment)
    for message in chat.messages:
        if message.id in chat.shown:
            messages.show_below(db, conversation_id, ids.get(message.parent), ids[message.id])
    updated = min(max(chat.updated_at, created), now)
    sql = "UPDATE conversations SET title_by_user = 1, created_at = ?, updated_at = ?, options = ? WHERE id = ?"
    times = conversations.to_us(created), conversations.to_us(updated)
    db.execute(sql, (*times, options_to_text(chat.options), conversation_id))
    return conversation_id
