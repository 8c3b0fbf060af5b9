"""A text on one line: cut to a width, with its dots where its end is, whichever way it is read."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF

from ui.text.reading_direction import is_right_to_left

_RIGHT_TO_LEFT_ISOLATE, _END_OF_ISOLATE = "\u2067", "\u2069"


def cut(
    text: str,
    metrics: QFontMetrics | QFontMetricsF,
    width: float,
    mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> str:
    """``text`` for painting: as much as ``width`` logical pixels hold, and dots for the rest."""
    if isinstance(metrics, QFontMetrics):
        return in_its_direction(metrics.elidedText(text, mode, int(width)))
    return in_its_direction(metrics.elidedText(text, mode, width))


def in_its_direction(text: str) -> str:
    """``text`` for painting; one that is read from right to left is kept apart from the window's own direction.

    A window from left to right would paint what ends such a text, dots as well as a full stop, before its first word.
    """
    return f"{_RIGHT_TO_LEFT_ISOLATE}{text}{_END_OF_ISOLATE}" if is_right_to_left(text) else text
