"""A note beside the chats file that it was closed well: then a start need not read all of it to trust it.

It holds the file's size and time. Whatever ends without closing, or changes the file afterwards, leaves no note that
fits, and the whole file is checked. Knows nothing of what is in the file.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path


def note_of(file: Path) -> Path:
    """Where the note lies."""
    return file.with_name(file.name + ".closed")


def write_note(file: Path) -> None:
    """Note that the file is closed and whole; where that cannot be noted, the next start checks it."""
    if note_of(file).exists() and not note_of(file).is_file():
        return
    with contextlib.suppress(OSError):
        note_of(file).write_text(json.dumps(_state(file)), encoding="utf-8")


def take_note(file: Path) -> bool:
    """Whether the file is as it was when it was closed well. The note is gone afterwards: it counts once."""
    note = note_of(file)
    if not note.is_file():  # a pipe would be waited for
        return False
    try:
        kept = json.loads(note.read_text(encoding="utf-8"))
        note.unlink()
        return bool(kept == _state(file))
    except (OSError, ValueError):
        return False


def _state(file: Path) -> list[int]:
    """Give size and time of the file, and how much stands beside it that is not in it yet."""
    found = file.stat()
    log = file.with_name(file.name + "-wal")
    return [found.st_size, found.st_mtime_ns, log.stat().st_size if log.exists() else 0]
