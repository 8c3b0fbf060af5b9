"""PySide's wrappers of Qt's own objects: resolved cheaply, and invalidated when Qt deletes the object.

The first call that returns a widget created by Qt makes PySide load all widget classes: twenty milliseconds. Looking it
up by object name avoids that.
"""

from __future__ import annotations

import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea, QLayoutItem, QScrollArea, QWidget, QWidgetItem

VIEWPORT_NAME = "qt_scrollarea_viewport"  # which Qt gives it


def wrap_viewport(area: QAbstractScrollArea) -> None:
    area.findChild(QWidget, VIEWPORT_NAME, Qt.FindChildOption.FindDirectChildrenOnly)


def preload_wrappers() -> None:
    """Take the twenty milliseconds now, while idle."""
    QScrollArea().viewport()


def invalidate_item(item: QLayoutItem | None) -> None:
    """Invalidate the wrapper of a layout item that `QLayout.itemAt` returned.

    Qt deletes the item with its widget, but PySide keeps the wrapper: another object at the same address would be taken
    for that item. This happened with a scroll bar.
    """
    if isinstance(item, QWidgetItem) and not shiboken6.createdByPython(item):
        shiboken6.invalidate(item)
