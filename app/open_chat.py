"""Which chat was open last, for the next start: a number in a small file. Losing it costs nothing. Knows no chat."""

from __future__ import annotations

import logging
from pathlib import Path

log = logging.getLogger(__name__)

NEW_CHAT = 0  # the one that has no message yet
MAX_BYTES = 64
MAX_DIGITS = 18  # SQLite's integers have one more


class OpenChat:
    """Remembers it in ``file``, at once: the next end may be a crash."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept: int | None = None

    def read(self) -> int | None:
        """The id of the chat, `NEW_CHAT`, or None where nothing is known."""
        try:
            with self._file.open("rb") as file:
                words = file.read(MAX_BYTES).decode("ascii", "replace").strip()
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
