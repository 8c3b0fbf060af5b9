"""Where the parts of the window stand: sidebar, page with its foot, statistics. Knows widgets, not what they show."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from ui.message_column import COLUMN_PX


def stacked(pages: Sequence[QWidget]) -> QStackedWidget:
    """Pages of which one is seen."""
    stack = QStackedWidget()
    for page in pages:
        stack.addWidget(page)
    return stack


def page_with_foot(header: QWidget, pages: QWidget, foot_parts: Sequence[QWidget]) -> QWidget:
    """The middle of the window: a header, the pages, and the foot below them, as wide as the text."""
    foot = QWidget()
    foot.setMaximumWidth(COLUMN_PX)
    inner = QVBoxLayout(foot)
    inner.setContentsMargins(24, 4, 24, 10)
    inner.setSpacing(8)
    for part in foot_parts:
        inner.addWidget(part)
    centred = QHBoxLayout()
    centred.addStretch(1)
    centred.addWidget(foot, 1000)
    centred.addStretch(1)
    middle = QWidget()
    middle.setObjectName("page")
    column = QVBoxLayout(middle)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(header)
    column.addWidget(pages, 1)
    column.addLayout(centred)
    return middle


def side_by_side(panes: Sequence[QWidget]) -> QSplitter:
    """Panes with handles between them."""
    splitter = QSplitter(Qt.Orientation.Horizontal)
    splitter.setHandleWidth(1)
    for pane in panes:
        splitter.addWidget(pane)
    return splitter
