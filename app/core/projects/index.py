"""The index of the projects' files: an SQLite file that can be rebuilt from them at any time.

Passages are found by words (FTS5, BM25). In scripts without spaces between words each letter is indexed, and a query
consists of pairs of letters. With vectors, the two rankings are combined by reciprocal rank fusion (Cormack et al.
2009, https://doi.org/10.1145/1571941.1572114).
"""

import json
import logging
import math
import os
import re
import sqlite3
import threading
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.domain.file_kinds import shown_name
from app.core.domain.projects import FileState, Passage, ProjectFile
from app.core.domain.unspaced import has_unspaced, spaced
from app.core.storage.chats.database import as_storage_error, transaction
from engine.sandbox.document_child import Section
from engine.sentences import from_json, to_json

log = logging.getLogger(__name__)

VERSION = 1  # version of the tables
BUSY_TIMEOUT_S = 10.0  # maximum wait for a lock of another process
MAX_QUERY_WORDS = 32  # maximum number of words of a query
# A word is common if it is in more than 20 passages and in more than 1 of 20.
MIN_PASSAGES_FOR_COMMON, COMMON_WORD_SHARE = 20, 20
NUM_CANDIDATES = 100  # number of passages in each of the two rankings
MAX_FOUND = 50
MAX_BOOSTED_FILES = 3
PASSAGE_RANK_WEIGHT = 0.3  # weight of a passage's score; its best sentence's has weight 1
_RRF_K = 10  # the paper has 60; 10 keeps the top passages of both rankings: docs/projects.md, "Measured"
_LETTERS = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*|\n+")
_LAYOUT = """
    CREATE TABLE sources (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE);
    CREATE TABLE files (
        id INTEGER PRIMARY KEY,
        source_id INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
        path BLOB NOT NULL,
        name TEXT NOT NULL,
        num_bytes INTEGER NOT NULL,
        changed_ns INTEGER NOT NULL,
        num_pages INTEGER NOT NULL,
        problem TEXT NOT NULL,
        UNIQUE (source_id, path)
    );
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY,
        file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
        page INTEGER NOT NULL,
        heading TEXT NOT NULL,
        line INTEGER NOT NULL,
        text TEXT NOT NULL
    );
    CREATE INDEX passages_by_file ON passages (file_id);
    CREATE TABLE vectors (
        passage_id INTEGER PRIMARY KEY REFERENCES passages (id) ON DELETE CASCADE,
        model TEXT NOT NULL,
        vector BLOB NOT NULL
    );
    CREATE VIRTUAL TABLE words USING fts5 (
        text, heading, name, content = '', tokenize = 'unicode61 remove_diacritics 2'
    );
    CREATE VIRTUAL TABLE terms USING fts5vocab (words, 'row');
"""
_PASSAGE = "files.path, files.name, passages.text, passages.page, passages.heading, passages.line"
_PASSAGE_TABLES = "passages JOIN files ON files.id = passages.file_id JOIN sources ON sources.id = files.source_id"


