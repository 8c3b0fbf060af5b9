"""Defers work until a window's first paint."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

HIDDEN_WINDOW_MS = 250
MAX_WAIT_MS = 10_000  # a window that starts minimized may never be painted


class FirstPaint(QObject):
    """Calls ``then`` once on the GUI thread. ``even_if_closed``: also call it if the window is closed first.

    ``after_ms``: pause after the first paint, in which the chat page is filled.
    """

    def __init__(
        self, window: QWidget, then: Callable[[], None], *, even_if_closed: bool = False, after_ms: int = 0
    ) -> None:
        super().__init__(window)
        self._even_if_closed = even_if_closed
        self._after_ms = after_ms
        self._window = window
        self._then: Callable[[], None] | None = then
        window.installEventFilter(self)
        QTimer.singleShot(MAX_WAIT_MS, self, self._end)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: ARG002
        """Wait for the end of the event loop iteration: children are painted after the window."""
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            QTimer.singleShot(self._after_ms, self, self._end)
        elif self._even_if_closed and event.type() == QEvent.Type.Close:
            self._end()
        return False

    def _end(self) -> None:
        then, self._then = self._then, None
        if then is not None:
            self._window.removeEventFilter(self)
            then()
