"""Tests opening the chats on a full disk or in a read-only folder: they stay in place and are shown."""

from __future__ import annotations

import contextlib
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.core.storage.chats.database import connect, version_of
from app.core.storage.chats.opening import StoreLocation, open_chats
from app.core.storage.chats.schema import MIGRATIONS
from app.core.storage.chats.store import ChatStore
from tests.app.core.storage.small_disk import fill, make_read_only

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


LAYOUT = len(MIGRATIONS)
NEXT = (*MIGRATIONS, ("CREATE TABLE more (text TEXT)", "UPDATE messages SET text = text || ' ' || text"))


def put_chats(place: StoreLocation) -> None:
    """A file of the first published version with one chat of one message."""
    with contextlib.closing(connect(place.file)) as db:
        for statement in (each for migration in MIGRATIONS for each in migration):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {LAYOUT}")
        columns = "(title, title_by_user, created_at, updated_at, mode)"
        db.execute(f"INSERT INTO conversations {columns} VALUES ('kept', 1, 1, 1, 'off')")  # noqa: S608 (our words)
        db.execute(
            "INSERT INTO messages (conversation_id, position, role, text, state, created_at) "
            "VALUES (1, 0, 'user', ?, 'complete', 1)",
            ("stored before " * 3000,),
        )


def texts(store: ChatStore) -> list[str]:
    return [view.text[:13] for row in store.conversations() for view in store.messages(row.id)]


@pytest.mark.parametrize("room", range(0, 660_000, 60_000), ids=lambda size: f"{size} bytes")
def test_an_update_without_space_changes_nothing_and_is_made_up_for(small_disk: Path, room: int) -> None:
    """With growing free space it fails at the copy, in a step, or not at all."""
    place = StoreLocation(small_disk / "chats.db", small_disk / "backups", NEXT)
    put_chats(place)
    ballast = fill(small_disk, room)
    store = ChatStore(place, [].append)
    problem = store.open()
    assert not list(small_disk.glob("chats.aside-*")), problem
    assert texts(store) == ["stored before"]
    if problem is not None:
        assert problem.title == "The disk is full"
        assert "can be read" in problem.message
        assert problem.advice == "Free some space, and start Paceline again."
    store.close()
    ballast.unlink()
    again = ChatStore(place, [].append)
    assert again.open() is None
    assert again.is_persistent
    assert texts(again) == ["stored before"]
    again.close()
    assert not list(small_disk.rglob("*.part*"))


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


def test_an_older_file_in_a_read_only_folder_is_shown(small_disk: Path) -> None:
    place = StoreLocation(small_disk / "chats.db", small_disk / "backups", NEXT)
    put_chats(place)
    make_read_only(small_disk, mounted=True)
    store = ChatStore(place, [].append)
    problem = store.open()
    assert problem is not None
    assert "The stored chats can be read" in problem.message
    assert texts(store) == ["stored before"]
    store.create_conversation("in memory")
    assert len(store.conversations()) == 2
    store.close()
    with contextlib.closing(sqlite3.connect(f"{place.file.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        assert version_of(db) == LAYOUT
