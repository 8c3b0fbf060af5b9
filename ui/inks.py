"""Fonts, their metrics and colours for painting by hand, each made once for a look. Knows no widget."""

from __future__ import annotations

from PySide6.QtGui import QColor, QFont, QFontMetricsF
from PySide6.QtWidgets import QApplication

_Face = tuple[int, QFont.Weight]
NORMAL = QFont.Weight.Normal


class Inks:
    """What it gives is shared: nobody changes it, and who keeps it asks again when the look changes."""

    def __init__(self, base_px: int) -> None:
        self._base_px = base_px
        self._fonts: dict[_Face, QFont] = {}
        self._metrics: dict[_Face, QFontMetricsF] = {}
        self._colors: dict[str, QColor] = {}

    def begin_anew(self, base_px: int) -> None:
        """Forget everything: text has another size of ``base_px`` pixels, or the system another font or palette."""
        self._base_px = base_px
        for kept in (self._fonts, self._metrics, self._colors):
            kept.clear()

    def font(self, step: int = 0, weight: QFont.Weight = NORMAL) -> QFont:
        """The system's font ``step`` pixels from the base, with tabular figures."""
        face = (step, weight)
        found = self._fonts.get(face)
        if found is None:
            found = self._fonts[face] = QFont(QApplication.font())
            found.setPixelSize(self._base_px + step)
            found.setWeight(weight)
            found.setFeature(QFont.Tag("tnum"), 1)
        return found

    def metrics(self, step: int = 0, weight: QFont.Weight = NORMAL) -> QFontMetricsF:
        """The measures of that font, in logical pixels."""
        face = (step, weight)
        found = self._metrics.get(face)
        if found is None:
            found = self._metrics[face] = QFontMetricsF(self.font(step, weight))
        return found

    def color(self, name: str) -> QColor:
        """A colour of the palette by what it holds: ``#2b2f36``."""
        found = self._colors.get(name)
        if found is None:
            found = self._colors[name] = QColor(name)
        return found
