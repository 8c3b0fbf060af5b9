"""Saves the window layout shortly after a change, so that it survives a crash."""

from __future__ import annotations

from app.controllers.parts import DebounceTimer, Parts, PartsController
from app.core.storage.window_state import read_layout, write_layout


class LayoutController(PartsController):
    """Saves the window layout, its panes and marks. Writes are debounced and skipped if nothing changed."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._file = parts.paths.layout_file
        self._kept = b""
        self._soon = DebounceTimer(self)
        self._soon.timeout.connect(self.keep)

    def start(self) -> None:
        self._kept = read_layout(self._file)
        if self._kept:
            self._window.layout_state.restore(self._kept)
        self._window.layout_state.changed.connect(self._soon.changed)

    def keep(self) -> None:
        self._soon.stop()
        layout = self._window.layout_state.save()
        if layout != self._kept and write_layout(self._file, layout):
            self._kept = layout

    def close(self) -> None:
        """Save, then ignore further changes: closing the window changes its layout."""
        self._window.layout_state.changed.disconnect(self._soon.changed)
        self.keep()
