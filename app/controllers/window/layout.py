"""Saves the window layout shortly after a change, so that it survives a crash."""

from app.controllers.parts import DebounceTimer, Parts, PartsController
from app.core.storage.window_state import read_layout, write_layout


class LayoutController(PartsController):
    """Saves the window layout, its panes and marks. Writes are debounced and skipped if nothing changed."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._file = parts.paths.layout_file
        self._saved_state = b""
        self._save_timer = DebounceTimer(self)
        self._save_timer.timeout.connect(self.save)

    def start(self) -> None:
        self._saved_state = read_layout(self._file)
        if self._saved_state:
            self._window.layout_state.restore(self._saved_state)
        self._window.layout_state.changed.connect(self._save_timer.restart)

    def save(self) -> None:
        self._save_timer.stop()
        layout = self._window.layout_state.save()
        if layout != self._saved_state and write_layout(self._file, layout):
            self._saved_state = layout

    def close(self) -> None:
        """Save, then ignore further changes: closing the window changes its layout."""
        self._window.layout_state.changed.disconnect(self._save_timer.restart)
        self.save()
