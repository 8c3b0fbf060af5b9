"""Keeps the window's layout a moment after it changed, so that a crash loses nothing of it."""

from __future__ import annotations

from app.controllers.debounce import DebounceTimer
from app.controllers.parts import Parts, PartsController
from app.core.storage.window_state import read_layout, write_layout


class LayoutController(PartsController):
    """Follows the window, its panes and the marks. Writes once a change is over, and only what is another layout."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._file = parts.paths.layout_file
        self._kept = b""
        self._soon = DebounceTimer(self)
        self._soon.timeout.connect(self.keep)

    def start(self) -> None:
        """Give the window the layout that it had, and follow it from now on."""
        self._kept = read_layout(self._file)
        if self._kept:
            self._window.layout_state.restore(self._kept)
        self._window.layout_state.changed.connect(self._soon.changed)

    def keep(self) -> None:
        """Write the layout now, if it is not the one that was kept last."""
        self._soon.stop()
        layout = self._window.layout_state.save()
        if layout != self._kept and write_layout(self._file, layout):
            self._kept = layout

    def close(self) -> None:
        """Write it, and follow no longer: what closing does to the window is nobody's wish."""
        self._window.layout_state.changed.disconnect(self._soon.changed)
        self.keep()
