"""Finds the files of a model: one file, or the parts of a split model.

Parts are named like ``NAME-00001-of-00003.gguf`` (llama.cpp's `llama_split_path`).
"""

import glob
import re
from pathlib import Path

from engine.errors import ModelFileError
from engine.gguf.header import GgufHeader
from engine.sentences import i18n

_FIRST_PART = re.compile(r"(.+)-00001-of-(\d{5})\.gguf", re.IGNORECASE)
_ANY_PART = re.compile(r"(.+)-\d{5}-of-(\d{5})\.gguf", re.IGNORECASE)


def all_parts(path: Path) -> tuple[Path, ...]:
    """The file, followed by the other existing parts if it is the first part of a split model."""
    match = _FIRST_PART.fullmatch(path.name)
    if match is None:
        return (path,)
    pattern = f"{glob.escape(match[1])}-[0-9][0-9][0-9][0-9][0-9]-of-{match[2]}.gguf"
    return (path, *sorted(part for part in path.parent.glob(pattern) if part.name != path.name))


def size_of_files(path: Path) -> int:
    return sum(part.stat().st_size for part in all_parts(path))


def check_first_part(header: GgufHeader, path: Path) -> None:
    """Check that the file is not a later part of a split model.

    Raises:
        ModelFileError: the file is a later part; the advice names the first part.
    """
    number, count = (header.metadata.get(f"split.{key}") for key in ("no", "count"))
    if not isinstance(number, int) or not isinstance(count, int) or not 0 < number < count:
        return
    match = _ANY_PART.fullmatch(path.name)
    first = f"{match[1]}-00001-of-{match[2]}.gguf" if match else ""
    advice = i18n("Open the first part, {first}.", first=first) if first else i18n("Open the first part.")
    raise ModelFileError(
        i18n("{name} is part {number} of {count} of a model.", name=path.name, number=number + 1, count=count), advice
    )
