"""Keeps the controls of a page of settings as wide as the widest of them takes, one below the other."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from ui.settings.row import CONTROL_PX, SettingRow

MOST_PX = 320  # what explains a control needs its room, too


class ControlWidths(QObject):
    """Follows the rows of a page, which may be styled or have another size of text at any time."""

    def __init__(self, page: QWidget, rows: Sequence[SettingRow]) -> None:
        super().__init__(page)
        self._rows = [row for row in rows if not row.is_wide]
        self._width = 0
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: ARG002
        """Something on the page wants another size."""
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show):
            self._fit()
        return False

    def _fit(self) -> None:
        wanted = [row.control.sizeHint().width() for row in self._rows]
        width = min(max([CONTROL_PX, *wanted]), MOST_PX)
        if width != self._width:
            self._width = width
            for row in self._rows:
                row.set_control_px(width)
