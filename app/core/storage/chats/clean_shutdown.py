"""A marker beside the chats file that it was closed properly: then a start need not read all of it to trust it.

The marker holds the file's size and time. Whatever ends without closing, or changes the file afterwards, leaves no
marker that fits, and the whole file is checked.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path


def marker_of(file: Path) -> Path:
    """Where the marker lies."""
    return file.with_name(file.name + ".closed")


def write_marker(file: Path) -> None:
    """Mark the file as closed and whole; where that cannot be, the next start checks it."""
    if marker_of(file).exists() and not marker_of(file).is_file():
        return
    with contextlib.suppress(OSError):
        marker_of(file).write_text(json.dumps(_state(file)), encoding="utf-8")


def consume_marker(file: Path) -> bool:
    """Whether the file is as it was when it was closed properly. The marker is removed: it counts once."""
    marker = marker_of(file)
    if not marker.is_file():  # a pipe would be waited for
        return False
    try:
        kept = json.loads(marker.read_text(encoding="utf-8"))
        marker.unlink()
        return bool(kept == _state(file))
    except (OSError, ValueError):
        return False


def _state(file: Path) -> list[int]:
    """Size and time of the file, and how much stands in its log that is not in it yet."""
    found = file.stat()
    log = file.with_name(file.name + "-wal")
    return [found.st_size, found.st_mtime_ns, log.stat().st_size if log.exists() else 0]
