"""Warns in the window when the disk of the chats is nearly full, before saving fails.

Checks at the start and after every write, on the storage thread, so that a slow disk does not block the window.
"""

import logging
import shutil
from pathlib import Path

from PySide6.QtCore import Signal

from app.controllers.parts import Parts, PartsController
from engine.records import Problem
from ui.text.language import translate

log = logging.getLogger(__name__)

LOW_BYTES = 50_000_000  # with less free space the disk is nearly full
ENOUGH_BYTES = 60_000_000  # with more free space the warning ends (hysteresis)


def free_bytes(folder: Path) -> int:
    """Free bytes for this user on the disk of ``folder``.

    Raises:
        OSError: the free space is unknown.
    """
    return shutil.disk_usage(folder).free


class DiskSpaceController(PartsController):
    """Lives on the GUI thread. A dismissed warning comes back only after there was enough space."""

    measured = Signal(object)  # the number of free bytes; emitted on the storage thread

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._is_low = False
        self.measured.connect(self._on_measured)

    def start(self) -> None:
        self._store.on_written = self._measure
        self._store.run_on_writer_thread(self._measure)

    def close(self) -> None:
        self._store.on_written = lambda: None

    def on_save_state(self, problem: Problem | None) -> None:
        """Called when saving fails or works again; the message about it replaces this warning."""
        self._show(is_shown=self._is_low and problem is None)

    def _measure(self) -> None:
        """Read the free space. If that fails nothing changes; a failed save has its own message."""
        try:
            self.measured.emit(free_bytes(self._parts.paths.data))
        except OSError as error:
            log.info("The free space of the data folder is not known: %s", error)

    def _on_measured(self, free: int) -> None:
        is_low = free < (ENOUGH_BYTES if self._is_low else LOW_BYTES)
        if is_low is not self._is_low:
            log.info("The data folder's disk has %d bytes free.", free)
            self._is_low = is_low
            self._show(is_shown=is_low)

    def _show(self, *, is_shown: bool) -> None:
        banner = self._window.space_banner
        if not is_shown:
            banner.hide()
            return
        words = translate(
            "SpaceController",
            "The disk with {folder} is nearly full. Free some space, or Paceline will soon be unable to save anything.",
        )
        banner.show_warning(words.format(folder=self._parts.paths.data))
