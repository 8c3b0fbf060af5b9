"""The whole app with a scripted engine."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.core.paths import builtin_draft, builtin_target
from engine.sandbox.machine_check import file_inspector
from tests.app.fakes import AppHarness, keep_settings, open_app
from tests.engine import conftest as of_engine
from tests.shared_files import SHARED

helper_address, warm_helpers = of_engine.helper_address, of_engine.warm_helpers  # fixtures


@pytest.fixture
def harness(qtbot: QtBot) -> Iterator[AppHarness]:
    """The app with a loaded pair."""
    keep_settings({})
    opened = open_app()
    opened.engine.ready()
    qtbot.waitUntil(lambda: opened.window.engine.target is not None)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def found_by_trying(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the child processes of a first start: whether the kernels work, and the kinds of models."""
    folder = tmp_path_factory.mktemp("tried")
    inspect = file_inspector(folder, builtin_target())
    for path in (builtin_target(), builtin_draft(), *(SHARED / "models").glob("babyllama*.gguf")):
        inspect(path, lambda: False)
    return folder


@pytest.fixture
def tried(found_by_trying: Path, paceline_home: Path) -> None:
    """Skip the first start, which takes seconds; other tests cover it."""
    shutil.copytree(found_by_trying, paceline_home / "cache", dirs_exist_ok=True)


@pytest.fixture(autouse=True)
def _known_read_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the measurement of memory bandwidth: it takes time, and its result varies."""
    monkeypatch.setattr("app.core.hub.pairs.read_speed.measure_read_speed", lambda _threads: 20e9)
