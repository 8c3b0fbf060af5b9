"""The background of a delegate's item: selected, hovered, focused."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle

from ui.theme.palette import Palette


def paint_item_background(painter: QPainter, box: QRect, state: QStyle.StateFlag, tokens: Palette) -> None:
    """Fill ``box`` as the ``state`` of the row asks for."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    selected = bool(state & QStyle.StateFlag.State_Selected)
    if selected or state & QStyle.StateFlag.State_MouseOver:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.selected if selected else tokens.hover))
        painter.drawRoundedRect(box, 6, 6)
    if state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(QColor(tokens.focus))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 5, 5)
