"""A full or unwritable disk results in one sentence and no loss, and everything works again afterwards."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.core.domain.errors import SettingsWriteError, StorageFullError
from app.core.domain.messages import MessageState
from app.core.domain.settings.values import Settings
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from app.core.storage.settings_file import read_settings, write_settings
from engine.records import Problem
from tests.app.core.storage.small_disk import fill, make_read_only
from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[5]
LONG = "All work and no play. " * 500


def test_a_full_disk_loses_nothing_and_works_again_with_space(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.core.storage.chats.answers.RETRY_S", 0.1)
    troubles: list[Problem | None] = []
    place = StoreLocation(small_disk / "chats.db", small_disk / "backups")
    store = ChatStore(place, troubles.append)
    assert store.open() is None
    turn = store.begin_turn(None, "question")
    store.append(turn.answer.id, "begun ")
    ballast = fill(small_disk)
    store.append(turn.answer.id, LONG)
    wait_for(lambda: bool(troubles))
    with pytest.raises(StorageFullError):
        store.begin_turn(turn.conversation_id, LONG)
    store.append(turn.answer.id, "ended")
    store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE))
    time.sleep(0.5)
    assert [problem.title if problem else None for problem in troubles] == ["The disk is full"]
    assert store.messages(turn.conversation_id)[-1].text == f"begun {LONG}ended"
    assert len(store.messages(turn.conversation_id)) == 2
    ballast.unlink()
    wait_for(lambda: troubles[-1] is None)
    second = store.begin_turn(turn.conversation_id, "and now?")
    store.finish_answer(second.answer.id, AnswerEnding(MessageState.COMPLETE))
    before = store.messages(turn.conversation_id)
    assert store.close()
    again = ChatStore(place, troubles.append)
    assert again.open() is None
    assert again.messages(turn.conversation_id) == before
    assert again.read(lambda db: db.execute("PRAGMA integrity_check").fetchall()) == [("ok",)]
    again.close()


def test_a_disk_that_fills_during_a_write_keeps_acknowledged_rows(small_disk: Path) -> None:
    """Free space grows by half a page per write: each fails at another point, then none fails."""
    place = StoreLocation(small_disk / "chats.db", small_disk / "backups")
    store = ChatStore(place, [].append)
    assert store.open() is None
    chat = store.create_conversation("chat")
    kept: list[tuple[int, str]] = []
    num_refused = 0
    for number in range(48):
        ballast = fill(small_disk)
        os.truncate(ballast, max(ballast.stat().st_size - number * 2048, 0))
        words = f"{number} " * (3000 + 70 * number)
        try:
            kept.append((store.add_message(chat, "user", words).id, words))
        except StorageFullError:
            num_refused += 1
        ballast.unlink()
        assert [(view.id, view.text) for view in store.messages(chat)] == kept
        if number % 12 == 11:  # as after a kill at this moment, with the current log file
            store = reopened(small_disk, store, kept)
    assert num_refused > 3
    assert len(kept) > 3
    store.close()


def reopened(folder: Path, store: ChatStore, kept: list[tuple[int, str]]) -> ChatStore:
    """Check a copy of the files, then open the file itself again."""
    copy = folder.parent / "copy"
    shutil.copytree(folder, copy)
    seen = ChatStore(StoreLocation(copy / "chats.db", copy / "backups"), [].append)
    assert seen.open() is None
    rows = "SELECT id, text FROM messages ORDER BY id"
    assert [tuple(row) for row in seen.read(lambda db: db.execute(rows).fetchall())] == kept
    assert seen.read(lambda db: db.execute("PRAGMA integrity_check").fetchall()) == [("ok",)]
    seen.close()
    shutil.rmtree(copy)
    assert store.close()
    again = ChatStore(StoreLocation(folder / "chats.db", folder / "backups"), [].append)
    assert again.open() is None
    return again


def test_closing_on_a_full_disk_says_that_something_is_not_saved(small_disk: Path) -> None:
    store = ChatStore(StoreLocation(small_disk / "chats.db", small_disk / "backups"), [].append)
    store.open()
    turn = store.begin_turn(None, "question")
    fill(small_disk)
    store.append(turn.answer.id, LONG)
    assert not store.close()


def test_stored_chats_open_on_a_full_disk(small_disk: Path) -> None:
    place = StoreLocation(small_disk / "chats.db", small_disk / "backups")
    store = ChatStore(place, [].append)
    store.open()
    turn = store.begin_turn(None, "question")
    store.append(turn.answer.id, "left in the middle")
    store.close()
    ballast = fill(small_disk)
    again = ChatStore(place, [].append)
    assert again.open() is None
    assert again.is_persistent
    view = again.messages(turn.conversation_id)[-1]
    assert (view.text, view.state) == ("left in the middle", MessageState.INTERRUPTED)
    ballast.unlink()
    assert again.begin_turn(turn.conversation_id, "works again").question.id > view.id
    again.close()


def test_settings_on_a_full_disk_keep_the_old_file(small_disk: Path) -> None:
    path = small_disk / "settings.toml"
    write_settings(path, Settings())
    before = path.read_bytes()
    fill(small_disk)
    with pytest.raises(SettingsWriteError, match="No space left"):
        write_settings(path, Settings().changed({"system_prompt": LONG})[0])
    assert path.read_bytes() == before
    assert read_settings(path).problem is None


LIMITED = """
import resource, sys
from pathlib import Path
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from app.core.domain.errors import StorageError
from engine.records import Mode
troubles = []
store = ChatStore(StoreLocation(Path(sys.argv[1]) / "chats.db", Path(sys.argv[1]) / "backups"), troubles.append)
store.open()
turn = store.begin_turn(None, "question")
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
try:
    store.begin_turn(turn.conversation_id, "x" * 200_000)
    sys.exit("stored beyond the limit")
except StorageError as error:
    print(error.title)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
store.begin_turn(turn.conversation_id, "y" * 200_000)
print([len(view.text) for view in store.messages(turn.conversation_id)])
sys.exit(0 if store.close() else "not closed")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are of POSIX")
def test_a_write_that_the_system_refuses_changes_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["The chats could not be saved", "[8, 0, 200000, 0]"]


def test_a_read_only_folder_shows_the_chats_and_keeps_new_ones_in_memory(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    mounted = sys.platform == "linux" and os.geteuid() == 0
    if sys.platform == "win32":
        pytest.skip("a folder cannot be made read-only on Windows by its mode")
    folder = request.getfixturevalue("small_disk") if mounted else tmp_path / "locked"
    folder.mkdir(exist_ok=True)
    place = StoreLocation(folder / "chats.db", folder / "backups")
    store = ChatStore(place, [].append)
    store.open()
    conversation = store.create_conversation("kept")
    store.add_message(conversation, "user", "stored before")
    store.close()
    make_read_only(folder, mounted=mounted)
    again = ChatStore(place, [].append)
    problem = again.open()
    assert problem is not None
    assert "The stored chats can be read" in problem.message
    assert not again.is_persistent
    assert [view.text for view in again.messages(conversation)] == ["stored before"]
    again.add_message(conversation, "user", "in memory")
    assert len(again.messages(conversation)) == 2
    again.close()
    if not mounted:
        folder.chmod(0o700)
