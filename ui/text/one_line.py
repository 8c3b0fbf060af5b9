"""Text on one line: elided to a width in its own reading direction."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF

from ui.text.reading_direction import is_right_to_left

_RIGHT_TO_LEFT_ISOLATE, _END_OF_ISOLATE = "\u2067", "\u2069"


def elided(
    text: str,
    metrics: QFontMetrics | QFontMetricsF,
    width: float,
    mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> str:
    """``text`` elided to ``width`` logical pixels, for painting."""
    if isinstance(metrics, QFontMetrics):
        return isolate_right_to_left(metrics.elidedText(text, mode, int(width)))
    return isolate_right_to_left(metrics.elidedText(text, mode, width))


def isolate_right_to_left(text: str) -> str:
    """``text`` for painting, isolated if it is right-to-left.

    A left-to-right window would paint its final punctuation before its first word.
    """
    return f"{_RIGHT_TO_LEFT_ISOLATE}{text}{_END_OF_ISOLATE}" if is_right_to_left(text) else text
