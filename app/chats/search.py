"""Full-text search over titles, messages and attachments, on an open connection.

What is typed is words, never a query language.
"""

from __future__ import annotations

import re
import sqlite3

from app.chats.plain_excerpt import BEGIN, ELLIPSIS, END, plain
from ui.records import SearchHit

MAX_TITLES = 20
MAX_MESSAGES = 60
MAX_ATTACHMENTS = 10
MAX_LOOKED_AT = 3  # of these: SQLite reads all of a text, which may be a book, for its beginning
MAX_WORDS = 16
_WORDS_AROUND = 14
_LOOKED_AT_CHARS = 100_000  # of an attachment, for the words around the first match
_CHARS_BEFORE, _CHARS_AFTER = 40, 120
_LETTER = re.compile(r"[^\W_]")  # the index takes an underscore for no part of a word


def match_words(typed: str) -> str:
    """Quote what was typed for FTS5: all words must occur, the last one may be a beginning. Empty without words.

    Pieces without a letter or digit would match nothing and are left out.
    """
    words = [word for word in typed.replace("\x00", " ").split() if _LETTER.search(word)][:MAX_WORDS]
    quoted = ['"' + word.replace('"', '""') + '"' for word in words]
    if not quoted:
        return ""
    ends_in_word = bool(_LETTER.match(typed.rstrip()[-1:]))
    open_end = "*" if typed[-1:].strip() and ends_in_word else ""
    return " ".join(quoted) + open_end


def find(db: sqlite3.Connection, typed: str) -> tuple[SearchHit, ...]:
    """Find titles, then messages in all branches and what is attached to them, the newest first, by conversation."""
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
    for number, row in enumerate(db.execute(_ATTACHMENTS, (query, MAX_ATTACHMENTS)).fetchall()):
        conversation_id, title, message_id, attachment_id, name, archived = row
        looked_at = number < MAX_LOOKED_AT
        text = db.execute(_BEGINNING, (_LOOKED_AT_CHARS, attachment_id)).fetchone()[0] if looked_at else ""
        parts = _parts(_marked(name, text, typed))
        hits.setdefault(conversation_id, []).append(
            SearchHit(conversation_id, title, message_id, "user", parts, bool(archived))
        )
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


# FTS5's own excerpt would take apart the whole text of each, which may be a book.
_ATTACHMENTS = """
    SELECT conversations.id, conversations.title, messages.id, attachments.id, attachments.name, archived
    FROM found_attachments JOIN attachments ON attachments.id = found_attachments.rowid
    JOIN messages ON messages.id = attachments.message_id
    JOIN conversations ON conversations.id = messages.conversation_id
    WHERE found_attachments MATCH ? AND deleted_at IS NULL ORDER BY found_attachments.rowid DESC LIMIT ?
"""


_BEGINNING = "SELECT substr(text, 1, ?) FROM attachments WHERE id = ?"


def _marked(name: str, text: str, typed: str) -> str:
    """The name of an attachment and the words around the first match, the typed ones marked."""
    words = [re.escape(word) for word in typed.split()[:MAX_WORDS] if re.search(r"\w", word)]
    wanted = re.compile(rf"(?<!\w)(?:{'|'.join(words)})", re.IGNORECASE)
    found = wanted.search(text)
    begin = max(found.start() - _CHARS_BEFORE, 0) if found else 0
    around = text[begin : (found.end() if found else 0) + _CHARS_AFTER]
    told = f"{name}: {ELLIPSIS if begin else ''}{around}" if around else name
    return wanted.sub(lambda match: f"{BEGIN}{match[0]}{END}", told.replace(BEGIN, "").replace(END, ""))


def _parts(snippet: str) -> tuple[tuple[str, bool], ...]:
    """Cut a snippet at its marks; it is shown on one line."""
    line = " ".join(snippet.split())
    parts: list[tuple[str, bool]] = []
    for index, piece in enumerate(re.split(f"[{BEGIN}{END}]", line)):
        if piece:
            parts.append((piece, index % 2 == 1))
    return tuple(parts)
