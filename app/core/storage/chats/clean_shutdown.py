"""A marker beside the chats file that it was closed properly: the next start then need not check all of it.

The marker has the file's size and time. After a crash or a later change no marker fits, and the whole file is checked.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path


def marker_of(file: Path) -> Path:
    return file.with_name(file.name + ".closed")


def write_marker(file: Path) -> None:
    """Mark the file as closed; if that fails, the next start checks it."""
    if marker_of(file).exists() and not marker_of(file).is_file():
        return
    with contextlib.suppress(OSError):
        marker_of(file).write_text(json.dumps(_state(file)), encoding="utf-8")


def consume_marker(file: Path) -> bool:
    """True if the file is unchanged since it was closed properly. The marker is removed: it counts once."""
    marker = marker_of(file)
    if not marker.is_file():  # reading a pipe would block
        return False
    try:
        kept = json.loads(marker.read_text(encoding="utf-8"))
        marker.unlink()
        return bool(kept == _state(file))
    except (OSError, ValueError):
        return False


def _state(file: Path) -> list[int]:
    """Size and time of the file, and the size of its log."""
    found = file.stat()
    log = file.with_name(file.name + "-wal")
    return [found.st_size, found.st_mtime_ns, log.stat().st_size if log.exists() else 0]
