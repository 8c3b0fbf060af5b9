"""The names of a model: what a person reads, and what its figures are kept under."""

from __future__ import annotations

import re
from pathlib import Path

from app.core.domain.engines import is_remote, remote_name
from engine.records import ModelInfo

_PART = re.compile(r"-\d{5}-of-\d{5}$")


def shown_name(info: ModelInfo | None) -> str:
    """Give the name that a person reads, as header and file tell it (`engine.gguf.title`); empty without one."""
    return (info.name or model_name(info)) if info else ""


def model_name(info: ModelInfo | None) -> str:
    """Give what figures are kept under: the file's name without ending and number of its part; empty without a model.

    Files of one model differ in speed, so it is not the model's name.
    """
    return name_of_file(info.path) if info else ""


def name_of_file(path: str | Path) -> str:
    """The same of a model that is not loaded, by its file."""
    text = str(path)
    return remote_name(text) if is_remote(text) else _PART.sub("", printable(Path(path).stem))


def printable(name: str) -> str:
    """A name of a file with a sign in the place of what is no character: a line end, a byte of another code.

    It would break a table, and could not be written down.
    """
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in name)
