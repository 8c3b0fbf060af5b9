"""The bundled Lucide icons, recoloured with the palette. Reads `assets/icons/*.svg` once each."""

from __future__ import annotations

import math
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

APP_ICON_SIZES = (16, 24, 32, 48, 64, 128, 256, 512)


def _draw(renderer: QSvgRenderer, size: int, ratio: float) -> QPixmap:
    pixels = math.ceil(size * ratio)
    pixmap = QPixmap(QSize(pixels, pixels))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, pixels, pixels))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def _tinted(shape: QPixmap, color: str) -> QPixmap:
    """The same shape in another colour; what is see-through stays so."""
    pixmap = QPixmap(shape)
    painter = QPainter(pixmap)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(pixmap.rect(), QColor(color))
    painter.end()
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
        self._shapes: dict[tuple[str, int], tuple[QPixmap, ...]] = {}
        self._icons: dict[tuple[str, str, str, int], QIcon] = {}

    def follow_screens(self) -> bool:
        """Draw for the screens that there are now; True where that differs: who has an icon asks for it again."""
        ratios = screen_ratios()
        if ratios == self._ratios:
            return False
        self._ratios = ratios
        self._shapes.clear()
        self._icons.clear()
        return True

    def _renderer(self, name: str) -> QSvgRenderer:
        source = (self._folder / f"{name}.svg").read_text("utf-8")
        # The set's stroke of 2 looks heavy beside text of 13 px.
        thin = source.replace("currentColor", "#000000").replace('width="2"', 'width="1.75"')
        return QSvgRenderer(QByteArray(thin.encode()))

    def _shapes_of(self, name: str, size: int) -> tuple[QPixmap, ...]:
        """One icon in black, for each screen."""
        if (name, size) not in self._shapes:
            renderer = self._renderer(name)
            self._shapes[name, size] = tuple(_draw(renderer, size, ratio) for ratio in self._ratios)
        return self._shapes[name, size]

    def pixmap(self, name: str, color: str, size: int, ratio: float) -> QPixmap:
        """One icon as a pixmap for painting by hand."""
        return _tinted(_draw(self._renderer(name), size, ratio), color)

    def icon(self, name: str, color: str, disabled: str, size: int = 16) -> QIcon:
        """One icon in its normal and its disabled colour."""
        key = (name, color, disabled, size)
        if key not in self._icons:
            icon = QIcon()
            for shape in self._shapes_of(name, size):
                icon.addPixmap(_tinted(shape, color), QIcon.Mode.Normal)
                icon.addPixmap(_tinted(shape, disabled), QIcon.Mode.Disabled)
            self._icons[key] = icon
        return self._icons[key]

    def application(self) -> QIcon:
        """The application's own icon in all sizes."""
        icon = QIcon()
        for size in APP_ICON_SIZES:
            icon.addFile(str(self._folder / f"paceline-{size}.png"), QSize(size, size))
        return icon
