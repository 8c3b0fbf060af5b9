"""Reserves the width of a vertical scroll bar, so that nothing moves aside when there is more to scroll."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea

GUTTER_PX = 12  # as wide as the stylesheet draws the bar


def reserve_scroll_bar(area: QAbstractScrollArea) -> None:
    """Show the bar always, but its handle only where there is something to scroll to."""
    area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    bar = area.verticalScrollBar()
    bar.rangeChanged.connect(lambda minimum, maximum: bar.setEnabled(maximum > minimum))
    bar.setEnabled(bar.maximum() > bar.minimum())
