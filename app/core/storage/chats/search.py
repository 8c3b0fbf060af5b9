"""Full-text search over titles, messages and attachments.

The input is treated as plain words, never as a query language.
"""

import re
import sqlite3
from collections.abc import Iterator

from app.core.domain.conversations import SearchHit
from app.core.domain.unspaced import any_word_pattern, has_unspaced, spaced
from app.core.storage.chats.schema import MESSAGE_ROLE

BEGIN, END = "\x02", "\x03"  # around a match
ELLIPSIS = "…"
MAX_TITLES = 20
MAX_MESSAGES = 60
MAX_ATTACHMENTS = 10
MAX_EXCERPTS = 3  # maximum number of attachments for which an excerpt is made
MAX_WORDS = 16
_EXCERPT_WORDS = 14
_EXCERPT_SOURCE_CHARS = 100_000  # maximum characters of an attachment that are searched for the excerpt
_CHARS_BEFORE, _CHARS_AFTER = 40, 120
_LETTER, _LETTERS = re.compile(r"[^\W_]"), re.compile(r"[^\W_]+")  # the index treats an underscore as a separator


def match_words(typed: str) -> str:
    """The FTS5 query for the input: all words must occur, the last one may be a prefix. Empty without words.

    Words without a letter or digit are omitted, since they match nothing.
    """
    quoted = ['"' + spaced(word).replace('"', '""') + '"' for word in _words(typed)]
    if not quoted:
        return ""
    ends_in_word = bool(_LETTER.match(typed.rstrip()[-1:]))
    open_end = "*" if typed[-1:].strip() and ends_in_word else ""
    return " ".join(quoted) + open_end


def _words(typed: str) -> list[str]:
    return [word for word in typed.replace("\x00", " ").split() if _LETTER.search(word)][:MAX_WORDS]


def find(db: sqlite3.Connection, typed: str) -> tuple[SearchHit, ...]:
    """Find titles, then messages (of all branches) and attachments: newest first, grouped by conversation."""
    query = match_words(typed)
    if not query:
        return ()
    hits: dict[int, list[SearchHit]] = {}
    rows = _found_by_letter(db, query, typed) if has_unspaced(typed) else _found_by_word(db, query)
    for conversation_id, title, message_id, role, _text, snippet, archived in rows:
        # Questions are shown as typed, without rendering Markdown.
        source = _parts(snippet)
        parts = _parts(without_markdown(snippet)) if role == "assistant" else source
        hit = SearchHit(conversation_id, title, message_id, role, parts, bool(archived), source=source)
        hits.setdefault(conversation_id, []).append(hit)
    sql = _ATTACHMENTS.replace("found_", "found_letters_") if has_unspaced(typed) else _ATTACHMENTS
    for number, row in enumerate(db.execute(sql, (query, MAX_ATTACHMENTS)).fetchall()):
        conversation_id, title, message_id, attachment_id, name, archived = row
        shown = _pattern(typed).sub(_in_marks, name)
        if number < MAX_EXCERPTS:
            read = "SELECT substr(text, 1, ?) FROM attachments WHERE id = ?"
            (text,) = db.execute(read, (_EXCERPT_SOURCE_CHARS, attachment_id)).fetchone()
            shown = f"{shown}: {_text_around(text, typed)}"
        parts = _parts(shown)
        hits.setdefault(conversation_id, []).append(
            SearchHit(conversation_id, title, message_id, "user", parts, bool(archived))
        )
    return tuple(hit for group in hits.values() for hit in group)


Row = tuple[int, str, int | None, str, str, str, int]


def _found_by_word(db: sqlite3.Connection, query: str) -> Iterator[Row]:
    """Rows of titles and messages, each with an excerpt in which matches are marked."""
    for sql, limit in ((_TITLES, MAX_TITLES), (_MESSAGES, MAX_MESSAGES)):
        yield from db.execute(sql, (BEGIN, END, ELLIPSIS, _EXCERPT_WORDS, query, limit))


