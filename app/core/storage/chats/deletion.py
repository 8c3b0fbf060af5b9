"""Deleting that can be taken back: a chat is marked, messages are moved into a marked chat of their own.

What is marked is in no list, no search and no export. Messages are wiped a moment later, or when the file is opened
next; chats when it is opened `KEPT` after they were deleted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.domain.tree import MessageTree
from app.core.storage.chats import conversations, messages
from app.core.storage.chats.writer import DatabaseAccess
from engine.records import Mode

KEPT = timedelta(days=30)
_CHAT = "title <> ''"  # what messages are moved into has none


@dataclass(frozen=True, slots=True)
class DeletedChat:
    """A chat that can be taken back until ``until``."""

    id: int
    title: str
    until: datetime


@dataclass(frozen=True, slots=True)
class DeletedBranch:
    """Messages in the marked chat ``kept_in``: one, ``message_id``, and all that followed it, or that one alone.

    ``shown``: it was the version shown there. ``children`` followed it and stayed, below what it had followed or below
    another version of it.
    """

    kept_in: int
    conversation_id: int
    message_id: int
    parent_id: int | None
    message_ids: tuple[int, ...]
    shown: bool
    children: tuple[int, ...] = ()


class Deletions:
    """What the window asks for; every method raises `StorageError` where it could not be done."""

    def __init__(self, access: DatabaseAccess) -> None:
        self._access = access

    def mark(self, conversation_ids: Sequence[int], now: datetime) -> None:
        """Take chats out of sight: all or none."""

        def job(db: sqlite3.Connection) -> None:
            for conversation_id in conversation_ids:
                _mark(db, conversation_id, now)

        self._access.write(job)

    def take_back(self, conversation_ids: Sequence[int]) -> None:
        """Show marked chats again, where they were."""
        sql = "UPDATE conversations SET deleted_at = NULL WHERE id = ?"
        self._access.write(lambda db: db.executemany(sql, ((each,) for each in conversation_ids)))

    def deleted_chats(self) -> tuple[DeletedChat, ...]:
        """Chats that can be taken back, the last deleted first."""
        marked = f"FROM conversations WHERE deleted_at IS NOT NULL AND {_CHAT}"
        sql = f"SELECT id, title, deleted_at {marked} ORDER BY deleted_at DESC"
        rows = self._access.read(lambda db: db.execute(sql).fetchall())
        return tuple(DeletedChat(chat, title, conversations.from_us(at) + KEPT) for chat, title, at in rows)

    def mark_branch(self, message_id: int, now: datetime) -> DeletedBranch | None:
        """Take a message and all that follows it out of sight; None where it is gone."""
        return self._access.write(lambda db: _set_aside(db, message_id, now, alone=False))

    def mark_message(self, message_id: int, now: datetime) -> DeletedBranch | None:
        """Take one message out of sight; what follows it stays. None where it is gone."""
        return self._access.write(lambda db: _set_aside(db, message_id, now, alone=True))

    def take_back_branch(self, branch: DeletedBranch) -> None:
        """Put messages back where they were, and show them where they were shown."""
        self._access.write(lambda db: _put_back(db, branch))

    def wipe(self, conversation_ids: Sequence[int]) -> None:
        """Remove chats for good, with all their messages."""

        def job(db: sqlite3.Connection) -> None:
            for conversation_id in conversation_ids:
                conversations.delete_conversation(db, conversation_id)

        self._access.write(job)


def wipe_marked(db: sqlite3.Connection, now: datetime) -> tuple[int, ...]:
    """Remove for good what was marked before, chats only `KEPT` later; return the ids."""
    sql = f"SELECT id FROM conversations WHERE deleted_at IS NOT NULL AND NOT (deleted_at > ? AND {_CHAT})"  # noqa: S608
    marked = tuple(row[0] for row in db.execute(sql, (conversations.to_us(now - KEPT),)))
    for conversation_id in marked:
        conversations.delete_conversation(db, conversation_id)
    return marked


def _mark(db: sqlite3.Connection, conversation_id: int, now: datetime) -> None:
    db.execute("UPDATE conversations SET deleted_at = ? WHERE id = ?", (conversations.to_us(now), conversation_id))


def _set_aside(db: sqlite3.Connection, message_id: int, now: datetime, *, alone: bool) -> DeletedBranch | None:
    conversation_id = messages.conversation_of(db, message_id)
    if conversation_id is None:
        return None
    tree = messages.read_tree(db, conversation_id)
    moved = (message_id,) if alone else tree.below(message_id)
    kept_in = conversations.insert_conversation(db, "", Mode.OFF, None, now)
    _mark(db, kept_in, now)
    _move(db, moved, kept_in)
    messages.show_instead(db, conversation_id, tree, message_id)
    parent_id = tree.parents[message_id]
    shown = tree.shown.get(parent_id) in (message_id, None)
    children = tuple(tree.children().get(message_id, ())) if alone else ()
    if children:
        _move_up(db, conversation_id, tree, message_id)
    return DeletedBranch(kept_in, conversation_id, message_id, parent_id, moved, shown, children)


def _move_up(db: sqlite3.Connection, conversation_id: int, tree: MessageTree, message_id: int) -> None:
    """Let what followed a message follow another version of it, or what it followed itself; show what was shown."""
    at = tree.versions_beside(message_id)
    heir = at[0] if at else tree.parents[message_id]
    _follow(db, tree.children()[message_id], heir)
    was_shown = tree.shown.get(tree.parents[message_id]) in (message_id, None)
    if was_shown and (heir not in tree.children() or not at):
        messages.show_below(db, conversation_id, heir, tree.shown.get(message_id))


def _follow(db: sqlite3.Connection, message_ids: Sequence[int], parent_id: int | None) -> None:
    sql = "UPDATE messages SET parent_id = ? WHERE id = ?"
    db.executemany(sql, ((parent_id, message_id) for message_id in message_ids))


def _put_back(db: sqlite3.Connection, branch: DeletedBranch) -> None:
    _move(db, branch.message_ids, branch.conversation_id)
    _follow(db, branch.children, branch.message_id)
    if branch.shown:
        messages.show_below(db, branch.conversation_id, branch.parent_id, branch.message_id)
    conversations.delete_conversation(db, branch.kept_in)


def _move(db: sqlite3.Connection, message_ids: Sequence[int], conversation_id: int) -> None:
    """Move messages to another chat, after its last message: their positions may be taken."""
    sql = (
        "UPDATE messages SET conversation_id = ?1, position = "
        "(SELECT coalesce(max(position), -1) + 1 FROM messages WHERE conversation_id = ?1) WHERE id = ?2"
    )
    db.executemany(sql, ((conversation_id, message_id) for message_id in sorted(message_ids)))
