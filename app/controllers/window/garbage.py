"""When Python looks for garbage in cycles: not in the middle of an answer, and not on the engine's thread.

A look at everything takes 20 to 80 ms, which is seen while text streams; and it may delete a widget, which only the
window's own thread may do.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

QUIET_MS = 1_500  # nothing happened for so long


class GarbageController(QObject):
    """Looks a moment after the last thing that happened; ``busy`` says whether an answer is in the making."""

    def __init__(self, busy: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._busy = busy
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(self._collect)
        gc.disable()
        gc.freeze()  # what the start brought stays; to look at it again and again is what would take long

    def something_happened(self) -> None:
        """There may be garbage, and it is no time to look for it."""
        self._timer.start()

    def something_happened_elsewhere(self) -> None:
        """There may be garbage of other threads, as often as they like; they do not put the look off."""
        if not self._timer.isActive():
            self._timer.start()

    def close(self) -> None:
        """Leave it to Python again."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    def _collect(self) -> None:
        if self._busy():
            self._timer.start()
        else:
            gc.collect()
