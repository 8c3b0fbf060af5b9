"""Deletion with undo: a deleted chat is marked; deleted messages are moved to a marked chat.

Marked chats are hidden from lists, search and exports. Messages are deleted for good a moment later or at the next
start; chats at the first start after the period `RETENTION`.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.storage.chats import conversations, messages
from app.core.storage.chats.writer import StorePart, stored

RETENTION = timedelta(days=30)
_HAS_TITLE = "title <> ''"  # true for deleted chats; the chat of moved messages has no title


@dataclass(frozen=True, slots=True)
class DeletedChat:
    """A chat whose deletion can be undone until ``until``."""

    id: int
    title: str
    until: datetime


@dataclass(frozen=True, slots=True)
class DeletedBranch:
    """Deleted messages in the marked chat ``hidden_chat_id``: ``message_id`` alone or with all its descendants.

    ``shown``: the message was the shown version. ``children``: its children that stayed, below another message.
    """

    hidden_chat_id: int
    conversation_id: int
    message_id: int
    parent_id: int | None
    message_ids: tuple[int, ...]
    shown: bool
    children: tuple[int, ...] = ()


class Deletions(StorePart):
    """Every method raises `StorageError` on failure."""

    @stored
    def mark(self, db: sqlite3.Connection, conversation_ids: Sequence[int], now: datetime) -> None:
        """Mark chats as deleted: all or none."""
        for conversation_id in conversation_ids:
            _mark(db, conversation_id, now)

    @stored
    def undo_deletion(self, db: sqlite3.Connection, conversation_ids: Sequence[int]) -> None:
        """Undo the deletion of chats."""
        db.executemany(
            "UPDATE conversations SET deleted_at = NULL WHERE id = ?", ((each,) for each in conversation_ids)
        )

    def deleted_chats(self) -> tuple[DeletedChat, ...]:
        """Chats whose deletion can be undone, last deleted first."""
        marked = f"FROM conversations WHERE deleted_at IS NOT NULL AND {_HAS_TITLE}"
        sql = f"SELECT id, title, deleted_at {marked} ORDER BY deleted_at DESC"
        rows = self.access.read(lambda db: db.execute(sql).fetchall())
        return tuple(DeletedChat(chat, title, conversations.from_us(at) + RETENTION) for chat, title, at in rows)

    @stored
    def mark_branch(
        self, db: sqlite3.Connection, message_id: int, now: datetime, *, alone: bool = False
    ) -> DeletedBranch | None:
        """Hide a message and its descendants, or it ``alone``; None if the message does not exist."""
        conversation_id = messages.conversation_of(db, message_id)
        if conversation_id is None:
            return None
        tree = messages.read_tree(db, conversation_id)
        moved = (message_id,) if alone else tree.below(message_id)
        hidden_chat_id = conversations.insert_conversation(db, "", now)
        _mark(db, hidden_chat_id, now)
        _move(db, moved, hidden_chat_id)
        messages.show_instead(db, conversation_id, tree, message_id)
        parent_id = tree.parents[message_id]
        shown = tree.shown.get(parent_id) in (message_id, None)
        children = tuple(tree.children().get(message_id, ())) if alone else ()
        if children:
            # Move the children of a message to another version of it, or to its parent, and keep the shown path.
            at = tree.versions_of(message_id)
            heir = at[0] if at else tree.parents[message_id]
            _set_parent(db, tree.children()[message_id], heir)
            was_shown = tree.shown.get(tree.parents[message_id]) in (message_id, None)
            if was_shown and (heir not in tree.children() or not at):
                messages.show_below(db, conversation_id, heir, tree.shown.get(message_id))
        return DeletedBranch(hidden_chat_id, conversation_id, message_id, parent_id, moved, shown, children)

    @stored
    def undo_branch_deletion(self, db: sqlite3.Connection, branch: DeletedBranch) -> None:
        """Undo the deletion of messages; the branch that was shown before is shown again."""
        _move(db, branch.message_ids, branch.conversation_id)
        _set_parent(db, branch.children, branch.message_id)
        if branch.shown:
            messages.show_below(db, branch.conversation_id, branch.parent_id, branch.message_id)
        conversations.delete_conversation(db, branch.hidden_chat_id)

    @stored
    def delete_permanently(self, db: sqlite3.Connection, conversation_ids: Sequence[int]) -> None:
        """Delete chats for good, with all their messages."""
        for conversation_id in conversation_ids:
            conversations.delete_conversation(db, conversation_id)


def delete_expired(db: sqlite3.Connection, now: datetime) -> tuple[int, ...]:
    """Delete marked messages for good, and chats that were marked over `RETENTION` ago; returns the chats' ids."""
    sql = f"SELECT id FROM conversations WHERE deleted_at IS NOT NULL AND NOT (deleted_at > ? AND {_HAS_TITLE})"  # noqa: S608
    marked = tuple(row[0] for row in db.execute(sql, (conversations.to_us(now - RETENTION),)))
    for conversation_id in marked:
        conversations.delete_conversation(db, conversation_id)
    return marked


def _mark(db: sqlite3.Connection, conversation_id: int, now: datetime) -> None:
    db.execute("UPDATE conversations SET deleted_at = ? WHERE id = ?", (conversations.to_us(now), conversation_id))


def _set_parent(db: sqlite3.Connection, message_ids: Sequence[int], parent_id: int | None) -> None:
    sql = "UPDATE messages SET parent_id = ? WHERE id = ?"
    db.executemany(sql, ((parent_id, message_id) for message_id in message_ids))


def _move(db: sqlite3.Connection, message_ids: Sequence[int], conversation_id: int) -> None:
    """Move messages to the end of another chat, with new positions, since theirs may be in use there."""
    sql = (
        "UPDATE messages SET conversation_id = ?1, position = "
        "(SELECT coalesce(max(position), -1) + 1 FROM messages WHERE conversation_id = ?1) WHERE id = ?2"
    )
    db.executemany(sql, ((conversation_id, message_id) for message_id in sorted(message_ids)))
