"""The SQL statements on messages: their tree, answers, and unsent edits."""

import dataclasses
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from datetime import datetime
from typing import Any

from app.core.domain.messages import EPOCH, MessageState, MessageView
from app.core.domain.tree import MessageTree
from app.core.storage.chats import conversations, index, summaries, totals
from app.core.storage.chats.answers import AnswerSnapshot
from app.core.storage.chats.attachments import with_attachments
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
from app.core.storage.chats.schema import MESSAGE_ROLE
from app.core.storage.chats.writer import StorePart

_COLUMNS = f"""
    id, {MESSAGE_ROLE}, text, state, stats, spans, notice, cut, thinking_ms, target, call, call_status, drawn,
    parent_id, created_at, draft
"""


# ---- the tree -------------------------------------------------------------------------------------------------------


def read_tree(db: sqlite3.Connection, conversation_id: int, to_discard: Iterable[int] = ()) -> MessageTree:
    """The tree of a conversation, without the answers ``to_discard`` that are still in the file."""
    root = db.execute("SELECT shown_root FROM conversations WHERE id = ?", (conversation_id,)).fetchone()
    links = db.execute(
        "SELECT id, parent_id, shown_child FROM messages WHERE conversation_id = ? ORDER BY id",
        (conversation_id,),
    )
    tree = MessageTree.of(links, root[0] if root else None)
    for message_id in to_discard:
        row = db.execute("SELECT replaces FROM messages WHERE id = ?", (message_id,)).fetchone()
        tree = tree.without_message(message_id, row[0] if row else None)
    return tree


def conversation_of(db: sqlite3.Connection, message_id: int) -> int | None:
    """The message's conversation; None if the message is gone."""
    row = db.execute("SELECT conversation_id FROM messages WHERE id = ?", (message_id,)).fetchone()
    return int(row[0]) if row else None


def show_below(db: sqlite3.Connection, conversation_id: int, parent_id: int | None, child_id: int | None) -> None:
    """Store which child of a message is shown; for ``parent_id`` None, which first message."""
    if parent_id is None:
        db.execute("UPDATE conversations SET shown_root = ? WHERE id = ?", (child_id, conversation_id))
    else:
        db.execute("UPDATE messages SET shown_child = ? WHERE id = ?", (child_id, parent_id))


def show_message(db: sqlite3.Connection, message_id: int) -> int | None:
    """Make the shown path include a message; returns its conversation, None if the message is gone."""
    conversation_id = conversation_of(db, message_id)
    if conversation_id is None:
        return None
    tree = read_tree(db, conversation_id)
    for child in tree.ancestors(message_id):
        if tree.shown.get(tree.parents[child]) != child:
            show_below(db, conversation_id, tree.parents[child], child)
    return conversation_id


def show_instead(db: sqlite3.Connection, conversation_id: int, tree: MessageTree, message_id: int) -> None:
    """Show another version, if any, in place of a deleted message. ``tree`` still has that message."""
    parent = tree.parents[message_id]
    if tree.shown.get(parent) in (message_id, None):
        others = tree.versions_of(message_id)
        show_below(db, conversation_id, parent, others[0] if others else None)


def insert_message(
    db: sqlite3.Connection,
    conversation_id: int,
    view: MessageView,
    now: datetime,
    parent_id: int | None,
    replaces: int | None = None,
) -> int:
    """Insert a message without its attachments below ``parent_id`` and show it; returns its id.

    The conversation becomes the last changed one.
    """
    values = {
        "role": view.role if view.call is None else "system",
        "text": view.text,
        "state": view.state.value,
        "created_at": conversations.to_us(view.created_at if view.created_at > EPOCH else now),
        "stats": stats_to_text(view.stats, keeps_templates=True),
        "spans": spans_to_text(view.spans) if view.spans else None,
        "notice": view.notice,
        "cut": view.cut,
        "target": view.target,
        "draft": view.draft,
        "thinking_ms": view.thinking_ms,
        "drawn": sampling_to_text(view.drawn),
        "call": call_to_text(view.call),
        "call_status": view.call.status.value if view.call else "",
        "replaces": replaces,
        "parent_id": parent_id,
        "conversation_id": conversation_id,
    }
    sql = (
        f"INSERT INTO messages ({', '.join(values)}, position) SELECT {', '.join('?' * len(values))}, "  # noqa: S608
        "coalesce(max(position), -1) + 1 FROM messages WHERE conversation_id = ?"
    )
    message_id = int(db.execute(sql, (*values.values(), conversation_id)).lastrowid or 0)
    index.MESSAGES.add(db, message_id)
    show_below(db, conversation_id, parent_id, message_id)
    conversations.set_updated(db, conversation_id, now)
    return message_id


