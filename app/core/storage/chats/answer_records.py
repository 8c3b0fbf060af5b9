"""Stored answers without their text: models, time and counters."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.core.storage.chats import conversations
from app.core.storage.chats.codec import stats_from_text
from engine.records import RunStats

_COLUMNS = """
    SELECT messages.id, conversation_id, title, messages.created_at, state, target, draft, stats FROM messages
    JOIN conversations ON conversations.id = conversation_id
    WHERE role = 'assistant' AND stats IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """One answer without its text. ``target`` and ``draft`` are empty if unknown."""

    message_id: int
    conversation_id: int
    title: str
    created_at: datetime
    state: str
    target: str
    draft: str
    stats: RunStats


def answers_of_chat(db: sqlite3.Connection, conversation_id: int) -> tuple[AnswerRecord, ...]:
    """The answers in all branches of a conversation, in order."""
    return _readable(db.execute(f"{_COLUMNS} AND conversation_id = ? ORDER BY messages.id", (conversation_id,)))


def _readable(found: Iterable[Sequence[Any]]) -> tuple[AnswerRecord, ...]:
    answers = []
    for number, chat, title, created, state, target, draft, text in found:
        stats = stats_from_text(text)
        if stats is not None:
            answers.append(
                AnswerRecord(number, chat, title, conversations.from_us(created), state, target, draft, stats)
            )
    return tuple(answers)
