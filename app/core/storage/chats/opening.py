"""Opens the chats file in any state, or sets it aside (renames it) and starts with a new one. Deletes nothing."""

import contextlib
import os
import shutil
import sqlite3
import stat
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.core.domain.errors import (
    DamagedFileError,
    NewerFileError,
    StorageBusyError,
    StorageError,
    StorageFullError,
    StorageReadOnlyError,
)
from app.core.storage.atomic import move_into_place, sync
from app.core.storage.chats.backups import most_complete_backup
from app.core.storage.chats.clean_shutdown import consume_marker
from app.core.storage.chats.database import (
    MEMORY,
    as_storage_error,
    check,
    connect,
    layout_of,
    transaction,
    version_of,
)
from app.core.storage.chats.schema import LAYOUT, VERSION
from engine.records import Problem
from engine.sentences import i18n, joined

COPY_TRIES = 5  # attempts to copy a file that another program writes to


@dataclass(frozen=True, slots=True)
class StoreLocation:
    file: Path
    backups: Path


@dataclass(frozen=True, slots=True)
class OpenedStore:
    """A usable connection. ``problem``: why it is only in memory, or which file was set aside.

    ``is_persistent``: False if changes are lost at the end. ``has_stored``: False if it lacks the stored chats.
    """

    connection: sqlite3.Connection
    is_persistent: bool = True
    problem: Problem | None = None
    has_stored: bool = True


def open_chats(place: StoreLocation, now: datetime) -> OpenedStore:
    """Open the file or a substitute. Never fails, whatever the state of the disk."""
    try:
        place.file.parent.mkdir(parents=True, exist_ok=True)
        _check_file_kind(place)
        return OpenedStore(_open_good(place))
    except (DamagedFileError, NewerFileError) as error:
        return _replace_and_open(place, now, error)
    except StorageError as error:
        return _open_in_memory(place, error)
    except OSError as error:
        reason = StorageReadOnlyError(
            i18n("{folder}: {reason}.", folder=place.file.parent, reason=error.strerror or error)
        )
        return _open_in_memory(place, reason)


def _check_file_kind(place: StoreLocation) -> None:
    """Raise if the file cannot be the stored chats: SQLite would treat a missing or empty file as new.

    Raises:
        DamagedFileError: it is a folder, or it is missing or empty although backups exist.
        StorageError: it is a pipe or a device, where SQLite could block.
    """
    if place.file.is_dir():
        raise DamagedFileError(i18n("{file} is a folder.", file=place.file.name))
    there = os.path.lexists(place.file)  # true for a broken link: opening it reports the reason
    found = place.file.stat() if there else None
    if found is not None and not stat.S_ISREG(found.st_mode):
        raise StorageError(i18n("{file} is not a regular file.", file=place.file))
    if (found is None or not found.st_size) and any(place.backups.glob("*.db")):
        sentence = i18n("{file} is empty.", file=place.file.name) if there else None
        raise DamagedFileError(sentence or i18n("{file} is missing.", file=place.file.name))


def _open_good(place: StoreLocation) -> sqlite3.Connection:
    closed_well = consume_marker(place.file)  # before connecting, which creates files beside it
    connection = connect(place.file)
    try:
        if not closed_well:
            check(connection)
        found = version_of(connection)
        if found > VERSION:
            raise NewerFileError(
                i18n(
                    "{file} has format version {found}; this Paceline supports up to {known}.",
                    file=place.file.name,
                    found=found,
                    known=VERSION,
                )
            )
        if found == 0 and not layout_of(connection):
            _create_tables(connection)
        with contextlib.closing(_empty_in_memory()) as memory:
            wanted = layout_of(memory)
        if found not in (0, VERSION) or layout_of(connection) != wanted:
            raise DamagedFileError(i18n("{file} does not have the tables of a chats file.", file=place.file.name))
        # Check that the file is writable, without writing: a full disk must not prevent opening.
        with transaction(connection):
            pass
    except (sqlite3.Error, UnicodeDecodeError) as error:
        connection.close()
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:  # not an intact chats file
            raise DamagedFileError(
                i18n("{file} cannot be read as a chats file ({error}).", file=place.file.name, error=error)
            ) from error
        raise as_storage_error(error, place.file) from error
    except StorageError:
        connection.close()
        raise
    return connection


