"""The name under which the figures of a model are kept: its file's, since files of one model differ in speed."""

from __future__ import annotations

import re
from pathlib import Path

from engine.records import ModelInfo

_PART = re.compile(r"-\d{5}-of-\d{5}$")


def model_name(info: ModelInfo | None) -> str:
    """Give the file's name without its ending, or without the number of its part; empty without a model."""
    return _PART.sub("", Path(info.path).stem) if info else ""
