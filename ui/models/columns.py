"""The layout of pages with a list at the left and details beside it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from ui.theme.theme import Theme
from ui.widgets.building import hbox, scrolled, vbox

LIST_PX, LEAST_LIST_PX = 340, 316
LIST_LINES, LEAST_LIST_LINES = 22.5, 19.0  # its width in heights of a line: larger text needs more
CARD_PX = 640


class _ListSide(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("hubList")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        theme.changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        line = self._theme.text_height()
        self.setMinimumWidth(max(LEAST_LIST_PX, round(LEAST_LIST_LINES * line)))
        self.setMaximumWidth(max(LIST_PX, round(LIST_LINES * line)))


def list_side(theme: Theme, top_px: int, spacing_px: int) -> tuple[QWidget, QVBoxLayout]:
    side = _ListSide(theme)
    column = vbox(parent=side, margins=(12, top_px, 12, 0), spacing=spacing_px)
    return side, column


def verdict_side(empty: QWidget, pieces: Sequence[QWidget], name: str) -> QStackedWidget:
    """The right side: first ``empty``, then the ``pieces`` in a column that scrolls."""
    content = QWidget()
    column = vbox(parent=content, margins=(24, 20, 24, 24), spacing=12)
    for piece in pieces:
        piece.setMaximumWidth(CARD_PX)
        column.addWidget(piece)
    column.addStretch(1)
    side = QStackedWidget()
    side.addWidget(empty)
    side.addWidget(scrolled(content, name))
    return side


def put_beside(page: QWidget, left: QWidget, right: QWidget) -> None:
    hbox((left, 2), (right, 5), parent=page, margins=0, spacing=0)
