"""Tests opening the chats on a full disk or in a read-only folder: they stay in place and are shown."""

import contextlib
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.core.storage.chats.database import connect
from app.core.storage.chats.opening import StoreLocation, open_chats
from app.core.storage.chats.schema import LAYOUT, VERSION
from tests.app.core.storage.small_disk import fill

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def put_chats(place: StoreLocation) -> None:
    """A file with one chat of one message."""
    with contextlib.closing(connect(place.file)) as db:
        for statement in LAYOUT:
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION}")
        columns = "(title, title_by_user, created_at, updated_at, mode)"
        db.execute(f"INSERT INTO conversations {columns} VALUES ('kept', 1, 1, 1, 'off')")  # noqa: S608 (our words)
        db.execute(
            "INSERT INTO messages (conversation_id, position, role, text, state, created_at) "
            "VALUES (1, 0, 'user', ?, 'complete', 1)",
            ("stored before " * 3000,),
        )


@pytest.mark.parametrize("with_copy", [True, False], ids=["with a copy", "without one"])
def test_a_damaged_file_that_cannot_be_replaced_stays_where_it_is(small_disk: Path, with_copy: bool) -> None:
    place = StoreLocation(small_disk / "chats.db", small_disk / "backups")
    if with_copy:
        place.backups.mkdir()
        put_chats(StoreLocation(place.backups / "chats-daily-20261119-120000-000000.db", place.backups))
        with contextlib.closing(sqlite3.connect(next(place.backups.glob("*.db")))) as copy:
            copy.execute("PRAGMA journal_mode = DELETE")
    junk = b"no database " * 1000
    place.file.write_bytes(junk)
    ballast = fill(small_disk)
    opened = open_chats(place, NOW)
    opened.connection.close()
    assert opened.problem is not None
    assert opened.problem.title == "The chats file was damaged"
    assert "could not be replaced" in opened.problem.message
    assert not opened.is_persistent
    assert place.file.read_bytes() == junk
    ballast.unlink()
    again = open_chats(place, NOW)  # reports it once more: nothing was lost
    again.connection.close()
    assert again.problem is not None
    assert again.problem.title == "The chats file was damaged"
    assert [aside.read_bytes() for aside in small_disk.glob("chats.aside-*.db")] == [junk]
