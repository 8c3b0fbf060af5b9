"""Times Python's collection of reference cycles: not during an answer, and only on the GUI thread.

A full collection takes 20 to 80 ms, which is visible while text streams; and it may delete a widget, which only the GUI
thread may do.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

QUIET_MS = 1_500  # nothing happened for so long
ELSEWHERE_MS = 10_000  # between two looks for what other threads leave: some kilobytes for a request
MOST_PUT_OFF = 6  # looks for that, one after the other, however busy the window is


class GarbageController(QObject):
    """Collects shortly after the last activity; ``busy`` tells whether an answer is running."""

    def __init__(self, busy: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._busy = busy
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(self._collect)
        self._elsewhere = QTimer(self, singleShot=True, interval=ELSEWHERE_MS)
        self._elsewhere.timeout.connect(self._collect_elsewhere)
        self._num_put_off = 0
        gc.disable()
        gc.freeze()  # objects of the start stay, and would make every collection slow

    def something_happened(self) -> None:
        """There may be garbage; collect after a pause."""
        self._timer.start()

    def something_happened_elsewhere(self) -> None:
        """Other threads made garbage; does not delay the collection."""
        if not self._elsewhere.isActive():
            self._elsewhere.start()

    def close(self) -> None:
        """Return the timing to Python."""
        self._timer.stop()
        self._elsewhere.stop()
        gc.unfreeze()
        gc.enable()

    def _collect(self) -> None:
        if self._busy():
            self._timer.start()
        else:
            gc.collect()

    def _collect_elsewhere(self) -> None:
        if self._busy() and self._num_put_off < MOST_PUT_OFF:
            self._num_put_off += 1
            self._elsewhere.start()
        else:
            self._num_put_off = 0
            gc.collect()
