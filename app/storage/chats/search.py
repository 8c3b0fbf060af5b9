"""Full-text search over titles, messages and attachments.

What is typed is words, never a query language.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

from app.domain.conversations import SearchHit
from app.storage.chats.strip_markdown import BEGIN, ELLIPSIS, END, strip_markdown

MAX_TITLES = 20
MAX_MESSAGES = 60
MAX_ATTACHMENTS = 10
MAX_LOOKED_AT = 3  # of these, for the words around
MAX_WORDS = 16
_WORDS_AROUND = 14
_LOOKED_AT_CHARS = 100_000  # of an attachment, for the words around the first match
_BYTES_A_CHAR = 3  # in UTF-8, of nearly every writing
_CHARS_BEFORE, _CHARS_AFTER = 40, 120
_LETTER, _LETTERS = re.compile(r"[^\W_]"), re.compile(r"[^\W_]+")  # the index takes an underscore for no part of a word


def match_words(typed: str) -> str:
    """Quote what was typed for FTS5: all words must occur, the last one may be a beginning. Empty without words.

    Pieces without a letter or digit would match nothing and are left out.
    """
    quoted = ['"' + word.replace('"', '""') + '"' for word in _words(typed)]
    if not quoted:
        return ""
    ends_in_word = bool(_LETTER.match(typed.rstrip()[-1:]))
    open_end = "*" if typed[-1:].strip() and ends_in_word else ""
    return " ".join(quoted) + open_end


def _words(typed: str) -> list[str]:
    return [word for word in typed.replace("\x00", " ").split() if _LETTER.search(word)][:MAX_WORDS]


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
            source = _parts(snippet)
            parts = _parts(strip_markdown(text, snippet)) if role == "assistant" else source
            hit = SearchHit(conversation_id, title, message_id, role, parts, bool(archived), source=source)
            hits.setdefault(conversation_id, []).append(hit)
    for number, row in enumerate(db.execute(_ATTACHMENTS, (query, MAX_ATTACHMENTS)).fetchall()):
        conversation_id, title, message_id, attachment_id, name, archived = row
        text = _beginning(db, attachment_id) if number < MAX_LOOKED_AT else ""
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


def _beginning(db: sqlite3.Connection, attachment_id: int) -> str:
    """The beginning of an attached text. A statement would read all of it, which may be a book; this reads its part."""
    with db.blobopen("attachments", "text", attachment_id, readonly=True) as blob:
        begun = blob.read(_BYTES_A_CHAR * _LOOKED_AT_CHARS)
    return begun.decode(errors="ignore")[:_LOOKED_AT_CHARS]


def _marked(name: str, text: str, typed: str) -> str:
    """The name of an attachment and the words around the first match, the typed ones marked."""
    words = _LETTERS.findall(" ".join(_words(typed)))[:MAX_WORDS]
    wanted = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})", re.IGNORECASE)
    found = wanted.search(text, _not_before(text, words))
    begin = max(found.start() - _CHARS_BEFORE, 0) if found else 0
    around = text[begin : (found.end() if found else 0) + _CHARS_AFTER]
    marked = f"{name}: {ELLIPSIS if begin else ''}{around}" if around else name
    return wanted.sub(lambda match: f"{BEGIN}{match[0]}{END}", marked.replace(BEGIN, "").replace(END, ""))


def _not_before(text: str, words: Sequence[str]) -> int:
    """A place before which none of the words can begin: the search for letters of any case is slow, this one is not."""
    lowered = text.lower()
    if len(lowered) != len(text):  # some letters become two
        return 0
    places = [lowered.find(word.lower()) for word in words]
    return min((place for place in places if place >= 0), default=len(text))


def _parts(snippet: str) -> tuple[tuple[str, bool], ...]:
    """Cut a snippet at its marks; it is shown on one line."""
    line = " ".join(snippet.split())
    parts: list[tuple[str, bool]] = []
    for index, piece in enumerate(re.split(f"[{BEGIN}{END}]", line)):
        if piece:
            parts.append((piece, index % 2 == 1))
    return tuple(parts)
