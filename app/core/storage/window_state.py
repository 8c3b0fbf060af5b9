"""What the window finds again at the next start: its layout, which chat was open, whether the first steps were shown.

Small files, each kept at once when it changes. Losing one costs nothing, so none waits for the disk, and a failure is
only logged.
"""

from __future__ import annotations

import logging
from pathlib import Path

from app.core.paths import Paths
from app.core.storage.atomic import write_atomically

log = logging.getLogger(__name__)

MAX_LAYOUT_BYTES = 1 << 20
NEW_CHAT = 0  # in the file of the open chat: one that has no message yet
MAX_ID_BYTES = 64
MAX_ID_DIGITS = 18  # SQLite's integers have one more
WELCOMED_FILE = "welcomed"


def read_layout(path: Path) -> bytes:
    """Read the layout as the window wrote it; empty where there is none, or where it is too long to be one."""
    data = _read(path, MAX_LAYOUT_BYTES + 1, "The window's layout")
    return data if data is not None and len(data) <= MAX_LAYOUT_BYTES else b""


def write_layout(path: Path, data: bytes) -> bool:
    """Keep the layout; False where that failed, and the next start has the one kept before."""
    return _write(path, data, "The window's layout")


class OpenChat:
    """Which chat is open, kept in ``file`` whenever another one is opened: the next end may be a crash."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept: int | None = None

    def read(self) -> int | None:
        """The id of the chat, `NEW_CHAT`, or None where nothing is known."""
        data = _read(self._file, MAX_ID_BYTES, "Which chat was open last")
        text = "" if data is None else data.decode("ascii", "replace").strip()
        is_id = text.isascii() and text.isdecimal() and len(text) <= MAX_ID_DIGITS
        return int(text) if is_id else None

    def keep(self, conversation_id: int | None) -> None:
        """Note which chat is open; None is the one that has no message yet."""
        opened = NEW_CHAT if conversation_id is None else conversation_id
        if opened != self._kept:
            self._kept = opened
            _write(self._file, f"{opened}\n".encode("ascii"), "Which chat is open")


def is_first_run(paths: Paths) -> bool:
    """Whether no setting was saved and the first steps were never left."""
    return not paths.settings_file.exists() and not (paths.config / WELCOMED_FILE).exists()


def note_welcomed(paths: Paths) -> None:
    """Do not show the first steps again; where that cannot be noted, the next start shows them."""
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
        write_atomically(path, data, durable=False)
    except OSError as error:
        log.warning("%s could not be kept: %s", what, error)
        return False
    return True
