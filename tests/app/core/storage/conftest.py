"""A chat store in a temporary folder."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from engine.records import Problem


@pytest.fixture
def place(tmp_path: Path) -> StoreLocation:
    return StoreLocation(tmp_path / "data" / "chats.db", tmp_path / "data" / "backups")


@pytest.fixture
def troubles() -> list[Problem | None]:
    return []


@pytest.fixture
def store(place: StoreLocation, troubles: list[Problem | None]) -> Iterator[ChatStore]:
    opened = ChatStore(place, troubles.append)
    assert opened.open() is None
    yield opened
    opened.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of three megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root on Linux")
    command = ["mount", "-t", "tmpfs", "-o", "size=3M", "tmpfs", str(folder)]
    if subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("this machine mounts no tmpfs")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
