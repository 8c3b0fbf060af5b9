"""Warns in the window when the disk of the chats is nearly full, before saving fails.

Checks at the start, after every write, and every few seconds while the disk is full. Checks run on the storage thread,
so that a slow disk does not block the window.
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from PySide6.QtCore import QTimer, Signal

from app.controllers.parts import Parts, PartsController
from engine.records import Problem
from ui.text.language import translate

log = logging.getLogger(__name__)

LOW_BYTES = 50_000_000  # with less free space the disk is nearly full
ENOUGH_BYTES = 60_000_000  # with more free space the warning ends (hysteresis)
CHECK_INTERVAL_MS = 5_000


def free_bytes(folder: Path) -> int:
    """Free bytes for this user on the disk of ``folder``; takes microseconds on a local disk.

    Raises:
        OSError: the free space is unknown.
    """
    return shutil.disk_usage(folder).free


class DiskSpaceController(PartsController):
    """Lives on the GUI thread."""

    measured = Signal(object)  # the number of free bytes; emitted on the storage thread

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._is_low = self._in_trouble = self._dismissed = False
        self._timer = QTimer(self)
        self._timer.setInterval(CHECK_INTERVAL_MS)
        self._timer.timeout.connect(self.check)
        self.measured.connect(self._on_measured)

    def start(self) -> None:
        self._parts.store.on_written = self._measure
        self._parts.window.space_banner.close_button.clicked.connect(self._dismiss)
        self._show()
        self.check()

    def close(self) -> None:
        self._timer.stop()
        self._parts.store.on_written = _nothing

    def check(self) -> None:
        self._parts.store.run_on_writer_thread(self._measure)

    def on_save_state(self, problem: Problem | None) -> None:
        """Called when saving fails or works again; the message about it replaces this warning."""
        self._in_trouble = problem is not None
        self._show()

    def _measure(self) -> None:
        """Read the free space. If that fails nothing changes; a failed save has its own message."""
        try:
            self.measured.emit(free_bytes(self._parts.paths.data))
        except OSError as error:
            log.info("The free space of the data folder is not known: %s", error)

    def _on_measured(self, free: int) -> None:
        is_low = free < (ENOUGH_BYTES if self._is_low else LOW_BYTES)
        if is_low is self._is_low:
            return
        log.info("The data folder's disk has %d bytes free.", free)
        self._is_low, self._dismissed = is_low, False
        if is_low:
            self._timer.start()
        else:
            self._timer.stop()
        self._show()

    def _dismiss(self) -> None:
        self._dismissed = True

    def _show(self) -> None:
        banner = self._parts.window.space_banner
        if self._is_low and not self._in_trouble and not self._dismissed:
            words = translate(
                "SpaceController",
                "The disk with {folder} is nearly full. Free some space, or Paceline will soon be unable to "
                "save anything.",
            )
            banner.show_warning(words.format(folder=self._parts.paths.data))
        else:
            banner.hide()


def _nothing() -> None:
    return