def delete_branch(db: sqlite3.Connection, message_id: int) -> int:
    """Delete a message and its descendants; show another version if there is one. Returns the number deleted."""
    conversation_id = conversation_of(db, message_id)
    if conversation_id is None:
        return 0
    tree = read_tree(db, conversation_id)
    gone = tree.below(message_id)
    for number in gone:
        index.MESSAGES.forget(db, number)
        index.ATTACHMENTS.forget(db, number, "message_id = ?")
        db.execute("DELETE FROM messages WHERE id = ?", (number,))
    show_instead(db, conversation_id, tree, message_id)
    return len(gone)


# ---- reading --------------------------------------------------------------------------------------------------------


def list_messages(
    db: sqlite3.Connection, conversation_id: int, to_discard: Iterable[int] = ()
) -> tuple[MessageView, ...]:
    """The messages of the shown path, each with the ids of all its versions, without those ``to_discard``."""
    tree = read_tree(db, conversation_id, to_discard)
    versions = {parent: tuple(children) for parent, children in tree.children().items() if len(children) > 1}
    views = read_messages(db, tree.path())
    unused: dict[str, Any] = {"parent": None, "created_at": EPOCH, "draft": ""}  # as in a message that was just stored
    views = (dataclasses.replace(view, versions=versions.get(tree.parents[view.id], ()), **unused) for view in views)
    return with_attachments(db, _with_follows_calls(views))


def _with_follows_calls(views: Iterable[MessageView]) -> Iterator[MessageView]:
    """Mark answers that follow calls of the same model."""
    target, is_after_call = "", False
    for view in views:
        if view.role == "assistant":
            yield dataclasses.replace(view, follows_calls=is_after_call and view.target == target)
            target = view.target
        else:
            yield view
        is_after_call = view.call is not None


def list_texts(db: sqlite3.Connection, path: Sequence[int]) -> tuple[MessageView, ...]:
    """The messages with text and attached texts only, which is what a prompt needs."""
    columns = f"id, {MESSAGE_ROLE}, text, state, call, call_status"
    found = {row[0]: row[1:] for row in _select(db, columns, path)}
    views = (
        MessageView(number, role, text, MessageState(state), call=call_from_text(call, status))
        for number, (role, text, state, call, status) in ((number, found[number]) for number in path)
    )
    return with_attachments(db, views, texts=True)


def read_messages(db: sqlite3.Connection, ids: Sequence[int]) -> Iterator[MessageView]:
    """The messages in this order, without attachments and summaries; those that are gone are left out."""
    found = {row[0]: row for row in _select(db, _COLUMNS, ids)}
    return (_view(found[number]) for number in ids if number in found)


