"""The table `attachments`: attachments of messages and of unsent messages."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from app.core.domain.attachments import Attachment, AttachmentKind, StoredPicture
from app.core.domain.messages import MessageView
from app.core.storage.chats import index
from app.core.storage.chats.writer import StorePart, stored

NEW_CHAT = 0  # the key for attachments of a chat that is not stored yet
_COMMON = "attachments.id, name, kind, num_bytes, pictures.digest, pictures.width, pictures.height, pictures.thumbnail"
_SHOWN = f"{_COMMON}, '', x''"
_WHOLE = f"{_COMMON}, attachments.text, pictures.data"
_FROM = "FROM attachments LEFT JOIN pictures ON pictures.digest = attachments.picture"


class Attachments(StorePart):
    """Attachments of unsent messages. The functions below move them to messages, and copy and delete them."""

    @stored
    def add_unsent(self, db: sqlite3.Connection, conversation_id: int | None, attachment: Attachment) -> Attachment:
        """Store an attachment of an unsent message; returns it with its id, or unchanged if the chat was deleted."""
        sql = "SELECT 1 FROM conversations WHERE id = ?"
        if conversation_id is not None and db.execute(sql, (conversation_id,)).fetchone() is None:
            return attachment  # the chat was deleted while the file was read
        return insert(db, "unsent_of", conversation_id or NEW_CHAT, attachment)

    def unsent(self, conversation_id: int | None) -> tuple[Attachment, ...]:
        """The attachments of an unsent message, with their texts."""
        return self.access.read(lambda db: tuple(_select(db, _WHOLE, "unsent_of", conversation_id or NEW_CHAT)))

    def remove(self, attachment_id: int) -> Future[Any]:
        """Delete an attachment; does not wait for the disk."""

        def job(db: sqlite3.Connection) -> None:
            index.ATTACHMENTS.forget(db, attachment_id)
            db.execute("DELETE FROM attachments WHERE id = ?", (attachment_id,))

        return self.access.post(job)

    def read(self, attachment_id: int) -> Attachment | None:
        """An attachment with its text; None if it is deleted."""
        return self.access.read(lambda db: next(_select(db, _WHOLE, "id", attachment_id), None))


def insert(db: sqlite3.Connection, owner: str, key: int, attachment: Attachment) -> Attachment:
    """Add an attachment. ``owner``: the column of its owner, ``message_id`` or ``unsent_of``; ``key``: its id."""
    sql = (
        f"INSERT INTO attachments ({owner}, position, name, kind, num_bytes, text, picture) "  # noqa: S608 (our words)
        f"SELECT ?, coalesce(max(position), -1) + 1, ?, ?, ?, ?, ? FROM attachments WHERE {owner} = ?"
    )
    picture = attachment.picture
    if picture is not None:
        kept = (picture.digest, picture.width, picture.height, picture.thumbnail, picture.data)
        db.execute(
            "INSERT OR IGNORE INTO pictures (digest, width, height, thumbnail, data) VALUES (?, ?, ?, ?, ?)", kept
        )
    digest = picture.digest if picture is not None else None
    values = (key, attachment.name, attachment.kind.value, attachment.num_bytes, attachment.text, digest, key)
    number = int(db.execute(sql, values).lastrowid or 0)
    index.ATTACHMENTS.add(db, number)
    return replace(attachment, id=number)


def take_unsent(db: sqlite3.Connection, conversation_id: int | None, message_id: int) -> None:
    """Move the attachments of the unsent message to the sent message."""
    sql = "UPDATE attachments SET message_id = ?, unsent_of = NULL WHERE unsent_of = ?"
    db.execute(sql, (message_id, conversation_id or NEW_CHAT))


def copy(db: sqlite3.Connection, source_id: int, message_id: int, without: Collection[int] = ()) -> None:
    """Copy the attachments of a message, except those in ``without`` and passages that were found for its text."""
    for attachment in list(_select(db, _WHOLE, "message_id", source_id)):
        if attachment.id not in without and attachment.kind is not AttachmentKind.PASSAGES:
            insert(db, "message_id", message_id, attachment)


def names(db: sqlite3.Connection, conversation_id: int | None) -> list[str]:
    """The names of the unsent message's attachments, used as a title if there is no text."""
    return [each.name for each in _select(db, _SHOWN, "unsent_of", conversation_id or NEW_CHAT)]


def with_attachments(
    db: sqlite3.Connection, views: Iterable[MessageView], *, texts: bool = False
) -> tuple[MessageView, ...]:
    """Add the attachments to messages; attachments have their text only with ``texts``."""
    listed = tuple(views)
    found: dict[int, list[Attachment]] = {}
    ids = [view.id for view in listed if view.role in ("user", "tool")]
    where = "WHERE message_id IN (SELECT value FROM json_each(?)) ORDER BY message_id, position, attachments.id"
    sql = f"SELECT message_id, {_WHOLE if texts else _SHOWN} {_FROM} {where}"
    for owner, *row in db.execute(sql, (json.dumps(ids),)):
        found.setdefault(owner, []).append(_attachment(row))
    return tuple(replace(view, attachments=tuple(found[view.id])) if view.id in found else view for view in listed)


def set_of_message(db: sqlite3.Connection, message_id: int, given: Iterable[Attachment]) -> tuple[Attachment, ...]:
    """Replace the attachments of a message; returns them with their ids."""
    index.ATTACHMENTS.forget(db, message_id, "message_id = ?")
    db.execute("DELETE FROM attachments WHERE message_id = ?", (message_id,))
    return tuple(insert(db, "message_id", message_id, each) for each in given)


def _select(db: sqlite3.Connection, columns: str, owner: str, key: int) -> Iterator[Attachment]:
    sql = f"SELECT {columns} {_FROM} WHERE attachments.{owner} = ? ORDER BY position, attachments.id"
    return map(_attachment, db.execute(sql, (key,)))


def _attachment(row: Sequence[Any]) -> Attachment:
    number, name, kind, num_bytes, digest, width, height, thumbnail, text, data = row
    known = AttachmentKind(kind) if kind in set(AttachmentKind) else AttachmentKind.TEXT
    picture = StoredPicture(digest, width, height, thumbnail, data) if digest is not None else None
    return Attachment(number, name, known, num_bytes, text, picture=picture)
