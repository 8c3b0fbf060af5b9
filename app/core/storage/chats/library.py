"""Manages the list of conversations: folders, pins, archive, copies, unsent texts, search."""

import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from app.core.domain.conversations import FolderRow, SearchHit, one_line
from app.core.domain.errors import StorageError
from app.core.domain.messages import EPOCH
from app.core.domain.unspaced import any_word_pattern, has_unspaced, spaced
from app.core.storage.chats import messages
from app.core.storage.chats.portable import create_folder, insert_chat, read_chat
from app.core.storage.chats.schema import MESSAGE_ROLE
from app.core.storage.chats.writer import DatabaseAccess, StorePart, stored

NEW_CHAT = 0  # the key for the unsent text of a chat that is not stored yet


@dataclass(frozen=True, slots=True)
class DeletedFolder:
    """A deleted folder: its position (``place``), its conversations, and how many of them are in the list."""

    row: FolderRow
    place: int
    conversation_ids: tuple[int, ...]
    num_listed: int


class ChatLibrary(StorePart):
    """Every method raises `StorageError` if it fails."""

    def __init__(self, access: DatabaseAccess) -> None:
        super().__init__(access)
        self._num_searches = 0

    # ---- folders ----------------------------------------------------------------------------------------------------

    def folders(self) -> tuple[FolderRow, ...]:
        sql = "SELECT id, name, folded FROM folders ORDER BY place, id"
        found = self.access.read(lambda db: db.execute(sql).fetchall())
        return tuple(FolderRow(number, name, bool(folded)) for number, name, folded in found)

    def folder_of(self, conversation_id: int) -> int | None:
        """The folder of a conversation; None if it is in no folder."""
        sql = "SELECT folder_id FROM conversations WHERE id = ?"
        return self.access.read(lambda db: (db.execute(sql, (conversation_id,)).fetchone() or (None,))[0])

    def create_folder(self, name: str) -> int:
        """Add a folder at the end; returns its id. The name is reduced to one line."""
        return self.access.write(lambda db: create_folder(db, one_line(name)))

    def rename_folder(self, folder_id: int, name: str) -> None:
        """Rename a folder; an empty name is ignored."""
        if good := one_line(name):
            self._change("UPDATE folders SET name = ? WHERE id = ?", good, folder_id)

    def set_folded(self, folder_id: int, folded: bool) -> None:
        self._change("UPDATE folders SET folded = ? WHERE id = ?", folded, folder_id)

    @stored
    def delete_folder(self, db: sqlite3.Connection, folder_id: int) -> DeletedFolder | None:
        """Delete a folder; its conversations stay. None if the folder does not exist."""
        found = db.execute("SELECT name, folded, place FROM folders WHERE id = ?", (folder_id,)).fetchone()
        inside = db.execute("SELECT id, deleted_at FROM conversations WHERE folder_id = ?", (folder_id,)).fetchall()
        db.execute("DELETE FROM folders WHERE id = ?", (folder_id,))
        if found is None:
            return None
        row = FolderRow(folder_id, found[0], bool(found[1]))
        return DeletedFolder(row, found[2], tuple(one for one, _ in inside), sum(not gone for _, gone in inside))

    @stored
    def undo_folder_deletion(self, db: sqlite3.Connection, folder: DeletedFolder) -> None:
        """Undo `delete_folder`. Conversations that were moved to another folder meanwhile stay there."""
        row = folder.row
        sql = "INSERT INTO folders (id, name, place, folded) VALUES (?, ?, ?, ?)"
        db.execute(sql, (row.id, row.name, folder.place, row.folded))
        inside = [(row.id, conversation_id) for conversation_id in folder.conversation_ids]
        db.executemany("UPDATE conversations SET folder_id = ? WHERE id = ? AND folder_id IS NULL", inside)

    # ---- pins, archive, folders -------------------------------------------------------------------------------------

    def set_pinned(self, conversation_id: int, pinned: bool) -> None:
        """Pin a conversation (as the last pinned one), or unpin it."""
        sql = """
            UPDATE conversations SET pinned = ?1, archived = CASE WHEN ?1 THEN 0 ELSE archived END,
                place = (SELECT coalesce(max(place), 0) + 1 FROM conversations WHERE pinned) WHERE id = ?2
        """
        self._change(sql, pinned, conversation_id)

    def set_archived(self, conversation_id: int, archived: bool) -> None:
        sql = "UPDATE conversations SET archived = ?1, pinned = CASE WHEN ?1 THEN 0 ELSE pinned END WHERE id = ?2"
        self._change(sql, archived, conversation_id)

    def move_to_folder(self, conversation_id: int, folder_id: int | None) -> None:
        """Move a conversation to the end of a folder, or out of folders."""
        sql = """
            UPDATE conversations SET folder_id = ?1, pinned = 0, archived = 0,
                place = (SELECT coalesce(max(place), 0) + 1 FROM conversations WHERE folder_id = ?1) WHERE id = ?2
        """
        self._change(sql, folder_id, conversation_id)

    # ---- copies -----------------------------------------------------------------------------------------------------

    @stored
    def branch_off(self, db: sqlite3.Connection, message_id: int) -> int:
        """Copy a message with its ancestors to a new chat; returns the new chat's id.

        A streaming answer is copied as an interrupted answer with the text that is already written.

        Raises:
            StorageError: it does not exist.
        """
        conversation_id = messages.conversation_of(db, message_id)
        chat = read_chat(db, conversation_id) if conversation_id is not None else None
        if conversation_id is None or chat is None:
            raise StorageError("This message no longer exists.", "Choose another one.")
        path = set(messages.read_tree(db, conversation_id).ancestors(message_id))
        kept = tuple(message for message in chat.messages if message.id in path)
        chat = replace(chat, messages=kept, title=f"{chat.title} (copy)", created_at=EPOCH, updated_at=EPOCH)
        copy = insert_chat(db, chat, datetime.now(UTC))
        sql = "UPDATE conversations SET (folder_id, place) = (SELECT folder_id, place FROM conversations WHERE id = ?)"
        db.execute(f"{sql} WHERE id = ?", (conversation_id, copy))
        return copy

    # ---- unsent texts -----------------------------------------------------------------------------------------------

    def save_unsent(self, conversation_id: int | None, text: str) -> Future[None]:
        """Store the composer's text without waiting; an empty text deletes it."""
        return self.access.post(lambda db: write_unsent(db, conversation_id, text))

    def unsent(self, conversation_id: int | None) -> str:
        """The stored text of the composer; may be empty."""
        sql = "SELECT text FROM unsent WHERE conversation_id = ?"
        key = conversation_id or NEW_CHAT
        return self.access.read(lambda db: str((db.execute(sql, (key,)).fetchone() or ("",))[0]))

    # ---- search -----------------------------------------------------------------------------------------------------

    def search(self, typed: str) -> Future[tuple[SearchHit, ...] | None]:
        """Search titles, messages and attachments without waiting; the result is None if a later search replaced it."""
        self._num_searches += 1
        number = self._num_searches

        def job(db: sqlite3.Connection) -> tuple[SearchHit, ...] | None:
            from app.core.storage.chats.library import find  # noqa: PLC0415  (nothing is looked for at the start)

            return find(db, typed) if number == self._num_searches else None

        return self.access.post(job)

    def _change(self, sql: str, *values: int | str | None) -> None:
        self.access.write(lambda db: db.execute(sql, values))


# ---- statements -----------------------------------------------------------------------------------------------------


def write_unsent(db: sqlite3.Connection, conversation_id: int | None, text: str) -> None:
    key = conversation_id or NEW_CHAT
    if not text:
        db.execute("DELETE FROM unsent WHERE conversation_id = ?", (key,))
    elif key == NEW_CHAT or db.execute("SELECT 1 FROM conversations WHERE id = ?", (key,)).fetchone():
        db.execute("INSERT OR REPLACE INTO unsent (conversation_id, text) VALUES (?, ?)", (key, text))


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
