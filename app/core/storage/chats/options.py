"""The settings of single conversations, stored as JSON in their rows."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Mapping
from typing import Any

from app.core.storage.chats.writer import DatabaseAccess
from engine.records import Mode

log = logging.getLogger(__name__)

MAX_CHARS = 1_000_000
NO_OPTIONS = "{}"


def to_text(values: Mapping[str, Any]) -> str:
    return json.dumps(dict(values), ensure_ascii=False, separators=(",", ":"))


def from_text(text: object) -> dict[str, Any]:
    """Parse options. Unreadable options are logged and returned as empty."""
    if not isinstance(text, str) or not text or len(text) > MAX_CHARS:
        return {}
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        log.warning("The options of a conversation could not be read: %s", error)
        return {}
    return values if isinstance(values, dict) else {}


class ChatOptions:
    def __init__(self, access: DatabaseAccess) -> None:
        self._access = access

    def read(self, conversation_id: int) -> dict[str, Any] | None:
        """The options of a conversation; None if an older version wrote it, or if it does not exist."""

        def job(db: sqlite3.Connection) -> dict[str, Any] | None:
            row = db.execute("SELECT options FROM conversations WHERE id = ?", (conversation_id,)).fetchone()
            return from_text(row[0]) if row and row[0] else None

        return self._access.read(job)

    def write(self, conversation_id: int, values: Mapping[str, Any], mode: Mode, depth: int | None) -> None:
        """Store the options, with the mode and depth that result from them."""
        sql = "UPDATE conversations SET options = ?, mode = ?, depth = ? WHERE id = ?"
        parameters = (to_text(values), mode.value, depth, conversation_id)
        self._access.write(lambda db: db.execute(sql, parameters).rowcount)