def _create_tables(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        for statement in LAYOUT:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _empty_in_memory() -> sqlite3.Connection:
    memory = connect(MEMORY)
    _create_tables(memory)
    return memory


def _restore_backup(backup: Path, file: Path) -> None:
    """Replace the file by a verified backup, and delete the write-ahead log of the replaced file."""
    part = file.with_suffix(".part")
    try:
        shutil.copyfile(backup, part)
        with part.open("r+b") as copy:
            sync(copy)  # sync before the log is deleted
        for companion in _wal_files(file):
            companion.unlink(missing_ok=True)
        move_into_place(part, file)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _wal_files(file: Path) -> tuple[Path, ...]:
    return file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm")


def _replace_and_open(place: StoreLocation, now: datetime, why: StorageError) -> OpenedStore:
    """Set the file aside and open the newest good backup in its place, or an empty file if there is no backup.

    If that fails, the file is put back, since the next start would treat a missing file as a first start.
    """
    aside = place.file.with_name(f"{place.file.stem}.aside-{now.strftime('%Y%m%d-%H%M%S-%f')}{place.file.suffix}")
    try:
        for source, kept in zip((place.file, *_wal_files(place.file)), (aside, *_wal_files(aside)), strict=True):
            if source.exists():
                source.rename(kept)
        kept_it = aside.exists()
        backup = most_complete_backup(place.backups)
        if backup is not None:
            _restore_backup(backup, place.file)
        connection = _open_good(place)
    except (OSError, StorageError) as error:
        _undo_setting_aside(place, aside)
        return _open_in_memory(place, why, i18n("It could not be replaced: {error}.", error=_reason(error)))
    if backup is None:
        opened = i18n("A new, empty one was opened.")
    else:
        opened = i18n("The copy {copy} was opened instead.", copy=backup.name)
    return OpenedStore(
        connection,
        problem=Problem(
            why.title,
            joined([why.message, *([i18n("It is kept as {aside}.", aside=aside.name)] if kept_it else []), opened]),
            _advice(why, place),
        ),
        has_stored=False,
    )


def _undo_setting_aside(place: StoreLocation, aside: Path) -> None:
    """Restore the file that was set aside. The file in its place was made from a backup, which still exists."""
    if not aside.exists():
        return
    with contextlib.suppress(OSError):
        for made in (place.file, *_wal_files(place.file)):
            made.unlink(missing_ok=True)
        for kept, source in zip((aside, *_wal_files(aside)), (place.file, *_wal_files(place.file)), strict=True):
            if kept.exists():
                kept.rename(source)


def _reason(error: OSError | StorageError) -> str:
    return error.message if isinstance(error, StorageError) else error.strerror or str(error)


def _advice(why: StorageError, place: StoreLocation) -> str:
    if isinstance(why, NewerFileError):
        return i18n(
            "Install the newer Paceline again, and rename the kept file to {file} for it.", file=place.file.name
        )
    if any(place.backups.glob("*.db")):
        return i18n("Earlier copies are in {folder}.", folder=place.backups)
    return i18n("There is no earlier copy.")


def _open_in_memory(place: StoreLocation, why: StorageError, more: str = "") -> OpenedStore:
    """Continue in memory: readable chats are shown, and nothing is saved."""
    memory = connect(MEMORY)
    readable = isinstance(why, StorageReadOnlyError | StorageFullError | StorageBusyError) and _read_into(memory, place)
    if not readable:
        memory.close()
        memory = _empty_in_memory()
    if readable:
        shown = i18n("The stored chats can be read, but new messages are kept only until Paceline is closed.")
    else:
        shown = i18n("New messages are kept only until Paceline is closed.")
    problem = Problem(why.title, joined([why.message, more, shown]), _advice_in_memory(why))
    return OpenedStore(memory, is_persistent=False, problem=problem, has_stored=readable)


def _advice_in_memory(why: StorageError) -> str:
    """The advice if the app does not try again before the next start."""
    if isinstance(why, StorageFullError):
        return i18n("Free some space, and start Paceline again.")
    if why.advice == StorageError.default_advice:
        return i18n("Check the disk and the folder's permissions, and start Paceline again.")
    return why.advice


def _copy_unchanged(file: Path, copy: Path) -> bool:
    """Copy a file, then its log, while others may write; False if the file was changed meanwhile.

    The log contains all changes since the file was last written.
    """
    before = file.stat()
    for source, target in zip((file, *_wal_files(file)), (copy, *_wal_files(copy)), strict=True):
        if source.exists():
            shutil.copyfile(source, target)
    after = file.stat()
    return (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)


def _read_into(memory: sqlite3.Connection, place: StoreLocation) -> bool:
    """Copy a read-only file with its log into memory; False on failure."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / place.file.name
            if not any(_copy_unchanged(place.file, copy) for _ in range(COPY_TRIES)):
                return False
            with contextlib.closing(sqlite3.connect(copy)) as readable:
                check(readable)
                if version_of(readable) != VERSION:
                    return False
                readable.backup(memory)
    except (sqlite3.Error, OSError, UnicodeDecodeError, DamagedFileError):
        return False
    return True
