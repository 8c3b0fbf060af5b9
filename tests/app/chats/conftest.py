"""A store in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.chats.opening import Place
from app.chats.store import ChatStore
from engine.records import Problem


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "data" / "chats.db", tmp_path / "data" / "backups")


@pytest.fixture
def troubles() -> list[Problem | None]:
    return []


@pytest.fixture
def store(place: Place, troubles: list[Problem | None]) -> Iterator[ChatStore]:
    opened = ChatStore(place, troubles.append)
    assert opened.open() is None
    yield opened
    opened.close()
