"""PySide's wrappers of Qt's own objects: resolved cheaply, and invalidated where Qt deletes what they wrap.

The first time that a call returns a widget of Qt's own making, PySide loads all widget classes to find out which one
it is: twenty milliseconds. A widget that is looked up by its object name is resolved at once, and stays so.
"""

from __future__ import annotations

import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea, QLayoutItem, QScrollArea, QWidget, QWidgetItem

VIEWPORT_NAME = "qt_scrollarea_viewport"  # which Qt gives it


def wrap_viewport(area: QAbstractScrollArea) -> None:
    """Resolve the wrapper of the viewport of ``area``: from now on asking for it costs nothing."""
    area.findChild(QWidget, VIEWPORT_NAME, Qt.FindChildOption.FindDirectChildrenOnly)


def preload_wrappers() -> None:
    """Take the twenty milliseconds now, while nothing waits for them."""
    QScrollArea().viewport()


def invalidate_item(item: QLayoutItem | None) -> None:
    """Have Python forget the item around a widget, which `QLayout.itemAt` returned.

    Qt deletes the item with its widget. PySide does not notice, and keeps the wrapper as long as the layout: whatever
    comes to lie at the same address would be taken for that item. A scroll bar of a code block was one.
    """
    if isinstance(item, QWidgetItem) and not shiboken6.createdByPython(item):
        shiboken6.invalidate(item)
