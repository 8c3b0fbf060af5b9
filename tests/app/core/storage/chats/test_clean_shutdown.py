"""A start checks the whole file unless it was closed properly and is unchanged; the daily copy checks it, too."""

import contextlib
import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.core.storage.chats import opening
from app.core.storage.chats.backups import backups_in, copy_database, verify
from app.core.storage.chats.clean_shutdown import marker_of
from app.core.storage.chats.database import connect
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from engine.records import Problem
from tests.waiting import wait_for

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def fill(place: StoreLocation, num_messages: int = 200) -> None:
    store = ChatStore(place, [].append)
    assert store.open() is None
    chat = store.create_conversation("A chat")

    def job(db: sqlite3.Connection) -> None:
        sql = (
            "INSERT INTO messages (conversation_id, position, role, text, state, created_at) VALUES (?, ?, ?, ?, ?, 0)"
        )
        db.executemany(sql, ((chat, at, "user", f"message {at} " * 200, "complete") for at in range(num_messages)))

    store.write(job)
    assert store.close()


@pytest.fixture
def num_checks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts checks of the whole file."""
    counted: list[int] = []
    check = opening.check

    def check_and_count(connection: sqlite3.Connection) -> None:
        counted.append(1)
        check(connection)

    monkeypatch.setattr(opening, "check", check_and_count)
    return counted


def open_and_close(place: StoreLocation) -> Problem | None:
    store = ChatStore(place, [].append)
    problem = store.open()
    assert store.close()
    return problem


def test_a_file_that_was_closed_well_is_not_read_whole(place: StoreLocation, num_checks: list[int]) -> None:
    fill(place)
    num_checks.clear()
    for _ in range(3):
        assert open_and_close(place) is None
    assert num_checks == []


def test_after_an_end_without_closing_it_is_read_whole(place: StoreLocation, num_checks: list[int]) -> None:
    fill(place)
    num_checks.clear()
    opening.open_chats(place, NOW).connection.close()  # as after a kill: without a clean-shutdown note
    assert not marker_of(place.file).exists()
    assert num_checks == []
    assert open_and_close(place) is None
    assert num_checks == [1]


def test_a_note_that_cannot_be_read_counts_for_nothing(place: StoreLocation, num_checks: list[int]) -> None:
    fill(place)
    marker_of(place.file).write_bytes(b"\xff{")
    num_checks.clear()
    assert open_and_close(place) is None
    assert num_checks == [1]


def damage(file: Path) -> None:
    """Damage a page of messages without changing size and time."""
    found = file.stat()
    content = bytearray(file.read_bytes())
    at = content.index(b"message 150 ") // 4096 * 4096
    content[at : at + 64] = bytes(64)
    file.write_bytes(content)
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))


def test_a_file_changed_since_then_is_set_aside_as_ever(place: StoreLocation) -> None:
    fill(place)
    damage(place.file)
    os.utime(place.file)
    problem = open_and_close(place)
    assert problem is not None
    assert "It is kept as" in problem.message
    assert list(place.file.parent.glob("chats.aside-*.db"))


def damage_counts(file: Path) -> None:
    """Damage the index that counts messages, without changing size and time: even a copy fails."""
    found = file.stat()
    with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as db:
        size = db.execute("PRAGMA page_size").fetchone()[0]
        sql = "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'messages' AND name <> ?"
        roots = [row[0] for row in db.execute(sql, ("messages_streaming",))]
    content = bytearray(file.read_bytes())
    for root in roots:
        content[(root - 1) * size : root * size] = bytes(size)
    file.write_bytes(content)
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))


@pytest.mark.parametrize("damage_file", [damage, damage_counts])
def test_damage_that_leaves_no_trace_is_found_by_the_daily_copy(
    place: StoreLocation, damage_file: Callable[[Path], None]
) -> None:
    """Otherwise no more daily copies would be made, without any notice."""
    fill(place)
    damage_file(place.file)
    store = ChatStore(place, [].append)
    assert store.open() is None
    store.back_up_daily()
    assert store.conversations()  # readable data is kept
    store.close()
    assert backups_in(place.backups) == []
    problem = open_and_close(place)
    assert problem is not None
    assert list(place.file.parent.glob("chats.aside-*.db"))


def test_what_is_written_while_a_copy_is_made_is_in_it(place: StoreLocation) -> None:
    fill(place, 4_000)
    with contextlib.closing(connect(place.file)) as connection:
        written: list[int] = []

        def between() -> None:
            written.append(1)
            title = f"written in between {len(written)}"
            sql = "INSERT INTO conversations (title, created_at, updated_at, mode) VALUES (?, 0, 0, 'off')"
            connection.execute(sql, (title,))

        copied = copy_database(connection, place.backups, NOW, between=between)
        assert written
    with contextlib.closing(sqlite3.connect(verify(copied))) as copy:
        assert copy.execute("SELECT count(*) FROM conversations").fetchone()[0] == 1 + len(written)


def test_jobs_do_not_wait_for_the_daily_copy(place: StoreLocation) -> None:
    fill(place, 20_000)
    store = ChatStore(place, [].append)
    assert store.open() is None
    store.back_up_daily()
    assert store.read(lambda _db: len(backups_in(place.backups))) == 0, "the job ran before the copy was there"
    wait_for(lambda: backups_in(place.backups))
    assert store.close()
    assert len(backups_in(place.backups)) == 1
    assert not list(place.backups.glob("*.part*"))
