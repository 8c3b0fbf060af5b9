"""The names of a model: for display, and for statistics."""

import re
from pathlib import Path

from app.core.domain.engines import is_remote, remote_name
from engine.records import ModelInfo

_PART = re.compile(r"-\d{5}-of-\d{5}$")


def shown_name(info: ModelInfo | None) -> str:
    """The display name, from header and file (`engine.gguf.title`); empty without a model."""
    return (info.name or model_name(info)) if info else ""


def model_name(info: ModelInfo | None) -> str:
    """The name for statistics: the file's name without ending and part number; empty without a model.

    It identifies the file and not the model: files of one model differ in speed.
    """
    return name_of_file(info.path) if info else ""


def name_of_file(path: str | Path) -> str:
    """The name for statistics of a model that is not loaded."""
    text = str(path)
    return remote_name(text) if is_remote(text) else _PART.sub("", printable(Path(path).stem))


def printable(name: str) -> str:
    """Replace line ends and undecodable bytes in a file name, since they break tables or cannot be encoded."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in name)