def _select(db: sqlite3.Connection, columns: str, ids: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    sql = f"SELECT {columns} FROM messages WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 (our words)
    return db.execute(sql, (json.dumps(ids),))


def _view(row: Sequence[Any]) -> MessageView:
    number, role, text, state, stats, spans, notice, cut, thinking_ms, target, call, status, drawn, *more = row
    parent, created, draft = more
    return MessageView(
        number,
        role,
        text,
        MessageState(state),
        stats_from_text(stats),
        spans_from_text(spans),
        notice,
        cut=bool(cut),
        thinking_ms=thinking_ms,
        target=target,
        call=call_from_text(call, status),
        drawn=sampling_from_text(drawn),
        parent=parent,
        created_at=conversations.from_us(created),
        draft=draft,
    )


# ---- answers --------------------------------------------------------------------------------------------------------


def write_answer(db: sqlite3.Connection, snapshot: AnswerSnapshot, now: datetime) -> None:
    """Write the current state of an answer. A discarded one is deleted, and the version before it is shown again."""
    ending = snapshot.ending
    if ending is not None and not ending.keep:
        _delete_discarded(db, snapshot.message_id)
        return
    values = (snapshot.text, spans_to_text(snapshot.spans), snapshot.thinking_ms, snapshot.message_id)
    index.MESSAGES.forget(db, snapshot.message_id)
    db.execute("UPDATE messages SET text = ?, spans = ?, thinking_ms = coalesce(?, thinking_ms) WHERE id = ?", values)
    if ending is None:
        return
    db.execute(
        "UPDATE messages SET state = ?, stats = ?, notice = ?, cut = ?, replaces = NULL WHERE id = ?",
        (
            ending.state.value,
            stats_to_text(ending.stats, keeps_templates=True),
            ending.notice,
            ending.cut,
            snapshot.message_id,
        ),
    )
    if ending.run is not None:
        run = ending.run
        sql = "UPDATE messages SET target = ?, draft = ? WHERE id = ?"
        db.execute(sql, (run.target, run.draft, snapshot.message_id))
        totals.add_run(db, run.target, run.draft, run.stats, is_continuation=run.is_continuation)
    index.MESSAGES.add(db, snapshot.message_id)
    conversation_id = conversation_of(db, snapshot.message_id)
    if conversation_id is not None:
        conversations.set_updated(db, conversation_id, now)


def _delete_discarded(db: sqlite3.Connection, message_id: int) -> None:
    row = db.execute("SELECT conversation_id, parent_id, replaces FROM messages WHERE id = ?", (message_id,)).fetchone()
    if row is None:
        return
    sql = "SELECT 1 FROM messages WHERE conversation_id = ? AND parent_id = ? LIMIT 1"
    if db.execute(sql, (row[0], message_id)).fetchone():  # messages below it must stay
        sql = "UPDATE messages SET state = ?, replaces = NULL WHERE id = ?"
        db.execute(sql, (MessageState.FAILED.value, message_id))
        index.MESSAGES.add(db, message_id)
    else:
        delete_branch(db, message_id)
        if row[2] is not None and conversation_of(db, row[2]) is not None:
            show_below(db, *row)


def reopen_answer(db: sqlite3.Connection, view: MessageView) -> None:
    """Reopen an ended answer with this text."""
    sql = "UPDATE messages SET state = ?, text = ?, spans = ?, notice = '', cut = 0 WHERE id = ?"
    index.MESSAGES.forget(db, view.id)
    summaries.remove(db, view.id)  # the summary does not cover the text that will be added
    db.execute(sql, (MessageState.STREAMING.value, view.text, spans_to_text(view.spans), view.id))


def without_trailing_space(view: MessageView) -> MessageView:
    """Strip spaces and line breaks from the end of a message's text and spans."""
    text = view.text.rstrip()
    spans = list(view.spans)
    excess = sum(span.num_chars for span in spans) - len(text)
    while spans and excess > 0:
        last = spans.pop()
        kept = last.num_chars - excess
        excess -= last.num_chars
        if kept > 0:
            spans.append(dataclasses.replace(last, num_chars=kept))
    return dataclasses.replace(view, text=text, spans=tuple(spans))


def interrupt_streaming(db: sqlite3.Connection) -> int:
    """Mark streaming answers as interrupted; returns their number."""
    streaming = db.execute("SELECT id FROM messages WHERE state = ?", (MessageState.STREAMING.value,)).fetchall()
    for (message_id,) in streaming:
        sql = "UPDATE messages SET state = ?, notice = '', replaces = NULL WHERE id = ?"
        db.execute(sql, (MessageState.INTERRUPTED.value, message_id))
        index.MESSAGES.add(db, message_id)
    return len(streaming)


# ---- edits of sent messages -----------------------------------------------------------------------------------------


class UnsentEdits(StorePart):
    """Unsent texts in the editors of sent messages: the table `edits`."""

    def save(self, message_id: int, text: str) -> Future[None]:
        """Store the editor's text, without waiting; empty deletes it."""
        return self.access.post(lambda db: write_edit(db, message_id, text))

    def of_conversation(self, conversation_id: int) -> dict[int, str]:
        """The editors' texts of a conversation, in all branches, by message."""
        sql = (
            "SELECT message_id, edits.text FROM edits JOIN messages ON messages.id = message_id "
            "WHERE conversation_id = ?"
        )
        return self.access.read(lambda db: {int(key): str(text) for key, text in db.execute(sql, (conversation_id,))})


def write_edit(db: sqlite3.Connection, message_id: int, text: str) -> None:
    """Store or delete a text; ignored if its message is gone."""
    if text:
        db.execute(
            "INSERT OR REPLACE INTO edits (message_id, text) SELECT id, ? FROM messages WHERE id = ?",
            (text, message_id),
        )
    else:
        db.execute("DELETE FROM edits WHERE message_id = ?", (message_id,))
