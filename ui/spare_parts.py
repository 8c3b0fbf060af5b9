"""Parts of an answer that are made and styled before they are needed, each in a turn of the event loop of its own.

Knows neither text nor places: who takes one says what it shows.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from ui.code_block import CodeBlock
from ui.prose_view import ProseView
from ui.theme import Theme

PAUSE_MS = 7  # after what was drawn last, and before what comes next


class SpareParts(QObject):
    """Keeps one run of prose and one code block ready below ``parent`` while it is told to."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._home = parent
        self._prose: ProseView | None = None
        self._code: CodeBlock | None = None
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self._make_one)

    def make_soon(self) -> None:
        """Make what is missing, shortly and one after the other."""
        if (self._prose is None or self._code is None) and not self._timer.isActive():
            self._timer.start()

    def drop(self) -> None:
        """Keep nothing ready any more."""
        self._timer.stop()
        for part in (self._prose, self._code):
            if part is not None:
                part.deleteLater()
        self._prose = self._code = None

    def prose(self) -> ProseView:
        """A run of prose, the spare one where it is ready."""
        part, self._prose = self._prose, None
        return part or ProseView(self._theme, self._home)

    def code(self) -> CodeBlock:
        """A code block, the spare one where it is ready."""
        part, self._code = self._code, None
        return part or CodeBlock(self._theme, self._home)

    def _make_one(self) -> None:
        part: ProseView | CodeBlock
        if self._prose is None:
            part = self._prose = ProseView(self._theme, self._home)
        else:
            part = self._code = CodeBlock(self._theme, self._home)
        part.hide()
        for widget in (part, *part.findChildren(QWidget)):
            widget.ensurePolished()
        part.sizeHint()
        self.make_soon()
