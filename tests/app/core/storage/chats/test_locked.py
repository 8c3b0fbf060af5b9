"""Another program locks the chats file: a short lock is waited for, a long one reported, and no write is lost."""

import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.core.storage.chats import database
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from tests.waiting import PATIENCE_S

HOLDER = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN " + sys.argv[2])
if sys.argv[2] == "DEFERRED":
    db.execute("SELECT count(*) FROM messages").fetchone()
print("held", flush=True)
time.sleep(float(sys.argv[3]))
"""


@contextmanager
def held(file: Path, how: str, seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    """Let another process lock the file for this long, or until the end of the block."""
    command = [sys.executable, "-c", HOLDER, str(file), how, str(seconds)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline().strip() == b"held"
    yield child
    child.kill()
    child.wait()
    child.stdout.close()


@pytest.fixture
def place(tmp_path: Path) -> StoreLocation:
    """A closed file with one chat."""
    place = StoreLocation(tmp_path / "chats.db", tmp_path / "backups")
    store = ChatStore(place, [].append)
    assert store.open() is None
    store.add_message(store.create_conversation("kept"), "user", "words")
    assert store.close()
    return place


@pytest.mark.parametrize("how", ["EXCLUSIVE", "IMMEDIATE", "DEFERRED"])
def test_a_short_hold_is_waited_for(place: StoreLocation, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert database.BUSY_TIMEOUT_S >= 2.0
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", PATIENCE_S)  # on a busy machine the other process ends late
    with held(place.file, how, 0.7):
        store = ChatStore(place, [].append)
        assert store.open() is None
        assert [row.title for row in store.conversations()] == ["kept"]
        assert store.close()


@pytest.mark.parametrize("how", ["EXCLUSIVE", "IMMEDIATE", "DEFERRED"])
def test_a_long_hold_is_reported_and_the_file_left_alone(
    place: StoreLocation, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.2)
    with held(place.file, how, 600):
        began_s = time.monotonic()
        store = ChatStore(place, [].append)
        problem = store.open()
        assert time.monotonic() - began_s < 120
        assert problem is not None
        assert problem.title == "The chats are in use"
        assert not store.is_persistent
        store.add_message(store.create_conversation("in memory"), "user", "words")
        store.close()
    assert list(place.file.parent.glob("*damaged*")) == []
    again = ChatStore(place, [].append)
    assert again.open() is None
    assert [row.title for row in again.conversations()] == ["kept"]
    assert again.close()


def test_nobody_gets_in_while_the_chats_are_open(place: StoreLocation) -> None:
    store = ChatStore(place, [].append)
    assert store.open() is None
    for sql in ("SELECT count(*) FROM messages", "BEGIN EXCLUSIVE", "DELETE FROM messages"):
        other = sqlite3.connect(place.file, timeout=0.2, isolation_level=None)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute(sql)
        other.close()
    store.add_message(store.conversations()[0].id, "user", "more")
    assert len(store.messages(store.conversations()[0].id)) == 2
    assert store.close()
