"""A marker file: the chats file was closed properly, and the next start need not check all of it.

The marker contains the file's size and time. If they do not match, the next start checks the whole file.
"""

import contextlib
import json
from pathlib import Path


def marker_of(file: Path) -> Path:
    return file.with_name(file.name + ".closed")


def write_marker(file: Path) -> None:
    """Write the marker. If that fails, the next start checks the file."""
    if marker_of(file).exists() and not marker_of(file).is_file():
        return
    with contextlib.suppress(OSError):
        marker_of(file).write_text(json.dumps(_state(file)), encoding="utf-8")


def consume_marker(file: Path) -> bool:
    """True if the file is unchanged since it was closed properly. Deletes the marker."""
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
    """Size and modification time of the file, and the size of its write-ahead log."""
    found = file.stat()
    log = file.with_name(file.name + "-wal")
    return [found.st_size, found.st_mtime_ns, log.stat().st_size if log.exists() else 0]
