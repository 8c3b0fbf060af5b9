"""Viewports of scroll areas, made known to Python cheaply before the first paint.

The first time that a call gives a widget of Qt's own making, PySide makes all widget classes known to Python, to find
out which of them it is: twenty milliseconds. A widget that is looked for by its name is known at once, and stays so.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea, QScrollArea, QWidget

_NAME = "qt_scrollarea_viewport"


def know_viewport(area: QAbstractScrollArea) -> None:
    """Make the viewport of ``area`` known: from now on asking for it costs nothing."""
    area.findChild(QWidget, _NAME, Qt.FindChildOption.FindDirectChildrenOnly)


def know_all_widgets() -> None:
    """Take the twenty milliseconds now, while nothing waits for them."""
    QScrollArea().viewport()
