"""Runs Python's cycle collector on the GUI thread, and not during an answer.

A full collection takes 20 to 80 ms, which is visible while text streams. It may delete a widget, which is allowed on
the GUI thread only.
"""

import gc
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

PAUSE_MS = 2_000
MAX_POSTPONED = 30  # a server may be busy for hours, and each of its requests leaves kilobytes


class GarbageController(QObject):
    """Collects some seconds after activity; ``busy`` returns True while an answer is running."""

    def __init__(self, busy: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._busy = busy
        self._num_postponed = 0
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self._collect)
        gc.disable()
        gc.freeze()  # objects of the start are never garbage: exclude them

    def note_activity(self) -> None:
        if not self._timer.isActive():
            self._num_postponed = 0
            self._timer.start()

    def close(self) -> None:
        """Enable Python's automatic collection again."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    def _collect(self) -> None:
        if self._busy() and self._num_postponed < MAX_POSTPONED:
            self._num_postponed += 1
            self._timer.start()
        else:
            gc.collect()
