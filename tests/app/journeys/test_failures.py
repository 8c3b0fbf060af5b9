"""A chats file that is damaged, newer, unwritable or on a full disk is reported in the window and on the command line.

One clear sentence, no loss, a copy set aside. Kills are tested in `test_kill_app` and `chats/test_kill`.
"""

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.cli.parser import main
from app.core.domain.engine_view import EngineState
from app.core.domain.messages import MessageState
from app.core.paths import Paths, find_paths
from app.core.storage.chats import database
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from tests.app.fakes import AppHarness, keep_settings, open_app

WORDS = "what is to be kept"
Harm = Callable[[Paths], None]


def fill() -> Paths:
    paths = keep_settings({})
    store = ChatStore(StoreLocation(paths.chats_file, paths.backups), [].append)
    assert store.open() is None
    for number in range(20):
        turn = store.begin_turn(None, f"{WORDS} {number}")
        store.append(turn.answer.id, "an answer " * 200)
        store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE))
    assert store.close()
    return paths


def make_newer(paths: Paths) -> None:
    with contextlib.closing(sqlite3.connect(paths.chats_file)) as connection:
        connection.execute("PRAGMA user_version = 99")


def make_damaged(paths: Paths) -> None:
    content = bytearray(paths.chats_file.read_bytes())
    content[4096 * 3 : 4096 * 8] = b"\xa5" * 4096 * 5
    paths.chats_file.write_bytes(content)


def make_foreign(paths: Paths) -> None:
    paths.chats_file.write_bytes(b"something else entirely " * 500)


def make_unusable(paths: Paths) -> None:
    """Unusable even for root: the file is a link to a missing disk."""
    paths.chats_file.rename(paths.data / "elsewhere.db")
    paths.chats_file.symlink_to(paths.data / "no such disk" / "chats.db")


SET_ASIDE = [
    pytest.param(make_newer, "from a newer Paceline", id="newer"),
    pytest.param(make_damaged, "damaged", id="damaged"),
    pytest.param(make_foreign, "damaged", id="foreign"),
]


def aside(paths: Paths) -> list[Path]:
    return list(paths.data.glob("chats.aside-*.db"))


@pytest.mark.parametrize(("harm", "words"), SET_ASIDE)
def test_in_the_window_it_is_reported_and_kept_and_the_app_goes_on(harm: Harm, words: str, qtbot: QtBot) -> None:
    paths = fill()
    harm(paths)
    before = paths.chats_file.read_bytes()
    harness = open_app()
    assert len(harness.window.problems) == 1
    problem = harness.window.problems[0]
    assert words in f"{problem.title} {problem.message}".lower().replace("paceline", "Paceline")
    assert [path.name for path in aside(paths)] == [
        next(n for n in problem.message.split() if "aside" in n).rstrip(".")
    ]
    assert len(aside(paths)[0].read_bytes()) == len(before)
    assert harness.rows() == []
    chat(harness, qtbot, "and on it goes")
    harness.close()
    again = open_app()
    assert again.rows() == ["and on it goes"]
    again.close()


@pytest.mark.parametrize(("harm", "words"), SET_ASIDE)
def test_on_the_command_line_it_is_one_sentence_and_kept(
    harm: Harm, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = fill()
    harm(paths)
    out = tmp_path / "out.json"
    assert main(["chats", "export", str(out)]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert words in told.lower().replace("paceline", "Paceline")
    assert len(aside(paths)) == 1
    assert aside(paths)[0].name in told
    assert not out.exists()


def test_a_place_that_cannot_be_written_is_reported_in_both(
    qtbot: QtBot, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = fill()
    make_unusable(paths)
    harness = open_app()
    assert "only until Paceline is closed" in harness.window.problems[0].message
    chat(harness, qtbot, "kept for now")
    assert harness.rows() == ["kept for now"]
    assert "kept only until Paceline is closed" in harness.window.notices[-1]
    harness.close()
    assert main(["chats", "export", str(tmp_path / "out.json")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def chat(harness: AppHarness, qtbot: QtBot, text: str) -> None:
    harness.engine.ready()
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY, timeout=30_000)
    harness.window.composer.submitted.emit(text)
    harness.engine.say("yes")
    harness.engine.finish()
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY, timeout=30_000)


def test_a_full_disk_in_the_window_gives_the_text_back_and_works_again(qtbot: QtBot) -> None:
    fill()
    harness = open_app()
    chat(harness, qtbot, "before")
    pages = harness.store.read(lambda db: db.execute("PRAGMA page_count").fetchone()[0])
    harness.store.read(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchone())
    num_before, long_text = len(harness.messages()), "a long question " * 5_000
    harness.window.composer.submitted.emit(long_text)
    assert "no space" in harness.window.problems[-1].message
    assert harness.window.composer.text == long_text
    assert len(harness.messages()) == num_before
    harness.store.read(lambda db: db.execute("PRAGMA max_page_count = 1000000").fetchone())
    chat(harness, qtbot, long_text)
    assert len(harness.messages()) == num_before + 2
    harness.close()


def test_a_full_disk_is_one_sentence_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill()
    file = tmp_path / "chats.json"
    assert main(["chats", "export", str(file)]) == 0
    monkeypatch.setenv("PACELINE_HOME", str(tmp_path / "elsewhere"))
    store = ChatStore(StoreLocation(find_paths().chats_file, find_paths().backups), [].append)
    store.open()
    pages = store.read(lambda db: db.execute("PRAGMA page_count").fetchone()[0])
    store.close()
    limit = pages + 4
    with monkeypatch.context() as full:
        full.setattr(database, "_PRAGMAS", (*database._PRAGMAS, ("max_page_count", str(limit), limit)))
        capsys.readouterr()
        assert main(["chats", "import", str(file)]) == 1
        told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "no space" in told
    assert main(["chats", "import", str(file)]) == 0
    assert "20 chats imported" in capsys.readouterr().out
