"""Where the real models, vocabularies and templates lie that tests use if they are there."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared_file(place: str) -> Path:
    """The file beside the checkout, or a skip that says which one is missing."""
    path = SHARED / place
    if not path.exists():
        pytest.skip(f"the shared file {place} is not beside this checkout")
    return path


def shared_model(name: str) -> str:
    """One of the shared models, by its file name."""
    return str(shared_file(f"models/{name}"))
