"""What the scripts of the pictures share: both themes, and small PNG files.

A picture of a window has few colours; 256 of its own are enough, and make the file a third as large.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

THEMES = ("light", "dark")
NUM_COLOURS = 256
COMMON = 0.4  # so much of them are the most common; the rest are those that would be missed most


def picture(widget: QWidget, over: Sequence[QWidget] = ()) -> QPixmap:
    """What a widget shows, and the menus and panes that are open over it."""
    shown = widget.grab()
    painter = QPainter(shown)
    for popup in over:
        painter.drawPixmap(popup.mapToGlobal(QPoint(0, 0)) - widget.mapToGlobal(QPoint(0, 0)), popup.grab())
    painter.end()
    return shown


def save(pixmap: QPixmap, file: Path) -> None:
    """Write a PNG of as few colours as do no harm."""
    image = pixmap.toImage().convertToFormat(QImage.Format.Format_RGB32)
    width, height = image.width(), image.height()
    pixels = np.frombuffer(image.constBits(), dtype=np.uint32).reshape(height, image.bytesPerLine() // 4)[:, :width]
    colours, where, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    kept, nearest = _reduced(_channels(colours), counts)
    rows = np.zeros((height, (width + 3) // 4 * 4), dtype=np.uint8)
    rows[:, :width] = nearest[where.reshape(height, width)]
    small = QImage(rows.data, width, height, rows.shape[1], QImage.Format.Format_Indexed8)
    small.setColorTable([int(colour) for colour in colours[kept]])
    small.save(str(file), quality=0)
    print(file.name, flush=True)


def _channels(colours: np.ndarray) -> np.ndarray:
    return np.stack([(colours >> shift) & 255 for shift in (16, 8, 0)], axis=1).astype(np.int32)


def _reduced(colours: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the places of the kept colours, and for each colour the number of the kept one that is nearest."""
    kept: list[int] = []
    nearest = np.zeros(len(colours), dtype=np.uint8)
    missed = np.full(len(colours), np.inf)  # how far each is from what is kept
    common = np.argsort(counts)[::-1][: round(NUM_COLOURS * COMMON)]
    while len(kept) < min(NUM_COLOURS, len(colours)):
        weights = missed * np.sqrt(counts)
        place = int(common[len(kept)]) if len(kept) < len(common) else int(np.argmax(weights))
        away = ((colours - colours[place]) ** 2).sum(axis=1)
        closer = away < missed
        nearest[closer], missed[closer] = len(kept), away[closer]
        kept.append(place)
    return np.array(kept), nearest
