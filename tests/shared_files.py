"""Where the real models, vocabularies and templates lie that tests use if they are there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

VARIABLE = "PACELINE_MODELS"  # names a folder of published models
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


def real_model(name: str) -> Path:
    """A published model, by its file name, or a skip that says why it is not at hand."""
    folder = os.environ.get(VARIABLE, "")
    if not folder:
        pytest.skip(f"{VARIABLE} names no folder of models")
    path = Path(folder) / name
    if not path.is_file():
        pytest.skip(f"{name} is not in the folder that {VARIABLE} names")
    return path
