"""SIGKILL while something other than an answer is written: settings, an import, a title, text in the composer."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.parts import DEBOUNCE_MS
from app.core.domain.messages import MessageView
from app.core.storage.chats.portable import PortableChat
from app.core.storage.exchange.own_format import to_json
from app.core.storage.exchange.transfer import CHATS_PER_TRANSACTION, import_chats
from app.core.storage.settings_file import read_settings
from tests.app.fakes import open_app
from tests.app.journeys.kill_targets import opened

ROOT = Path(__file__).resolve().parents[3]
NUM_KILLS = 6
NUM_CHATS, NUM_MESSAGES = 300, 6
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a word of POSIX")


def run_and_kill(action: str, folder: Path, seconds: float, num_lines: int = 1) -> int:
    """Start a child, and kill it ``seconds`` after this number of lines; returns the last complete line's number."""
    command = [sys.executable, "-m", "tests.app.journeys.kill_targets", action, str(folder)]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert child.stdout is not None
    told = b"".join(child.stdout.readline() for _ in range(num_lines))
    assert told.count(b"\n") == num_lines
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    told += child.stdout.read()
    child.stdout.close()
    child.wait()
    return int(told[: told.rindex(b"\n")].split(b"\n")[-1])


def test_settings_are_the_last_or_the_next_whole_ones(tmp_path: Path) -> None:
    rng = random.Random(7)  # noqa: S311 (moments, not secrets)
    for _ in range(NUM_KILLS):
        last = run_and_kill("settings", tmp_path, rng.uniform(0.0, 0.3))
        loaded = read_settings(tmp_path / "settings.toml")
        assert (loaded.problem, loaded.notices) == (None, ())
        number = int(str(loaded.settings.values["system_prompt"]).split(" ", 1)[0])
        assert number in (last, last + 1)
        assert loaded.settings.values["system_prompt"] == (f"{number} " * 20_000)
        assert loaded.settings.integer("top_k") == number % 100


def test_an_import_leaves_whole_chats_and_goes_on_where_it_was(tmp_path: Path) -> None:
    messages = tuple(
        MessageView(key, "user" if key % 2 else "assistant", f"words {key} " * 50, parent=key - 1 or None)
        for key in range(1, NUM_MESSAGES + 1)
    )
    chats = [PortableChat(f"chat {number}", messages) for number in range(NUM_CHATS)]
    (tmp_path / "chats.json").write_text("".join(to_json(chats)), "utf-8")
    rng = random.Random(8)  # noqa: S311 (moments, not secrets)
    for number in range(NUM_KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "chats.json").symlink_to(tmp_path / "chats.json")
        begun = run_and_kill("import", folder, rng.uniform(0.0, 0.01), num_lines=2 + number)
        store = opened(folder)
        num_there = len(store.conversations())
        assert num_there in (begun * CHATS_PER_TRANSACTION, (begun + 1) * CHATS_PER_TRANSACTION)
        assert store.read(lambda db: db.execute("PRAGMA integrity_check").fetchall()) == [("ok",)]
        counts = "SELECT DISTINCT (SELECT count(*) FROM messages WHERE conversation_id = c.id) FROM conversations c"
        assert store.read(lambda db: db.execute(counts).fetchall()) in ([], [(NUM_MESSAGES,)])  # noqa: B023
        imported = import_chats(store, tmp_path / "chats.json")
        assert (imported.num_known, imported.num_new) == (num_there, NUM_CHATS - num_there)
        assert len(store.conversations()) == NUM_CHATS
        store.close()


def test_titles_and_unsent_texts_are_the_last_or_the_next_ones(tmp_path: Path) -> None:
    rng = random.Random(9)  # noqa: S311 (moments, not secrets)
    for number in range(NUM_KILLS):
        folder = tmp_path / str(number)
        last = run_and_kill("titles", folder, rng.uniform(0.0, 0.4))
        store = opened(folder)
        (row,) = store.conversations()
        typed = int(store.library.unsent(row.id).removeprefix("typed "))
        (edited,) = (int(text.removeprefix("typed ")) for text in store.edits.of_conversation(row.id).values())
        assert last <= edited <= typed <= int(row.title) <= last + 1
        store.close()


def test_somebody_who_types_without_a_pause_loses_two_seconds_at_most(qtbot: QtBot) -> None:
    harness = open_app()
    edit = harness.window.composer.edit
    end_s = time.monotonic() + 60
    while not harness.store.library.unsent(None):
        assert time.monotonic() < end_s
        qtbot.keyClick(edit, "x")
        qtbot.wait(DEBOUNCE_MS // 6)
    harness.close()
