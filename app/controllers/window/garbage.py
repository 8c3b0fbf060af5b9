"""Runs Python's cycle collector on the GUI thread, and not during an answer.

A full collection takes 20 to 80 ms, which is visible while text streams. It may delete a widget, which is allowed on
the GUI thread only.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

IDLE_MS = 1_500  # pause after the last activity
THREADS_INTERVAL_MS = 10_000  # between two checks for garbage of other threads: kilobytes for each request
MAX_POSTPONED = 6  # maximum number of successive checks that are skipped because the window is busy


class GarbageController(QObject):
    """Collects shortly after the last activity; ``busy`` returns True while an answer is running."""

    def __init__(self, busy: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._busy = busy
        self._timer = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._timer.timeout.connect(self._collect)
        self._other_threads = QTimer(self, singleShot=True, interval=THREADS_INTERVAL_MS)
        self._other_threads.timeout.connect(self._collect_for_threads)
        self._num_postponed = 0
        gc.disable()
        gc.freeze()  # objects of the start are never garbage: exclude them

    def note_activity(self) -> None:
        """Note activity on the GUI thread: collect after a pause."""
        self._timer.start()

    def note_other_threads(self) -> None:
        """Note garbage of other threads; does not delay a collection."""
        if not self._other_threads.isActive():
            self._other_threads.start()

    def close(self) -> None:
        """Enable Python's automatic collection again."""
        self._timer.stop()
        self._other_threads.stop()
        gc.unfreeze()
        gc.enable()

    def _collect(self) -> None:
        if self._busy():
            self._timer.start()
        else:
            gc.collect()

    def _collect_for_threads(self) -> None:
        if self._busy() and self._num_postponed < MAX_POSTPONED:
            self._num_postponed += 1
            self._other_threads.start()
        else:
            self._num_postponed = 0
            gc.collect()
