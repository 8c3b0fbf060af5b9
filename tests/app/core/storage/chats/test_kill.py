"""Acknowledged writes survive SIGKILL, and a power loss leaves a committed prefix.

The long form kills two hundred times.
"""

import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.core.domain.messages import MessageState
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from tests.long_form import rounds

NUM_KILLS = rounds(15, 200)
ROOT = Path(__file__).resolve().parents[5]
CHILD = "tests.app.core.storage.chats.kill_child"


def run_and_kill(folder: Path, seconds: float, num_messages: int = 1) -> list[tuple[int, int, str]]:
    """Start the child, and kill it ``seconds`` after this number of messages; returns what it acknowledged."""
    child = subprocess.Popen([sys.executable, "-m", CHILD, str(folder)], cwd=ROOT, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    output = b"".join(child.stdout.readline() for _ in range(num_messages))
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    output += child.stdout.read()
    child.stdout.close()
    child.wait()
    # The last line may be truncated: then it does not count.
    lines = output.decode().split("\n")[:-1]
    return [(int(first), int(second), text) for first, second, text in (line.split(" ", 2) for line in lines)]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a word of POSIX")
@pytest.mark.timeout(300 + 30 * NUM_KILLS)
def test_every_acknowledged_message_survives_a_kill(tmp_path: Path) -> None:
    rng = random.Random(20261120)  # noqa: S311 (moments, not secrets)
    acknowledged: list[tuple[int, int, str]] = []
    for _ in range(NUM_KILLS):
        acknowledged += run_and_kill(tmp_path, rng.uniform(0.0, 0.4))
        store = ChatStore(StoreLocation(tmp_path / "chats.db", tmp_path / "backups"), [].append)
        assert store.open() is None
        found = store.read(lambda db: db.execute("SELECT conversation_id, id, text FROM messages").fetchall())
        assert store.read(lambda db: db.execute("PRAGMA integrity_check").fetchall()) == [("ok",)]
        assert set(acknowledged) <= set(found)
        states = store.read(lambda db: db.execute("SELECT DISTINCT state FROM messages").fetchall())
        assert MessageState.STREAMING.value not in {state for (state,) in states}
        assert store.close()
    assert len(acknowledged) >= NUM_KILLS


def frame_ends(wal: bytes) -> list[int]:
    """The end of each frame of a write-ahead log (https://www.sqlite.org/fileformat2.html#walformat)."""
    page_size = struct.unpack(">I", wal[8:12])[0]
    return list(range(32 + 24 + page_size, len(wal) + 1, 24 + page_size))


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a word of POSIX")
def test_a_log_cut_anywhere_opens_to_a_committed_prefix(tmp_path: Path) -> None:
    acknowledged = run_and_kill(tmp_path / "killed", 0.0, num_messages=12)
    file = tmp_path / "killed" / "chats.db"
    wal = Path(f"{file}-wal").read_bytes()
    ends = frame_ends(wal)
    assert len(ends) > 12
    full = messages_of(file, wal, tmp_path / "whole")
    assert {text for _, _, text in acknowledged} <= {text for _, text in full}
    num_seen = -1
    # the end of every frame, and the middle of some: a torn write
    for cut in sorted({32, *ends, *(end - 700 for end in ends[::7])}):
        found = messages_of(file, wal[:cut], tmp_path / f"cut{cut}")
        assert found == full[: len(found)]
        assert len(found) >= num_seen
        num_seen = len(found)
    assert num_seen == len(full)


def messages_of(file: Path, wal: bytes, folder: Path) -> list[tuple[int, str]]:
    """The user's messages, in order, that SQLite finds with this log; checks the file's integrity."""
    folder.mkdir()
    copy = folder / "chats.db"
    shutil.copyfile(file, copy)
    Path(f"{copy}-wal").write_bytes(wal)
    connection = sqlite3.connect(copy)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    tables = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'messages'").fetchone()[0]
    found = (
        connection.execute("SELECT id, text FROM messages WHERE role = 'user' ORDER BY id").fetchall() if tables else []
    )
    connection.close()
    shutil.rmtree(folder)
    return found
