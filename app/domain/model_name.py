"""The one name of a loaded model, in the header, below answers and in the figures."""

from __future__ import annotations

import re
from pathlib import Path

from engine.records import ModelInfo

_PART = re.compile(r"-\d{5}-of-\d{5}$")


def model_name(info: ModelInfo | None) -> str:
    """Give the file's name without ending and number of its part, since files of one model differ in speed.

    Empty without a model.
    """
    return name_of_file(info.path) if info else ""


def name_of_file(path: str | Path) -> str:
    """The same of a model that is not loaded, by its file."""
    return _PART.sub("", Path(path).stem)
