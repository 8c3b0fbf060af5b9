"""The bundled Lucide icons, recoloured with the palette. Reads `assets/icons/*.svg` once each."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

APP_ICON_SIZES = (16, 24, 32, 48, 64, 128, 256, 512)


@cache
def _shape(file: Path, pixels: int) -> QImage:
    """One icon in black. An image, not a pixmap, may outlive the application."""
    # The set's stroke of 2 looks heavy beside text of 13 px.
    thin = file.read_text("utf-8").replace("currentColor", "#000000").replace('width="2"', 'width="1.75"')
    image = QImage(pixels, pixels, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(thin.encode())).render(painter, QRectF(0, 0, pixels, pixels))
    painter.end()
    return image


def _tinted(file: Path, color: str, size: int, ratio: float) -> QPixmap:
    """The shape of an icon in a colour; what is see-through stays so."""
    image = QImage(_shape(file, math.ceil(size * ratio)))
    painter = QPainter(image)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(image.rect(), QColor(color))
    painter.end()
    pixmap = QPixmap.fromImage(image)
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def screen_ratios() -> tuple[float, ...]:
    """How many pixels a point has on the screens that there are, each figure once."""
    return tuple(sorted({screen.devicePixelRatio() for screen in QGuiApplication.screens()})) or (1.0,)


class IconSet:
    """Icons by name, colour and size, cached. Every icon is of one colour: its shape is drawn once and then tinted.

    They are drawn for the screens that there are; when there are others, `follow_screens` has them drawn anew.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ratios = screen_ratios()
        self._icons: dict[tuple[str, str, str, int], QIcon] = {}

    def follow_screens(self) -> bool:
        """Draw for the screens that there are now; True where that differs: who has an icon asks for it again."""
        ratios = screen_ratios()
        if ratios == self._ratios:
            return False
        self._ratios = ratios
        self._icons.clear()
        return True

    def pixmap(self, name: str, color: str, size: int, ratio: float) -> QPixmap:
        """One icon as a pixmap for painting by hand."""
        return _tinted(self._folder / f"{name}.svg", color, size, ratio)

    def icon(self, name: str, color: str, disabled: str, size: int = 16) -> QIcon:
        """One icon in its normal and its disabled colour."""
        key = (name, color, disabled, size)
        if key not in self._icons:
            icon = QIcon()
            for ratio in self._ratios:
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
