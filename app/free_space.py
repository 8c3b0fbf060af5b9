"""Whether the disk of a folder is nearly full, told when that changes. Knows no chats and no widget."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)

LOW_BYTES = 50_000_000  # below this it is nearly full
ENOUGH_BYTES = 60_000_000  # from this on it is not any more: between the two nothing changes


def free_bytes(folder: Path) -> int:
    """Bytes that are free for this user where ``folder`` lies; some microseconds on a disk of this computer.

    Raises:
        OSError: nobody can tell.
    """
    return shutil.disk_usage(folder).free


class FreeSpace:
    """Looks when it is told to; ``on_change`` is called on the same thread, with whether the disk is nearly full."""

    def __init__(self, folder: Path, on_change: Callable[[bool], None]) -> None:
        self._folder = folder
        self._on_change = on_change
        self._is_low = False

    def look(self) -> None:
        """Ask for the free bytes. What nobody can tell changes nothing: then other words say what is wrong."""
        try:
            free = free_bytes(self._folder)
        except OSError as error:
            log.info("The free space of the data folder is not known: %s", error)
            return
        is_low = free < (ENOUGH_BYTES if self._is_low else LOW_BYTES)
        if is_low is not self._is_low:
            self._is_low = is_low
            log.info("The data folder's disk has %d bytes free.", free)
            self._on_change(is_low)
