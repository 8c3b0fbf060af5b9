"""A timer that delays saving until typing or dragging pauses."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer

DEBOUNCE_MS = 300
LONGEST_S = 2.0  # somebody who types or drags without a pause: what a kill may take


class DebounceTimer(QTimer):
    """Fires shortly after the last change, and regularly during continuous changes."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent, singleShot=True, interval=DEBOUNCE_MS)
        self._since_s = 0.0

    def changed(self) -> None:
        now_s = time.monotonic()
        if not self.isActive():
            self._since_s = now_s
        if not self.isActive() or now_s - self._since_s < LONGEST_S:
            self.start()
