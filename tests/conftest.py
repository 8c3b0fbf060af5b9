"""Every test has folders of its own, needs no display, and is not failed for the machine being busy."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from tests.garbage import collect_some

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

hypothesis.settings.register_profile(
    "paceline",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),  # a machine that decides over changes must decide the same twice
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("paceline")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def pytest_unconfigure() -> None:
    """Close what llama-cpp-python opens when it is imported, and leaves to the interpreter's end to complain of."""
    if loaded := sys.modules.get("llama_cpp._utils"):
        loaded.outnull_file.close()
        loaded.errnull_file.close()


@pytest.fixture(autouse=True)
def garbage() -> Iterator[None]:
    """Look for garbage on this thread only, as the app does: a widget that another thread deletes may lock Qt up."""
    gc.disable()
    yield
    collect_some()


@pytest.fixture(autouse=True)
def paceline_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder under which the app under test keeps everything."""
    home = tmp_path / "home"
    monkeypatch.setenv("PACELINE_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def qapp(qapp: QApplication) -> QApplication:
    """Let the application speak English, plurals included, whatever the machine speaks."""
    from ui.catalogues import ENGLISH, speak

    speak(qapp, Path(__file__).parents[1] / "assets" / "translations", ENGLISH)
    return qapp
