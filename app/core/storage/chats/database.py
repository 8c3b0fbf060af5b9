"""SQLite connections that never lose committed changes: pragmas are verified, errors become messages for the user."""

import contextlib
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.core.domain.errors import (
    DamagedFileError,
    StorageBusyError,
    StorageError,
    StorageFullError,
    StorageReadOnlyError,
)
from app.core.domain.unspaced import has_unspaced, spaced
from engine.sentences import i18n

MEMORY = Path(":memory:")
FULL_BYTES = 1 << 16  # with less free space the disk counts as full
BUSY_TIMEOUT_S = 2.0  # how long to wait for another program's lock
_MAX_INTEGER = 2**63 - 1

# EXCLUSIVE prevents a second connection, with which SQLite 3.7.0-3.51.2 can corrupt a WAL file. FULL: a commit survives
# a power loss (https://www.sqlite.org/pragma.html#pragma_synchronous).
_PRAGMAS: tuple[tuple[str, str, object], ...] = (
    ("locking_mode", "EXCLUSIVE", "exclusive"),
    ("journal_mode", "WAL", "wal"),
    ("synchronous", "FULL", 2),
    ("foreign_keys", "ON", 1),
    ("trusted_schema", "OFF", 0),
)
_MACOS_PRAGMAS: tuple[tuple[str, str, object], ...] = (("checkpoint_fullfsync", "ON", 1),)


class Connection(sqlite3.Connection):
    """A connection that accepts any text and number: values that SQLite cannot store are replaced."""

    def execute(self, sql: str, values: Sequence[object] = (), /) -> sqlite3.Cursor:  # type: ignore[override]
        """Lone surrogates become question marks; integers beyond 64 bits are clamped."""
        try:
            return super().execute(sql, values)
        except (UnicodeEncodeError, OverflowError):  # raised before the statement is executed
            return super().execute(sql, [_storable(value) for value in values])


def _storable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return max(-_MAX_INTEGER, min(value, _MAX_INTEGER)) if isinstance(value, int) else value


def connect(file: Path) -> sqlite3.Connection:
    """Open ``file`` for this thread, and set and verify all pragmas.

    Raises:
        StorageError: SQLite reports an error; the subclass depends on it.
    """
    connection = None
    try:
        connection = sqlite3.connect(file, timeout=BUSY_TIMEOUT_S, isolation_level=None, factory=Connection)
        # Damaged text is read with replacement characters, so that other text stays usable.
        connection.text_factory = lambda raw: raw.decode("utf-8", errors="replace")
        for function in (spaced, has_unspaced):  # functions for the index of scripts without spaces
            connection.create_function(function.__name__, 1, function, deterministic=True)
        set_pragmas(connection, in_memory=file == MEMORY)
    except (sqlite3.Error, UnicodeDecodeError, StorageError) as error:
        if connection is not None:
            connection.close()
        if isinstance(error, StorageError):
            raise
        raise as_storage_error(error, file) from error
    return connection


def set_pragmas(connection: sqlite3.Connection, *, in_memory: bool) -> None:
    """Set and verify the pragmas that make committed changes safe.

    Raises:
        StorageError: a pragma was not accepted.
    """
    wanted = _PRAGMAS + (_MACOS_PRAGMAS if sys.platform == "darwin" else ())
    for name, value, read_back in wanted:
        if in_memory and name == "journal_mode":
            continue
        connection.execute(f"PRAGMA {name} = {value}").fetchall()
        found = connection.execute(f"PRAGMA {name}").fetchone()[0]
        if found != read_back:
            raise StorageError(
                i18n(
                    "The database does not accept {name} = {value}: it reports {found}.",
                    name=name,
                    value=value,
                    found=found,
                )
            )


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit at the end, roll back on any error. After a normal exit the change is stored."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite itself has already rolled back if the disk is full.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def version_of(connection: sqlite3.Connection) -> int:
    """The layout's version; 0 for an empty file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def check(connection: sqlite3.Connection, *, thorough: bool = False) -> None:
    """Check the whole file for damage; ``thorough`` also compares indexes with tables.

    Raises:
        DamagedFileError: the file is damaged; the message has the first finding.
    """
    name = "integrity_check" if thorough else "quick_check"
    finding = connection.execute(f"PRAGMA {name}(1)").fetchone()[0]
    if finding != "ok":
        raise DamagedFileError(i18n("SQLite found damage: {finding}.", finding=str(finding).splitlines()[-1][:200]))


def layout_of(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """The columns of each table."""
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    sql = "SELECT name FROM pragma_table_info(?)"
    return {name: tuple(column for (column,) in connection.execute(sql, (name,))) for (name,) in names}


def as_storage_error(error: sqlite3.Error | ValueError | ArithmeticError | LookupError, file: Path) -> StorageError:
    """Convert an error of SQLite, or of decoding its rows, to an error about ``file``."""
    if not isinstance(error, sqlite3.Error):
        # sqlite3 raises it if SQLite's message contains damaged names.
        return DamagedFileError(i18n("{file} cannot be read as a chats file.", file=file.name))
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(file.parent)):
        return StorageFullError(i18n("There is no space left in {folder}.", folder=file.parent))
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StorageBusyError(i18n("Another program is using {file}.", file=file))
    refused = code == sqlite3.SQLITE_IOERR and not os.access(file.parent, os.W_OK)
    if refused or code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StorageReadOnlyError(i18n("{file} cannot be written.", file=file))
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT):
        return DamagedFileError(i18n("{file} cannot be read as a chats file ({error}).", file=file.name, error=error))
    return StorageError(i18n("{file}: {error}.", file=file.name, error=error))


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < FULL_BYTES
    except OSError:
        return False
