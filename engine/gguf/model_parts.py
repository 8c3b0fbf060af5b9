"""Which files make up one model: the file itself, or all parts of one that was split.

Names: llama.cpp's `llama_split_path`, ``NAME-00001-of-00003.gguf``.
"""

from __future__ import annotations

import glob
import re
from pathlib import Path

_FIRST_PART = re.compile(r"(.+)-00001-of-(\d{5})\.gguf", re.IGNORECASE)


def all_parts(path: Path) -> tuple[Path, ...]:
    """The file and, where it is the first part of a model, the others that are there, in order."""
    match = _FIRST_PART.fullmatch(path.name)
    if match is None:
        return (path,)
    pattern = f"{glob.escape(match[1])}-[0-9][0-9][0-9][0-9][0-9]-of-{match[2]}.gguf"
    return (path, *sorted(part for part in path.parent.glob(pattern) if part.name != path.name))
