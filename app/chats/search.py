"""Full-text search over titles and messages, on an open connection. What is typed is words, never a query language."""

from __future__ import annotations

import re
import sqlite3

from app.chats.plain_excerpt import BEGIN, ELLIPSIS, END, plain
from ui.records import SearchHit

MAX_TITLES = 20
MAX_MESSAGES = 60
MAX_WORDS = 16
_WORDS_AROUND = 14


def match_words(typed: str) -> str:
    """Quote what was typed for FTS5: all words must occur, the last one may be a beginning. Empty without words.

    Pieces without a letter or digit would match nothing and are left out.
    """
    words = [word for word in typed.replace("\x00", " ").split() if re.search(r"\w", word)][:MAX_WORDS]
    quoted = ['"' + word.replace('"', '""') + '"' for word in words]
    if not quoted:
        return ""
    ends_in_word = bool(re.search(r"\w$", typed.rstrip()))
    open_end = "*" if typed[-1:].strip() and ends_in_word else ""
    return " ".join(quoted) + open_end


def find(db: sqlite3.Connection, typed: str) -> tuple[SearchHit, ...]:
    """Find titles, then messages in all branches, the newest first, grouped by conversation."""
    query = match_words(typed)
    if not query:
        return ()
    hits: dict[int, list[SearchHit]] = {}
    for sql, limit in ((_TITLES, MAX_TITLES), (_MESSAGES, MAX_MESSAGES)):
        for row in db.execute(sql, (BEGIN, END, ELLIPSIS, _WORDS_AROUND, query, limit)):
            conversation_id, title, message_id, role, text, snippet, archived = row
            # A question is shown on the page as it was typed.
            words = plain(text, snippet) if role == "assistant" else snippet
            hit = SearchHit(
                conversation_id, title, message_id, role, _parts(words), bool(archived), source=_parts(snippet)
            )
            hits.setdefault(conversation_id, []).append(hit)
    return tuple(hit for group in hits.values() for hit in group)


# The order by rowid is the index's own: the newest are found without looking at the rest.
_TITLES = """
    SELECT conversations.id, conversations.title, NULL, '', '', snippet(found_titles, 0, ?, ?, ?, ?), archived
    FROM found_titles JOIN conversations ON conversations.id = found_titles.rowid
    WHERE found_titles MATCH ? AND deleted_at IS NULL ORDER BY found_titles.rowid DESC LIMIT ?
"""
_MESSAGES = """
    SELECT conversations.id, conversations.title, messages.id, messages.role, messages.text,
        snippet(found_messages, 0, ?, ?, ?, ?), archived
    FROM found_messages JOIN messages ON messages.id = found_messages.rowid
    JOIN conversations ON conversations.id = messages.conversation_id
    WHERE found_messages MATCH ? AND deleted_at IS NULL ORDER BY found_messages.rowid DESC LIMIT ?
"""


def _parts(snippet: str) -> tuple[tuple[str, bool], ...]:
    """Cut a snippet at its marks; it is shown on one line."""
    line = " ".join(snippet.split())
    parts: list[tuple[str, bool]] = []
    for index, piece in enumerate(re.split(f"[{BEGIN}{END}]", line)):
        if piece:
            parts.append((piece, index % 2 == 1))
    return tuple(parts)
