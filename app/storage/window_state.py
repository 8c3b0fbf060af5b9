"""What the window finds again at the next start: its layout, the chat that was open, whether somebody was greeted.

Losing any of it costs nothing.
"""

from __future__ import annotations

import logging
from pathlib import Path

from app.paths import Paths

log = logging.getLogger(__name__)

MAX_LAYOUT_BYTES = 1 << 20
NEW_CHAT = 0  # the one that has no message yet
MAX_NUMBER_BYTES = 64
MAX_DIGITS = 18  # SQLite's integers have one more
WELCOMED_FILE = "welcomed"


def read_layout(path: Path) -> bytes:
    """Read the bytes; empty where there are none or too many."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_LAYOUT_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        log.warning("The window's layout could not be read: %s", error)
        return b""
    return data if len(data) <= MAX_LAYOUT_BYTES else b""


def write_layout(path: Path, data: bytes) -> bool:
    """Keep the bytes, all of them or none; False where that failed, and the next start has those kept before."""
    part = path.with_suffix(".part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        log.warning("The window's layout could not be kept: %s", error)
        return False
    return True


class OpenChat:
    """Remembers it in ``file``, at once: the next end may be a crash."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept: int | None = None

    def read(self) -> int | None:
        """The id of the chat, `NEW_CHAT`, or None where nothing is known."""
        try:
            with self._file.open("rb") as file:
                words = file.read(MAX_NUMBER_BYTES).decode("ascii", "replace").strip()
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("Which chat was open last could not be read: %s", error)
            return None
        is_number = words.isascii() and words.isdecimal() and len(words) <= MAX_DIGITS
        return int(words) if is_number else None

    def keep(self, conversation_id: int | None) -> None:
        """Note which chat is open; None is the one that has no message yet."""
        opened = NEW_CHAT if conversation_id is None else conversation_id
        if opened == self._kept:
            return
        self._kept = opened
        part = self._file.with_suffix(".part")
        try:
            part.write_text(f"{opened}\n", encoding="ascii")
            part.replace(self._file)
        except OSError as error:
            log.warning("Which chat is open could not be kept: %s", error)


def is_first_run(paths: Paths) -> bool:
    """Whether nothing was set and nobody was greeted yet."""
    return not paths.settings_file.exists() and not (paths.config / WELCOMED_FILE).exists()


def note_welcomed(paths: Paths) -> None:
    """Do not greet again; where that cannot be noted, the next start does."""
    try:
        (paths.config / WELCOMED_FILE).touch()
    except OSError as error:
        log.warning("the first run could not be noted: %s", error)
