"""The bundled Lucide icons, recoloured with the palette. Reads `assets/icons/*.svg` once each; knows no widget."""

from __future__ import annotations

import math
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

PIXEL_RATIOS = (1.0, 1.5, 2.0, 3.0)
APP_ICON_SIZES = (16, 24, 32, 48, 64, 128, 256, 512)


def render_svg(source: bytes, size: int, ratio: float = 1.0) -> QPixmap:
    """``source`` as a pixmap of ``size`` logical pixels at a device-pixel ratio."""
    pixels = math.ceil(size * ratio)
    pixmap = QPixmap(QSize(pixels, pixels))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(source)).render(painter, QRectF(0, 0, pixels, pixels))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


class IconSet:
    """Icons by name, colour and size, cached."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sources: dict[str, str] = {}
        self._icons: dict[tuple[str, str, str, int], QIcon] = {}

    def _source(self, name: str) -> str:
        if name not in self._sources:
            self._sources[name] = (self._folder / f"{name}.svg").read_text("utf-8")
        return self._sources[name]

    def pixmap(self, name: str, color: str, size: int, ratio: float) -> QPixmap:
        """One icon as a pixmap for painting by hand."""
        # The set's stroke of 2 looks heavy beside text of 13 px.
        source = self._source(name).replace("currentColor", color).replace('width="2"', 'width="1.75"')
        return render_svg(source.encode(), size, ratio)

    def icon(self, name: str, color: str, disabled: str, size: int = 16) -> QIcon:
        """One icon in its normal and its disabled colour."""
        key = (name, color, disabled, size)
        if key not in self._icons:
            icon = QIcon()
            for ratio in PIXEL_RATIOS:
                icon.addPixmap(self.pixmap(name, color, size, ratio), QIcon.Mode.Normal)
                icon.addPixmap(self.pixmap(name, disabled, size, ratio), QIcon.Mode.Disabled)
            self._icons[key] = icon
        return self._icons[key]

    def application(self) -> QIcon:
        """The application's own icon in all sizes."""
        icon = QIcon()
        for size in APP_ICON_SIZES:
            icon.addFile(str(self._folder / f"paceline-{size}.png"), QSize(size, size))
        return icon