@dataclass(frozen=True, slots=True)
class QuestionEmbedding:
    """The vector of a question, of length 1. ``model``: the name of the embedding model in the index."""

    model: str
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source, with its current state on the disk."""

    source: str
    path: str
    num_bytes: int
    changed_ns: int

    @property
    def name(self) -> str:
        """The file name for display."""
        return shown_name(Path(self.path).name)

    @property
    def facts(self) -> tuple[int, int]:
        """Size and modification time: a file with equal facts has not changed."""
        return self.num_bytes, self.changed_ns


class DocumentIndex:
    """The index file. Several processes may open it; methods may be called from any thread.

    Raises:
        StorageError: the index cannot be opened, read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # ---- reading ----------------------------------------------------------------------------------------------------

    def files(self, sources: Sequence[str]) -> tuple[ProjectFile, ...]:
        """The indexed files of these sources, sorted by name."""
        sql = f"""
            SELECT files.path, files.name, num_bytes, num_pages, problem, sources.path,
                (SELECT count(*) FROM passages WHERE file_id = files.id)
            FROM files JOIN sources ON sources.id = files.source_id
            WHERE sources.path IN ({_placeholders(sources)}) ORDER BY files.name, files.path
        """  # noqa: S608  (question marks)
        there = {source: Path(source).exists() for source in sources}
        found = []
        for path, name, num_bytes, num_pages, problem, source, count in self._rows(sql, _raw_paths(sources)):
            state = FileState.FAILED if problem else FileState.READ
            state = state if there[os.fsdecode(source)] else FileState.MISSING
            reason = from_json(json.loads(problem)) if problem else ""
            found.append(ProjectFile(os.fsdecode(path), name, num_bytes, state, num_pages, count, reason))
        return tuple(found)

    def file_of(self, source: str) -> dict[str, tuple[int, int]]:
        """For each indexed file of a source: size in bytes and modification time in nanoseconds when it was read."""
        sql = (
            "SELECT files.path, num_bytes, changed_ns FROM files JOIN sources ON sources.id = source_id "
            "WHERE sources.path = ?"
        )
        rows = self._rows(sql, (os.fsencode(source),))
        return {os.fsdecode(path): (num_bytes, changed_ns) for path, num_bytes, changed_ns in rows}

    def find(self, sources: Sequence[str], question: str, meaning: QuestionEmbedding | None = None) -> list[Passage]:
        """Find the passages of these sources that match a question, best first. ``meaning``: also search by vector."""
        ranked: list[Sequence[int]] = []
        terms = terms_of(question, self._common_words(question))
        if query := match_any(terms):
            order = f"AND words MATCH ? ORDER BY bm25(words, 1.0, 0.7, 0.5) LIMIT {NUM_CANDIDATES}"
            tables = f"{_PASSAGE_TABLES} JOIN words ON words.rowid = passages.id"
            found = [number for (number,) in self._select("words.rowid", sources, order, (query,), tables)]
            sql = f"SELECT id, heading || char(10) || text FROM passages WHERE id IN ({_placeholders(found)})"  # noqa: S608
            texts = dict(self._rows(sql, found))
            ranked.append(rank_by_sentences(terms, [(number, texts[number]) for number in found if number in texts]))
        if meaning is not None:
            ranked.append(self._nearest(sources, meaning))
        best = fuse_ranks(ranked)[:MAX_FOUND]
        sql = f"SELECT passages.id, {_PASSAGE} FROM {_PASSAGE_TABLES} WHERE passages.id IN ({_placeholders(best)})"  # noqa: S608
        rows = {number: _passage(row) for number, *row in self._rows(sql, best)}
        return [rows[number] for number in best if number in rows]

    def beginning(self, sources: Sequence[str]) -> list[Passage]:
        """The first passages, for questions such as "sum it up". Empty for more than `MAX_BOOSTED_FILES` files."""
        if len(self.files(sources)) > MAX_BOOSTED_FILES:
            return []
        rows = self._select(_PASSAGE, sources, f"ORDER BY passages.id LIMIT {MAX_FOUND}")
        return [_passage(row) for row in rows]

    def _common_words(self, question: str) -> frozenset[str]:
        """The words of a question that many passages contain: they distinguish little and take most of the time."""
        sql = f"SELECT max({MIN_PASSAGES_FOR_COMMON}, count(*) / {COMMON_WORD_SHARE}) FROM passages"  # noqa: S608
        ((most,),) = self._rows(sql, ())
        words = {_without_accents(word): word for word in _LETTERS.findall(question)}
        sql = f"SELECT term FROM terms WHERE term IN ({_placeholders(words)}) AND doc > ?"  # noqa: S608
        return frozenset(words[term] for (term,) in self._rows(sql, (*words, most)))

    def passages_of_file(self, path: str) -> list[Passage]:
        """All passages of a file, in order."""
        first = "(SELECT id FROM files WHERE path = ? LIMIT 1)"
        sql = f"SELECT {_PASSAGE} FROM {_PASSAGE_TABLES} WHERE files.id = {first} ORDER BY passages.id"  # noqa: S608
        return [_passage(row) for row in self._rows(sql, (os.fsencode(path),))]

    def locate(self, sources: Sequence[str], place: str, text: str) -> Passage | None:
        """Find a cited passage by its location and text; None if its file has changed or is gone."""
        found = [_passage(row) for row in self._select(_PASSAGE, sources, "AND passages.text = ?", (text,))]
        return next((one for one in found if one.place == place), next(iter(found), None))

    def passages_to_embed(self, sources: Sequence[str], model: str) -> list[tuple[int, str]]:
        """Number and text of the passages without a vector of this model."""
        columns = "passages.id, passages.heading || char(10) || passages.text"
        without = "AND NOT EXISTS (SELECT 1 FROM vectors WHERE passage_id = passages.id AND model = ?)"
        return self._select(columns, sources, without, (model,))

    def _nearest(self, sources: Sequence[str], meaning: QuestionEmbedding) -> list[int]:
        """The passages whose pieces have the largest dot products with the question's vector, best first."""
        tables = f"{_PASSAGE_TABLES} JOIN vectors ON vectors.passage_id = passages.id"
        rows = self._select("passage_id, vector", sources, "AND vectors.model = ?", (meaning.model,), tables)
        if not rows:
            return []
        width = len(meaning.vector)
        matrix = np.frombuffer(b"".join(each for _, each in rows), np.float16).reshape(-1, width)
        counts = np.array([len(each) // (2 * width) for _, each in rows])
        products = np.maximum.reduceat(matrix.astype(np.float32) @ meaning.vector, np.cumsum(counts) - counts)
        best = np.argsort(-products)[:NUM_CANDIDATES]
        return [rows[place][0] for place in best]

    # ---- writing ----------------------------------------------------------------------------------------------------

    def put_file(
        self, file: SourceFile, passages: Iterable[Section] = (), num_pages: int = 0, problem: str = ""
    ) -> None:
        """Replace a file's passages, or store why it could not be read, in one transaction."""
        reason = json.dumps(to_json(problem)) if problem else ""
        source, path = os.fsencode(file.source), os.fsencode(file.path)

        def job(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR IGNORE INTO sources (path) VALUES (?)", (source,))
            (source_id,) = db.execute("SELECT id FROM sources WHERE path = ?", (source,)).fetchone()
            _delete_files(db, "source_id = ? AND path = ?", (source_id, path))
            sql = (
                "INSERT INTO files (source_id, path, name, num_bytes, changed_ns, num_pages, problem) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)"
            )
            values = (source_id, path, file.name, *file.facts, num_pages, reason)
            file_id = db.execute(sql, values).lastrowid
            for one in passages:
                sql = "INSERT INTO passages (file_id, page, heading, line, text) VALUES (?, ?, ?, ?, ?)"
                number = db.execute(sql, (file_id, one.page, one.heading, one.line, one.text)).lastrowid
                sql = "INSERT INTO words (rowid, text, heading, name) VALUES (?, ?, ?, ?)"
                db.execute(sql, (number, spaced(one.text), spaced(one.heading), spaced(file.name)))

        self._write(job)

    def forget_file(self, source: str, path: str) -> None:
        """Remove a deleted file."""
        where = "source_id = (SELECT id FROM sources WHERE path = ?) AND path = ?"
        self._write(lambda db: _delete_files(db, where, (os.fsencode(source), os.fsencode(path))))

    def keep_only(self, sources: Iterable[str]) -> None:
        """Remove all other sources."""
        kept = _raw_paths(list(sources))

        def job(db: sqlite3.Connection) -> None:
            where = f"path NOT IN ({_placeholders(kept)})"
            for (number,) in db.execute(f"SELECT id FROM sources WHERE {where}", kept).fetchall():  # noqa: S608
                _delete_files(db, "source_id = ?", (number,))
                db.execute("DELETE FROM sources WHERE id = ?", (number,))

        self._write(job)

    def put_vectors(self, model: str, vectors: Mapping[int, NDArray[np.float32]]) -> None:
        """Store vectors by passage number, each [num_pieces, width], in half precision."""
        rows = [(number, model, vector.astype(np.float16).tobytes()) for number, vector in vectors.items()]
        sql = (
            "INSERT OR REPLACE INTO vectors (passage_id, model, vector) "
            "SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM passages WHERE id = ?1)"
        )
        self._write(lambda db: db.executemany(sql, rows))

    # ---- the file ---------------------------------------------------------------------------------------------------

    def _select(
        self,
        columns: str,
        sources: Sequence[str],
        rest: str,
        values: tuple[object, ...] = (),
        tables: str = "",
    ) -> list[Any]:
        """Rows of passages of these sources. ``rest``: further conditions and order, with its ``values``."""
        tables = tables or _PASSAGE_TABLES
        sql = f"SELECT {columns} FROM {tables} WHERE sources.path IN ({_placeholders(sources)}) {rest}"  # noqa: S608
        return self._rows(sql, (*_raw_paths(sources), *values))

    def _rows(self, sql: str, values: Sequence[object]) -> list[Any]:
        with self._lock:
            try:
                return self._open().execute(sql, tuple(values)).fetchall()
            except sqlite3.Error as error:
                raise as_storage_error(error, self._path) from error

    def _write(self, job: Callable[[sqlite3.Connection], object]) -> None:
        with self._lock:
            try:
                db = self._open()
                with transaction(db):
                    job(db)
            except sqlite3.Error as error:
                raise as_storage_error(error, self._path) from error

    def _open(self) -> sqlite3.Connection:
        """Open the index. A damaged index is created again, since all its content comes from files."""
        if self._connection is None:
            try:
                self._connection = _connect(self._path)
            except sqlite3.OperationalError:  # locked by another process, or not writable
                raise
            except sqlite3.DatabaseError as error:
                log.warning("The index of documents is made anew: %s", error)
                for name in (self._path, Path(f"{self._path}-journal")):
                    name.unlink(missing_ok=True)
                self._connection = _connect(self._path)
        return self._connection


def _connect(path: Path) -> sqlite3.Connection:
    """Open the index, with its tables.

    Without write-ahead log: SQLite before 3.51.3 can damage the log if two processes have it open.
    """
    db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA synchronous = NORMAL")
        with transaction(db):
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                for statement in _LAYOUT.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        db.close()
        raise
    return db


def _delete_files(db: sqlite3.Connection, where: str, values: Sequence[object]) -> None:
    """Delete files with their passages and entries in the full-text index, which does not store text itself."""
    sql = (
        "SELECT passages.id, passages.text, heading, name FROM passages JOIN files ON files.id = file_id "  # noqa: S608
        f"WHERE file_id IN (SELECT id FROM files WHERE {where})"
    )
    for number, *texts in db.execute(sql, values).fetchall():
        forgotten = "INSERT INTO words (words, rowid, text, heading, name) VALUES ('delete', ?, ?, ?, ?)"
        db.execute(forgotten, (number, *map(spaced, texts)))
    db.execute(f"DELETE FROM files WHERE {where}", values)  # noqa: S608


def terms_of(question: str, common: Collection[str] = ()) -> list[str]:
    """The query terms of a question: prefixes of its words, so that other endings match as well, each once.

    In scripts without spaces the terms are pairs of letters. ``common`` words are omitted if other terms remain.
    """
    terms: list[str] = []
    words = _LETTERS.findall(question.replace("\x00", " "))
    for word in [word for word in words if word not in common] or words:
        letters = spaced(word).split()
        if has_unspaced(word):
            terms += ["".join(pair) for pair in pairwise(letters)] or [word]
        else:
            terms.append(_without_accents(word)[: max(4, len(word) - 3)])
    return list(dict.fromkeys(terms))[:MAX_QUERY_WORDS]


def match_any(terms: Sequence[str]) -> str:
    """The FTS5 query for any of the terms; empty without terms."""
    ends = ("*" if len(term) >= 4 and not has_unspaced(term) else "" for term in terms)
    return " OR ".join(f'"{spaced(term)}"{end}' for term, end in zip(terms, ends, strict=True))


def rank_by_sentences(terms: Sequence[str], passages: Sequence[tuple[int, str]]) -> list[int]:
    """Rank passages (number, text) by the terms in their best sentence; terms in other sentences break ties.

    BM25 rates a passage with one word five times like a passage with five words in one sentence. Terms that fewer of
    these passages contain have more weight.
    """
    plain = [
        (number, [_without_accents(each) for each in _SENTENCE.split(text) if each.strip()])
        for number, text in passages
    ]
    patterns = [re.compile(re.escape(term) if has_unspaced(term) else rf"\b{re.escape(term)}") for term in terms]
    having = {
        number: [{place for place, pattern in enumerate(patterns) if pattern.search(each)} for each in sentences]
        for number, sentences in plain
    }
    counts = [sum(any(place in each for each in sets) for sets in having.values()) for place in range(len(terms))]
    weights = [math.log(1.0 + len(passages) / count) if count else 0.0 for count in counts]

    def score(number: int) -> float:
        sums = [sum(weights[place] for place in each) for each in having[number]]
        whole = set().union(*having[number]) if having[number] else set()
        return max(sums, default=0.0) + PASSAGE_RANK_WEIGHT * sum(weights[place] for place in whole)

    return sorted((number for number, _ in passages), key=lambda number: -score(number))


def fuse_ranks(ranked: Iterable[Sequence[int]]) -> list[int]:
    """Reciprocal rank fusion: the score of an item is the sum of ``1 / (10 + rank)`` over the lists."""
    scores: dict[int, float] = {}
    for numbers in ranked:
        for place, number in enumerate(numbers, 1):
            scores[number] = scores.get(number, 0.0) + 1.0 / (_RRF_K + place)
    return sorted(scores, key=lambda number: -scores[number])


def _without_accents(word: str) -> str:
    """The word in lower case and without diacritics, as in the index."""
    return "".join(char for char in unicodedata.normalize("NFKD", word.lower()) if not unicodedata.combining(char))


def _placeholders(values: Collection[object]) -> str:
    return ",".join("?" * len(values))


def _raw_paths(paths: Sequence[str]) -> list[bytes]:
    return [os.fsencode(path) for path in paths]


def _passage(row: Sequence[Any]) -> Passage:
    path, name, text, page, heading, line = row
    return Passage(os.fsdecode(path), name, text, page, heading, line)
