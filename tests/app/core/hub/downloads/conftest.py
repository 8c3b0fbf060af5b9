"""A library in the test's folder."""

from pathlib import Path

import pytest

from app.core.hub.library.library import Library


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "models", tmp_path / "library.json")
