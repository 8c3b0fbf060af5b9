"""A replacement file is synced before it is renamed: a power loss leaves the complete old or new file."""

import hashlib
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.core.domain.settings.values import Settings
from app.core.hub.downloads.part_file import PartFile
from app.core.storage.atomic import write_atomically
from app.core.storage.chats.backups import copy_database, verify
from app.core.storage.chats.opening import StoreLocation, open_chats
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange.transfer import export_chats
from app.core.storage.settings_file import write_settings

DATA = b"words" * 1000
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


class Disk:
    """Records synced files, and fails if another file is renamed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.synced: list[tuple[int, int]] = []
        self.named: list[str] = []
        self._fsync, self._replace = os.fsync, os.replace
        monkeypatch.setattr(os, "fsync", self.fsync)
        monkeypatch.setattr(os, "replace", self.replace)

    def fsync(self, descriptor: int) -> None:
        facts = os.fstat(descriptor)
        self.synced.append((facts.st_ino, facts.st_size))
        self._fsync(descriptor)

    def replace(self, source: str | Path, destination: str | Path) -> None:
        facts = Path(source).stat()
        assert (facts.st_ino, facts.st_size) in self.synced, f"{destination} was named before it was on the disk"
        self.named.append(Path(destination).name)
        self._replace(source, destination)


def write_a_download(folder: Path) -> None:
    part = PartFile(folder / "model.gguf")
    part.open("an etag", len(DATA))
    part.append(DATA)
    part.finish(hashlib.sha256(DATA).hexdigest(), lambda _checked: None)


def open_store(folder: Path) -> ChatStore:
    store = ChatStore(StoreLocation(folder / "chats.db", folder / "backups"), [].append)
    assert store.open() is None
    store.add_message(store.create_conversation(), "user", "Hello")
    return store


def write_an_export(form: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        store = open_store(folder)
        export_chats(store, folder / f"out.{form}", form)
        store.close()

    return write


def write_a_backup(folder: Path) -> None:
    opened = open_chats(StoreLocation(folder / "chats.db", folder), NOW)
    verify(copy_database(opened.connection, folder, NOW))
    opened.connection.close()


WRITERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "settings": (lambda folder: write_settings(folder / "settings.toml", Settings()), "settings.toml"),
    "download": (write_a_download, "model.gguf"),
    "index": (lambda folder: write_atomically(folder / "library.json", DATA), "library.json"),
    "json": (write_an_export("json"), "out.json"),
    "markdown": (write_an_export("markdown"), "out.markdown"),
    "backup": (write_a_backup, "chats-daily-20261120-120000-000000.db"),
}


@pytest.mark.parametrize("what", WRITERS)
def test_a_file_is_on_the_disk_before_it_is_named(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, name = WRITERS[what]
    disk = Disk(monkeypatch)
    write(tmp_path)
    assert disk.named[-1] == name
    if os.name == "posix":  # only POSIX systems bring the name itself to the disk
        assert disk.synced[-1][0] == tmp_path.stat().st_ino
