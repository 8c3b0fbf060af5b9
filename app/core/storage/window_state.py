"""Stores the window's state between starts: layout, open chat, whether the first steps were shown.

Small files, written at each change. Losing one is harmless, so writes are not synced, and failures are only logged.
"""

import logging
from pathlib import Path

from app.core.paths import Paths
from engine.storage.atomic import write_atomically

log = logging.getLogger(__name__)

MAX_LAYOUT_BYTES = 1 << 20
NEW_CHAT = 0  # stands for a chat that is not stored yet
MAX_ID_BYTES = 64
MAX_ID_DIGITS = 18  # SQLite's integers have up to 19
WELCOMED_FILE = "welcomed"


def read_layout(path: Path) -> bytes:
    """The stored layout; empty if it is missing or too long."""
    data = _read(path, MAX_LAYOUT_BYTES + 1, "The window's layout")
    return data if data is not None and len(data) <= MAX_LAYOUT_BYTES else b""


def write_layout(path: Path, data: bytes) -> bool:
    """Store the layout; False on failure."""
    return _write(path, data, "The window's layout")


class OpenChat:
    """Stores which chat is open in ``file``, at every change."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept: int | None = None

    def read(self) -> int | None:
        """The id of the chat, `NEW_CHAT`, or None if unknown."""
        data = _read(self._file, MAX_ID_BYTES, "Which chat was open last")
        text = "" if data is None else data.decode("ascii", "replace").strip()
        is_id = text.isascii() and text.isdecimal() and len(text) <= MAX_ID_DIGITS
        return int(text) if is_id else None

    def keep(self, conversation_id: int | None) -> None:
        """Store the open chat; None: a chat that is not stored yet."""
        opened = NEW_CHAT if conversation_id is None else conversation_id
        if opened != self._kept:
            self._kept = opened
            _write(self._file, f"{opened}\n".encode("ascii"), "Which chat is open")


def is_first_run(paths: Paths) -> bool:
    """True if no setting was saved and the first steps were never closed."""
    return not paths.settings_file.exists() and not (paths.config / WELCOMED_FILE).exists()


def note_welcomed(paths: Paths) -> None:
    """Record that the first steps were shown. If that fails, the next start shows them again."""
    try:
        (paths.config / WELCOMED_FILE).touch()
    except OSError as error:
        log.warning("the first run could not be noted: %s", error)


def _read(path: Path, max_bytes: int, what: str) -> bytes | None:
    try:
        with path.open("rb") as file:
            return file.read(max_bytes)
    except FileNotFoundError:
        return None
    except OSError as error:
        log.warning("%s could not be read: %s", what, error)
        return None


def _write(path: Path, data: bytes, what: str) -> bool:
    try:
        write_atomically(path, data)
    except OSError as error:
        log.warning("%s could not be kept: %s", what, error)
        return False
    return True
