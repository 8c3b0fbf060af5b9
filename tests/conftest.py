"""Every test has folders of its own, needs no display, and is not failed for the machine being busy."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile(
    "paceline",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),  # a machine that decides over changes must decide the same twice
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("paceline")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture(autouse=True)
def paceline_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder under which the app under test keeps everything."""
    home = tmp_path / "home"
    monkeypatch.setenv("PACELINE_HOME", str(home))
    return home
