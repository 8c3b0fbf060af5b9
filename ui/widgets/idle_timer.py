"""A timer for work that can wait for a turn of the event loop in which nothing is painted."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

_TURNS = 2  # in the first one something may ask to be painted, which the next one does before it looks at timers


class IdleTimer(QTimer):
    """Runs out once, a while after it began, and then in a turn that does not paint what was asked for before."""

    def __init__(self, parent: QObject, work: Callable[[], None]) -> None:
        super().__init__(parent, singleShot=True)
        self._work = work
        self._turns = 0
        self.timeout.connect(self._on_timeout)

    def begin(self, pause_ms: int) -> None:
        self._turns = _TURNS
        self.start(pause_ms)

    def _on_timeout(self) -> None:
        if self._turns:
            self._turns -= 1
            self.start(0)
        else:
            self._work()
