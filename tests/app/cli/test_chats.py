"""Tests `paceline chats`: export and import, and errors in one sentence."""

import sqlite3
from pathlib import Path

import pytest

from app.cli.parser import main
from app.core.domain.errors import StorageFullError
from app.core.paths import find_paths
from app.core.storage.chats import database
from app.core.storage.chats.database import as_storage_error
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore


def fill() -> None:
    paths = find_paths()
    store = ChatStore(StoreLocation(paths.chats_file, paths.backups), [].append)
    assert store.open() is None
    store.add_message(store.create_conversation(), "user", "Hello there")
    assert store.close()


def test_out_and_in_again(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    fill()
    file = tmp_path / "chats.json"
    assert main(["chats", "export", str(file)]) == 0
    monkeypatch.setenv("PACELINE_HOME", str(tmp_path / "elsewhere"))
    assert main(["chats", "import", str(file), str(file)]) == 0
    told = capsys.readouterr()
    assert told.err == "1 chat exported.\n"
    assert "1 chat imported." in told.out
    assert "0 chats imported. 1 already existed." in told.out


def test_a_bad_file_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bad.json"
    file.write_text("{}")
    assert main(["chats", "import", str(file)]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "not an export from Paceline" in told


def test_a_bad_file_keeps_out_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill()
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    assert main(["chats", "export", str(good)]) == 0
    bad.write_text("{}")
    monkeypatch.setenv("PACELINE_HOME", str(tmp_path / "elsewhere"))
    capsys.readouterr()
    assert main(["chats", "import", str(bad), str(good), str(tmp_path / "none.zip")]) == 1
    told = capsys.readouterr()
    assert told.out == f"{good}: 1 chat imported.\n"
    assert [("bad.json" in line, "none.zip" in line) for line in told.err.splitlines()] == [
        (True, False),
        (False, True),
    ]


def test_chats_that_are_in_use_are_read_and_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.2)
    fill()
    paths = find_paths()
    store = ChatStore(StoreLocation(paths.chats_file, paths.backups), [].append)
    assert store.open() is None
    turn = store.begin_turn(None, "Asked while the window runs")
    assert store.messages(turn.conversation_id)
    file, used = tmp_path / "out.json", paths.chats_file.read_bytes()
    assert main(["chats", "export", str(file)]) == 0
    exported = file.read_text("utf-8")
    assert "Hello there" in exported
    assert "Asked while the window runs" in exported
    assert main(["stats"]) == 0
    capsys.readouterr()
    assert main(["chats", "import", str(file)]) == 1
    told = capsys.readouterr().err
    assert "in use" in told
    assert told.count("\n") == 1
    assert "nothing can be added to them." in told
    assert paths.chats_file.read_bytes() == used
    store.close()


def test_chats_that_cannot_be_written_can_still_be_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill()
    read_only = sqlite3.OperationalError("attempt to write a readonly database")
    read_only.sqlite_errorcode = sqlite3.SQLITE_READONLY

    def refuse(_place: StoreLocation) -> sqlite3.Connection:
        raise as_storage_error(read_only, find_paths().chats_file) from read_only

    monkeypatch.setattr("app.core.storage.chats.opening._open_good", refuse)
    file = tmp_path / "chats.json"
    assert main(["chats", "export", str(file)]) == 0
    assert "Hello there" in file.read_text("utf-8")
    capsys.readouterr()
    assert main(["chats", "import", str(file)]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "The stored chats can be read" in told


def test_nothing_to_export_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chats", "export", str(tmp_path / "out.json")]) == 1
    assert capsys.readouterr().err.endswith("There is no chat to export. Nothing was written.\n")


def test_a_full_disk_says_what_to_do_with_an_import(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_store: ChatStore, _file: Path) -> None:
        raise StorageFullError("There is no space left here.")

    monkeypatch.setattr("app.cli.chats.import_chats", full)
    assert main(["chats", "import", str(tmp_path / "chats.json")]) == 1
    assert capsys.readouterr().err.endswith("Chats that are already here are not imported twice.\n")
