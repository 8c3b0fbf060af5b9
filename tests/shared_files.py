"""Finds real models, vocabularies and templates for tests; tests are skipped without them."""

import os
from pathlib import Path

import pytest

VARIABLE = "PACELINE_MODELS"  # a folder with published models
SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared_file(place: str) -> Path:
    """The path of a file beside the checkout; skips the test if the file is missing."""
    path = SHARED / place
    if not path.exists():
        pytest.skip(f"the shared file {place} is not beside this checkout")
    return path


def shared_model(name: str) -> str:
    """The path of a shared model by its file name."""
    return str(shared_file(f"models/{name}"))


def real_model(name: str) -> Path:
    """The path of a published model by its file name; skips the test if it is missing."""
    folder = os.environ.get(VARIABLE, "")
    if not folder:
        pytest.skip(f"{VARIABLE} names no folder of models")
    path = Path(folder) / name
    if not path.is_file():
        pytest.skip(f"{name} is not in the folder that {VARIABLE} names")
    return path
