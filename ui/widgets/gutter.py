"""Reserves the scroll bar's width, so that content does not move when it appears."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea

GUTTER_PX = 12  # as wide as the stylesheet draws the bar


def reserve_scroll_bar(area: QAbstractScrollArea) -> None:
    """Always show the bar, its handle only if needed."""
    area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    bar = area.verticalScrollBar()
    bar.rangeChanged.connect(lambda minimum, maximum: bar.setEnabled(maximum > minimum))
    bar.setEnabled(bar.maximum() > bar.minimum())