def _found_by_letter(db: sqlite3.Connection, query: str, typed: str) -> Iterator[Row]:
    """Rows of the letter indexes. FTS5 cannot make excerpts for them, so they are made here."""
    for sql, limit in ((_TITLES, MAX_TITLES), (_MESSAGES, MAX_MESSAGES)):
        by_letter = _SNIPPET.sub("''", sql).replace("found_", "found_letters_")
        for conversation_id, title, message_id, role, text, _, archived in db.execute(by_letter, (query, limit)):
            excerpt = _text_around(title if message_id is None else text, typed)
            yield conversation_id, title, message_id, role, text, excerpt, archived


_SNIPPET = re.compile(r"snippet\([^)]*\)")

# Ordered by rowid, so that FTS5 stops after the newest matches.
_TITLES = """
    SELECT conversations.id, conversations.title, NULL, '', '', snippet(found_titles, 0, ?, ?, ?, ?), archived
    FROM found_titles JOIN conversations ON conversations.id = found_titles.rowid
    WHERE found_titles MATCH ? AND deleted_at IS NULL ORDER BY found_titles.rowid DESC LIMIT ?
"""
_MESSAGES = f"""
    SELECT conversations.id, conversations.title, messages.id, {MESSAGE_ROLE}, messages.text,
        snippet(found_messages, 0, ?, ?, ?, ?), archived
    FROM found_messages JOIN messages ON messages.id = found_messages.rowid
    JOIN conversations ON conversations.id = messages.conversation_id
    WHERE found_messages MATCH ? AND deleted_at IS NULL ORDER BY found_messages.rowid DESC LIMIT ?
"""  # noqa: S608 (constants)


# Without FTS5's excerpt, which would tokenize the whole text (possibly a book).
_ATTACHMENTS = """
    SELECT conversations.id, conversations.title, messages.id, attachments.id, attachments.name, archived
    FROM found_attachments JOIN attachments ON attachments.id = found_attachments.rowid
    JOIN messages ON messages.id = attachments.message_id
    JOIN conversations ON conversations.id = messages.conversation_id
    WHERE found_attachments MATCH ? AND deleted_at IS NULL ORDER BY found_attachments.rowid DESC LIMIT ?
"""


def _text_around(text: str, typed: str) -> str:
    """The text around the first match, with matches marked."""
    wanted = _pattern(typed)
    found = wanted.search(text)
    begin = max(found.start() - _CHARS_BEFORE, 0) if found else 0
    around = text[begin : (found.end() if found else 0) + _CHARS_AFTER].replace(BEGIN, "").replace(END, "")
    return (ELLIPSIS if begin and around else "") + wanted.sub(_in_marks, around)


def _pattern(typed: str) -> re.Pattern[str]:
    words = _LETTERS.findall(" ".join(_words(typed)))[:MAX_WORDS]
    return re.compile(any_word_pattern(words), re.IGNORECASE)


# Marks of headings, quotations, items, fences and table rules; then of emphasis, code and reasoning.
_MARKUP = re.compile(
    r"^[ \t]*(?:#{1,6} |(?:> ?)+|[-*+] (?:\[[ xX]\] )?|(?:`{3,}|~{3,})\w*$|(?:\|?[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$)+"
    r"|\*{2,3}|(?<!\S)\*(?=\S)|(?<=\S)\*(?!\w)|(?<![\w\x02\x03])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\w\x02\x03])|`+|~~|</?think>",
    re.MULTILINE,
)
_LINK = re.compile(rf"!?\[([^\[\]\n]*)\]\([^()\s{BEGIN}]*\)")


def without_markdown(snippet: str) -> str:
    """A snippet without most Markdown; matches stay. A link stays if its address has a match."""
    return _MARKUP.sub("", _LINK.sub(r"\1", snippet))


def _in_marks(found: re.Match[str]) -> str:
    return f"{BEGIN}{found[0]}{END}"


def _parts(snippet: str) -> tuple[tuple[str, bool], ...]:
    """Split a snippet at its marks, as one line."""
    line = " ".join(snippet.split())
    parts: list[tuple[str, bool]] = []
    for index, piece in enumerate(re.split(f"[{BEGIN}{END}]", line)):
        if piece:
            parts.append((piece, index % 2 == 1))
    return tuple(parts)
