"""The chats open with any file at the path: damaged, newer, foreign, unwritable. Nothing is deleted."""

import contextlib
import os
import random
import sqlite3
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from app.core.domain.errors import BackupError, StorageError
from app.core.domain.messages import MessageState
from app.core.storage.chats import database
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.backups import backup_is_due, backups_in, copy_database, rotate, verify
from app.core.storage.chats.database import connect, version_of
from app.core.storage.chats.opening import OpenedStore, StoreLocation, open_chats
from app.core.storage.chats.store import ChatStore

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def fill(place: StoreLocation, num_turns: int = 30) -> None:
    store = ChatStore(place, [].append)
    assert store.open() is None
    for number in range(num_turns):
        turn = store.begin_turn(None, f"question {number}")
        store.append(turn.answer.id, f"answer {number} " * 40)
        store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE))
    assert store.close()


def make_backup(connection: sqlite3.Connection, folder: Path, now: datetime) -> Path:
    return verify(copy_database(connection, folder, now))


def dump(file: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        return [*connection.iterdump(), str(version_of(connection))]


def num_messages(opened: OpenedStore) -> int:
    return int(opened.connection.execute("SELECT count(*) FROM messages").fetchone()[0])


def asides(place: StoreLocation) -> list[Path]:
    return list(place.file.parent.glob("chats.aside-*.db"))


def test_the_pragmas_read_back(place: StoreLocation) -> None:
    opened = open_chats(place, NOW)
    wanted = {
        "journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "locking_mode": "exclusive", "trusted_schema": 0
    }  # fmt: skip
    found = {name: opened.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted}
    opened.connection.close()
    assert found == wanted


def test_on_macos_a_checkpoint_reaches_the_disk(place: StoreLocation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")  # SQLite accepts the pragma on every system
    opened = open_chats(place, NOW)
    found = opened.connection.execute("PRAGMA checkpoint_fullfsync").fetchone()[0]
    opened.connection.close()
    assert found == 1


def test_a_pragma_that_reads_back_otherwise_is_reported(place: StoreLocation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_PRAGMAS", (("synchronous", "OFF", 2),))
    place.file.parent.mkdir(parents=True)
    with pytest.raises(StorageError, match="does not accept synchronous = OFF: it reports 0"):
        connect(place.file)


@pytest.mark.parametrize("junk", [b"no database at all" * 100, b"", b"SQLite format 3\0" + bytes(84), bytes(5000)])
def test_a_file_that_is_no_chats_file_is_kept_and_a_fresh_one_opened(place: StoreLocation, junk: bytes) -> None:
    place.file.parent.mkdir(parents=True)
    place.file.write_bytes(junk)
    opened = open_chats(place, NOW)
    assert opened.is_persistent
    assert num_messages(opened) == 0
    opened.connection.close()
    if junk:
        assert [path.read_bytes() for path in asides(place)] == [junk]
        assert opened.problem is not None
        assert asides(place)[0].name in opened.problem.message
    else:
        assert opened.problem is None  # an empty file is an empty database


def test_a_database_of_another_program_is_kept_untouched(place: StoreLocation) -> None:
    place.file.parent.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(place.file)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = place.file.read_bytes()
    open_chats(place, NOW).connection.close()
    assert dump(asides(place)[0]) == ["BEGIN TRANSACTION;", "CREATE TABLE theirs (x);", "COMMIT;", "0"]
    assert len(before) == len(asides(place)[0].read_bytes())


def test_flipped_bytes_never_stop_the_start_and_never_delete(place: StoreLocation) -> None:
    fill(place)
    good = place.file.read_bytes()
    rng = random.Random(74)  # noqa: S311 (damage, not secrets)
    num_aside = 0
    for round_number in range(60):
        damaged = bytearray(good)
        for _ in range(rng.choice((1, 4, 40))):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        place.file.write_bytes(damaged)
        before = set(asides(place))
        opened = open_chats(place, NOW + timedelta(seconds=round_number))
        opened.connection.execute("SELECT count(*) FROM conversations").fetchall()
        opened.connection.close()
        new = set(asides(place)) - before
        if opened.problem is not None:
            num_aside += 1
            assert [path.read_bytes() for path in new] == [bytes(damaged)]
        for companion in place.file.parent.glob("chats.db-*"):
            companion.unlink()
    assert num_aside > 10


@pytest.mark.parametrize("kind", ["missing", "empty", "folder"])
def test_what_is_no_file_or_holds_nothing_is_set_aside_for_the_newest_copy(place: StoreLocation, kind: str) -> None:
    fill(place, 3)
    opened = open_chats(place, NOW)
    make_backup(opened.connection, place.backups, NOW)
    opened.connection.close()
    place.file.unlink()
    if kind == "empty":
        place.file.touch()
    elif kind == "folder":
        place.file.mkdir()
        (place.file / "theirs").write_text("words")
    opened = open_chats(place, NOW + timedelta(seconds=1))
    assert opened.is_persistent
    assert opened.problem is not None
    assert f"chats.db is {'a folder' if kind == 'folder' else kind}" in opened.problem.message
    assert "was opened instead" in opened.problem.message
    assert num_messages(opened) == 6
    opened.connection.close()
    asides_there = asides(place)
    assert len(asides_there) == (kind != "missing")
    assert ("It is kept as" in opened.problem.message) is (kind != "missing")
    if kind == "folder":
        assert (asides_there[0] / "theirs").read_text() == "words"
    assert open_chats(place, NOW + timedelta(seconds=2)).problem is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["pipe", "/dev/null", "/dev/full", "log", "note", "copies"])
def test_no_pipe_and_no_device_holds_up_the_start_or_the_end(place: StoreLocation, kind: str) -> None:
    place.backups.mkdir(parents=True)
    if kind in ("pipe", "log", "note"):
        os.mkfifo(place.file.with_name({"pipe": "chats.db", "log": "chats.db-wal", "note": "chats.db.closed"}[kind]))
    elif kind == "copies":
        os.mkfifo(place.backups / "chats-daily-20261101-120000-000000.db")
        place.file.write_bytes(b"no database")
    else:
        place.file.symlink_to(kind)
    store = ChatStore(place, [].append)
    problem = store.open()
    store.add_message(store.create_conversation("chat"), "user", "words")
    assert (problem is None) is (kind in ("log", "note"))
    if problem is not None and not store.is_persistent:
        assert "only until Paceline is closed" in problem.message
        assert "keeps trying" not in problem.advice
        assert "start" in problem.advice
    assert store.close()


def test_damage_that_only_the_search_stumbles_upon_is_set_aside_as_well(place: StoreLocation) -> None:
    fill(place)
    damaged = place.file.read_bytes().replace(b"text, content = 'messages'", b"textl content = 'messages'")
    place.file.write_bytes(damaged)
    opened = open_chats(place, NOW)
    opened.connection.close()
    assert opened.is_persistent
    assert opened.problem is not None
    assert "cannot be read as a chats file" in opened.problem.message
    assert [path.read_bytes() for path in asides(place)] == [damaged]


def test_a_damaged_file_is_replaced_by_the_newest_good_copy(place: StoreLocation) -> None:
    fill(place, 3)
    with contextlib.closing(connect(place.file)) as connection:
        make_backup(connection, place.backups, NOW - timedelta(days=1))
        worthless = make_backup(connection, place.backups, NOW)
    worthless.write_bytes(b"rotten" * 1000)
    place.file.write_bytes(b"damaged" * 1000)
    opened = open_chats(place, NOW)
    assert num_messages(opened) == 6
    opened.connection.close()
    assert opened.problem is not None
    assert "chats-daily-20261119" in opened.problem.message
    assert asides(place)[0].read_bytes() == b"damaged" * 1000


def test_a_newer_file_is_kept_untouched(place: StoreLocation) -> None:
    fill(place, 2)
    with contextlib.closing(sqlite3.connect(place.file)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = dump(place.file)
    opened = open_chats(place, NOW)
    assert num_messages(opened) == 0
    opened.connection.close()
    assert opened.problem is not None
    assert opened.problem.title == "The chats are from a newer Paceline"
    assert dump(asides(place)[0]) == before


def test_a_folder_that_cannot_be_made_gives_chats_in_memory(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    store = ChatStore(StoreLocation(tmp_path / "data" / "chats.db", tmp_path / "backups"), [].append)
    problem = store.open()
    assert problem is not None
    assert "only until Paceline is closed" in problem.message
    assert not store.is_persistent
    turn = store.begin_turn(None, "still works")
    assert store.messages(turn.conversation_id)[0].text == "still works"
    store.close()


def test_a_copy_that_cannot_be_made_leaves_no_litter(place: StoreLocation) -> None:
    fill(place, 1)
    place.backups.write_text("a file where the folder should be")
    with contextlib.closing(connect(place.file)) as connection, pytest.raises(BackupError):
        make_backup(connection, place.backups, NOW)
    place.backups.unlink()
    place.backups.mkdir()
    assert list(place.backups.iterdir()) == []


def test_copies_thin_out_by_age(place: StoreLocation) -> None:
    fill(place, 1)
    place.backups.mkdir()
    for day in range(400):
        moment = NOW - timedelta(days=day)
        (place.backups / f"chats-daily-{moment.strftime('%Y%m%d-%H%M%S-%f')}.db").touch()
    kept_always = place.backups / "chats-mine-20200101-000000-000000.db"
    kept_always.touch()
    assert not backup_is_due(place.backups, NOW)
    assert backup_is_due(place.backups, NOW + timedelta(days=1))
    rotate(place.backups, NOW)
    stamps = [path.stem.split("-")[2] for path in backups_in(place.backups)]
    dates = [date(int(stamp[:4]), int(stamp[4:6]), int(stamp[6:])) for stamp in stamps]
    days = [(NOW.date() - day).days for day in dates]
    assert days[:12] == list(range(12))
    assert 200 < days[-1] < 300
    assert 20 <= len(days) <= 31
    assert kept_always.exists()


def test_copies_of_a_clock_that_was_ahead_displace_none(place: StoreLocation) -> None:
    place.backups.mkdir(parents=True)
    ahead = [NOW + timedelta(days=1000 + day) for day in range(40)]
    for moment in (*ahead, *(NOW - timedelta(days=day) for day in range(12))):
        (place.backups / f"chats-daily-{moment.strftime('%Y%m%d-%H%M%S-%f')}.db").touch()
    assert not backup_is_due(place.backups, NOW), "today has one, though others seem newer"
    rotate(place.backups, NOW)
    stamps = {path.stem.split("-")[2] for path in backups_in(place.backups)}
    assert stamps > {(NOW - timedelta(days=day)).strftime("%Y%m%d") for day in range(12)}
    assert len(stamps) <= 12 + 31, "nor are those kept without end"


def test_the_copy_with_the_most_in_it_stands_in_whatever_the_clock_said(place: StoreLocation) -> None:
    for num_turns, moment in ((3, NOW + timedelta(days=2000)), (4, NOW)):
        fill(place, num_turns)
        with contextlib.closing(connect(place.file)) as connection:
            make_backup(connection, place.backups, moment)
    place.file.write_bytes(b"damaged" * 1000)
    opened = open_chats(place, NOW)
    assert num_messages(opened) == 2 * (3 + 4)
    opened.connection.close()


def test_the_store_makes_one_copy_a_day(place: StoreLocation) -> None:
    for _ in range(2):
        store = ChatStore(place, [].append, now=lambda: NOW)
        store.open()
        store.back_up_daily()
        store.close()
    copies = backups_in(place.backups)
    assert len(copies) == 1
    assert dump(copies[0]) == dump(place.file)


def test_a_file_that_was_closed_meanwhile_is_not_copied(place: StoreLocation) -> None:
    store = ChatStore(place, [].append, now=lambda: NOW)
    store.open()
    assert store.close()
    store.back_up_daily()
    assert backups_in(place.backups) == []
