"""Copies of the chats file: made by SQLite's backup API, verified, and thinned out by age.

An unverified copy has the ending ``.part``.
"""

import contextlib
import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from app.core.domain.errors import BackupError, DamagedFileError, StorageError
from app.core.storage.atomic import move_into_place
from app.core.storage.chats.database import check, version_of
from app.core.storage.chats.schema import VERSION
from engine.sentences import i18n

DAILY, WEEKLY, MONTHLY = 12, 10, 9
_STAMP = "%Y%m%d-%H%M%S-%f"
_PAGES_AT_ONCE = 1000  # pages of 4 KiB; copying them takes a few milliseconds


def copy_database(
    connection: sqlite3.Connection, folder: Path, now: datetime, between: Callable[[], None] = lambda: None
) -> Path:
    """Copy the open file a few megabytes at a time; returns the unverified copy.

    ``between`` may use and change the file meanwhile.

    Raises:
        BackupError: the copy could not be written. No partial copy is left.
    """
    part = folder / f"chats-daily-{now.strftime(_STAMP)}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(part, isolation_level=None)) as copy:
            # SQLite includes changes that this connection makes meanwhile: https://www.sqlite.org/backup.html
            connection.backup(
                copy, pages=_PAGES_AT_ONCE, progress=lambda _status, left, _all: between() if left else None
            )
    except (sqlite3.Error, OSError, StorageError) as error:
        raise _failed(part, error) from error
    return part


def verify(part: Path) -> Path:
    """Read a whole copy, and accept it; returns its path. On any thread.

    Raises:
        BackupError: it is damaged. No partial copy is left.
    """
    final = part.with_suffix(".db")
    try:
        with contextlib.closing(sqlite3.connect(part, isolation_level=None)) as copy:
            # The copy must be a single file: in WAL mode it would need others beside it.
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
            check(copy, thorough=True)
        move_into_place(part, final)
    except (sqlite3.Error, OSError, DamagedFileError) as error:
        raise _failed(part, error) from error
    return final


def _failed(part: Path, error: Exception) -> BackupError:
    """Delete a failed copy; returns the error to raise."""
    _discard(part)
    return BackupError(
        i18n("The copy {file} could not be made: {error}.", file=part.with_suffix(".db").name, error=error)
    )


def discard_unfinished(folder: Path) -> None:
    """Remove copies that were not verified before the app ended."""
    for part in folder.glob("chats-*.part"):
        _discard(part)


def _discard(part: Path) -> None:
    for litter in (part, *(part.with_name(part.name + ending) for ending in ("-journal", "-wal", "-shm"))):
        with contextlib.suppress(OSError):
            litter.unlink(missing_ok=True)


def backups_in(folder: Path) -> list[Path]:
    """The finished copies, newest first."""
    return sorted(filter(_is_dated, folder.glob("chats-daily-*.db")), key=_made_at, reverse=True)


def backup_is_due(folder: Path, now: datetime) -> bool:
    """True if there is no copy of today yet."""
    today = now.strftime("%Y%m%d")
    return not any(_made_at(path)[:8] == today for path in backups_in(folder))


def rotate(folder: Path, now: datetime) -> None:
    """Keep the newest daily copy of a day, week and month, for the last 12 days, 10 weeks and 9 months that have one.

    The same limits apply separately to copies dated after ``now``, which were made while the clock was ahead.
    """
    keep, today = set[Path](), now.strftime("%Y%m%d")
    daily = backups_in(folder)
    days = [(path, datetime.strptime(_made_at(path), _STAMP)) for path in daily]  # noqa: DTZ007 (a file's name)
    for is_ahead in (False, True):
        some = [(path, day) for path, day in days if (day.strftime("%Y%m%d") > today) is is_ahead]
        for period, limit in (("%Y%m%d", DAILY), ("%G-%V", WEEKLY), ("%Y%m", MONTHLY)):
            newest = {day.strftime(period): path for path, day in reversed(some)}
            keep.update(list(newest.values())[-limit:])
    for path in daily:
        if path not in keep:
            path.unlink(missing_ok=True)


def most_complete_backup(folder: Path) -> Path | None:
    """The intact copy with the most rows ever inserted; of equal copies the newest.

    The time is unreliable: the clock may have been ahead when an old copy was made.
    """
    for path in sorted(backups_in(folder), key=_num_ever_inserted, reverse=True):
        try:
            with _reading(path) as copy:
                check(copy)
                if version_of(copy) == VERSION:
                    return path
        except (sqlite3.Error, UnicodeDecodeError, DamagedFileError):
            continue
    return None


def _num_ever_inserted(path: Path) -> int:
    """The number of rows ever inserted into a copy's tables: it only grows, also when chats are deleted."""
    try:
        with _reading(path) as copy:
            return int(copy.execute("SELECT coalesce(sum(seq), 0) FROM sqlite_sequence").fetchone()[0])
    except (sqlite3.Error, UnicodeDecodeError, ValueError, TypeError):
        return 0


def _reading(path: Path) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True))


def _is_dated(path: Path) -> bool:
    """True if the file has a name of ours: the user's own copies are left alone."""
    if not path.is_file():  # reading a pipe would block
        return False
    try:
        datetime.strptime(_made_at(path), _STAMP)  # noqa: DTZ007 (a file's name)
    except ValueError:
        return False
    return True


def _made_at(path: Path) -> str:
    return path.stem.split("-", 2)[2]
