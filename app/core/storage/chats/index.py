"""Updates the full-text indexes, in the transaction that changes a title, a message or an attachment.

FTS5 with external content removes a row by its indexed text, so rows are removed before their text changes. There are
two indexes: one of words, and one of letters for texts in scripts without spaces (`app.core.domain.unspaced`).
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """An indexed column. ``words`` and ``letters``: its indexes. ``where`` selects the rows to index."""

    table: str
    column: str
    words: str
    words_column: str
    letters: str
    where: str = "1"

    def add(self, db: sqlite3.Connection, number: int, which: str = "id = ?") -> None:
        """Add the rows that match the condition ``which``; ``number`` is its parameter."""
        self._update(db, f"{self.where} AND {which}", (number,), forget=False)

    def forget(self, db: sqlite3.Connection, number: int, which: str = "id = ?") -> None:
        """Remove the rows that match ``which``, before they change or are deleted."""
        self._update(db, f"{self.where} AND {which}", (number,), forget=True)

    @contextmanager
    def changed(self, db: sqlite3.Connection, number: int) -> Iterator[None]:
        """Index a row again after the block changed it."""
        self.forget(db, number)
        yield
        self.add(db, number)

    def rebuild(self, db: sqlite3.Connection) -> None:
        db.execute(f"INSERT INTO {self.words} ({self.words}) VALUES ('rebuild')")  # noqa: S608 (constants)
        # FTS5's rebuild adds all rows, including those that ``where`` excludes: remove these again.
        self._insert(db, (self.words, self.words_column, self.column), f"NOT ({self.where})", (), forget=True)
        db.execute(f"INSERT INTO {self.letters} ({self.letters}) VALUES ('delete-all')")  # noqa: S608
        self._update(db, self.where, (), forget=False, words=False)

    def _update(
        self, db: sqlite3.Connection, which: str, values: tuple[int, ...], *, forget: bool, words: bool = True
    ) -> None:
        if words:
            self._insert(db, (self.words, self.words_column, self.column), which, values, forget=forget)
        letters = (self.letters, "text", f"spaced({self.column})")
        self._insert(db, letters, f"{which} AND has_unspaced({self.column})", values, forget=forget)

    def _insert(
        self, db: sqlite3.Connection, index: tuple[str, str, str], which: str, values: tuple[int, ...], *, forget: bool
    ) -> None:
        name, column, text = index
        columns, found = f"rowid, {column}", f"id, {text}"
        if forget:
            columns, found = f"{name}, {columns}", f"'delete', {found}"
        db.execute(f"INSERT INTO {name} ({columns}) SELECT {found} FROM {self.table} WHERE {which}", values)  # noqa: S608


# Streaming answers are not indexed: their text changes four times a second.
MESSAGES = SearchIndex("messages", "text", "found_messages", "text", "found_letters_messages", "state <> 'streaming'")
TITLES = SearchIndex("conversations", "title", "found_titles", "title", "found_letters_titles")
ATTACHMENTS = SearchIndex("attachment_words", "text", "found_attachments", "text", "found_letters_attachments")


def rebuild(db: sqlite3.Connection) -> None:
    """Rebuild damaged indexes."""
    for indexed in (MESSAGES, TITLES, ATTACHMENTS):
        indexed.rebuild(db)
