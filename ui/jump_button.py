"""The button that leads back to the end of the page, at its lower edge. Knows the page it stands on; no messages."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QScrollArea, QToolButton, QWidget

from ui.language import translate
from ui.theme import Theme

MARGIN_PX = 12


class JumpButton(QToolButton):
    """Stands on what scrolls: above it, it would have all of it painted for every line."""

    def __init__(self, theme: Theme, page: QScrollArea, content: QWidget) -> None:
        super().__init__(content)
        self._theme = theme
        self._page, self._content = page, content
        self.setObjectName("jump")
        self.setText(translate("Transcript", "Jump to latest"))
        self.setAccessibleName(translate("Transcript", "Jump to latest"))
        self.setToolTip(translate("Transcript", "Scroll to the end and stay there"))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(14, 14))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()
        theme.changed.connect(self._recolor)
        self._recolor()

    def _recolor(self) -> None:
        self.setIcon(self._theme.icon("arrow-down", size=14))

    def place(self) -> None:
        """Stand at the lower edge of what is in sight."""
        if self.isHidden():
            return
        self.adjustSize()
        page = self._page
        x = (page.width() - self.width()) // 2
        self.move(x, page.viewport().height() - self.height() - MARGIN_PX - self._content.y())
        self.raise_()
