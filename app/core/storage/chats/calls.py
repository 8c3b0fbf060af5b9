"""Stores tool calls and results: each call is a message below its answer, stored before the call runs."""

import dataclasses
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime

from app.core.domain.attachments import Attachment
from app.core.domain.errors import StorageError
from app.core.domain.messages import MessageView
from app.core.domain.tools.calls import FINAL_STATUS, StoredCall
from app.core.storage.chats import attachments, index, messages
from app.core.storage.chats.codec import call_to_text
from app.core.storage.chats.writer import DatabaseAccess, StorePart, stored


class StoredCalls(StorePart):
    def __init__(self, access: DatabaseAccess, now: Callable[[], datetime]) -> None:
        super().__init__(access)
        self._now = now

    @stored
    def begin(
        self, db: sqlite3.Connection, conversation_id: int, answer_id: int, calls: Sequence[tuple[StoredCall, str]]
    ) -> tuple[MessageView, ...]:
        """Store the calls of an answer below it, in order: all or none. Each has its result, if it is known already.

        Raises:
            StorageError: the answer is deleted, or nothing could be stored.
        """
        if messages.conversation_of(db, answer_id) != conversation_id:
            raise StorageError("This message no longer exists.", "Open the chat again.")
        views, parent = [], answer_id
        for call, text in calls:
            view = MessageView(0, "tool", text, call=call)
            parent = messages.insert_message(db, conversation_id, view, self._now(), parent)
            views.append(dataclasses.replace(view, id=parent))
        return tuple(views)

    @stored
    def change(
        self,
        db: sqlite3.Connection,
        message_id: int,
        call: StoredCall,
        text: str = "",
        pictures: Sequence[Attachment] = (),
    ) -> tuple[Attachment, ...]:
        """Store a call's state, its result and the result's pictures; returns the pictures with their ids."""
        sql = "UPDATE messages SET call = ?, call_status = ?, text = ? WHERE id = ? AND call_status <> ''"
        with index.MESSAGES.changed(db, message_id):
            num_changed = db.execute(sql, (call_to_text(call), call.status.value, text, message_id)).rowcount
        return attachments.set_of_message(db, message_id, pictures) if num_changed else ()


def settle_open(db: sqlite3.Connection) -> int:
    """Give interrupted calls their final status; returns their number.

    A running call may have had an effect, so it becomes `CallStatus.UNKNOWN`; a waiting call becomes stopped.
    """
    sql = "UPDATE messages SET call_status = ? WHERE call_status = ?"
    return sum(db.execute(sql, (end.value, begun.value)).rowcount for begun, end in FINAL_STATUS.items())
