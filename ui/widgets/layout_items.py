"""Lets go of Qt's items of a layout after a look at them. Knows no layout of ours."""

from __future__ import annotations

import shiboken6
from PySide6.QtWidgets import QLayoutItem, QWidgetItem


def let_go(item: QLayoutItem | None) -> None:
    """Have Python forget the item around a widget, which `QLayout.itemAt` gave.

    The item goes with its widget, unnoticed by Python, which keeps the wrapper as long as the layout: whatever comes
    to lie at the same address would be taken for that item. A scroll bar of a code block was one.
    """
    if isinstance(item, QWidgetItem) and not shiboken6.createdByPython(item):
        shiboken6.invalidate(item)
