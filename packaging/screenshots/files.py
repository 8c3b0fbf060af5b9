"""What the scripts of the pictures share: both themes, both scales as processes of their own, and small PNG files.

A picture of a window has few colours; 256 of its own are enough, and make the file a third as large. At twice the scale
the edges of letters, which are most of the colours, are twice as fine, and a quarter of them is enough.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

THEMES = ("light", "dark")
SCALES = {"1": "", "2": "-2x"}  # of the screen, and how the files of each end
NUM_COLOURS = {"": 256, "-2x": 64}
COMMON = 0.4  # so much of them are the most common; the rest are those that would be missed most
SCREEN = {"screens": [{"name": "wide", "x": 0, "y": 0, "width": 2600, "height": 1700}]}


def ending() -> str:
    """How the files of this process' scale end."""
    return SCALES[os.environ.get("QT_SCALE_FACTOR", "1")]


def at_each_scale(script: str, arguments: Sequence[str]) -> None:
    """Run a script once for each scale: Qt reads it once in a process.

    Raises:
        subprocess.CalledProcessError: the script failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        screen = Path(folder) / "screen.json"
        screen.write_text(json.dumps(SCREEN), "utf-8")
        for scale in SCALES:
            environment = {**os.environ, "QT_SCALE_FACTOR": scale, "QT_QPA_PLATFORM": f"offscreen:configfile={screen}"}
            subprocess.run([sys.executable, script, *arguments, "--one-scale"], check=True, env=environment)


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
    kept, nearest = _reduced(_channels(colours), counts, NUM_COLOURS[ending()])
    rows = np.zeros((height, (width + 3) // 4 * 4), dtype=np.uint8)
    rows[:, :width] = nearest[where.reshape(height, width)]
    small = QImage(rows.data, width, height, rows.shape[1], QImage.Format.Format_Indexed8)
    small.setColorTable([int(colour) for colour in colours[kept]])
    small.save(str(file), quality=0)
    print(file.name, flush=True)


def _channels(colours: np.ndarray) -> np.ndarray:
    return np.stack([(colours >> shift) & 255 for shift in (16, 8, 0)], axis=1).astype(np.int32)


def _reduced(colours: np.ndarray, counts: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Give the places of the kept colours, and for each colour the number of the kept one that is nearest."""
    kept: list[int] = []
    nearest = np.zeros(len(colours), dtype=np.uint8)
    missed = np.full(len(colours), np.inf)  # how far each is from what is kept
    common = np.argsort(counts)[::-1][: round(most * COMMON)]
    while len(kept) < min(most, len(colours)):
        weights = missed * np.sqrt(counts)
        place = int(common[len(kept)]) if len(kept) < len(common) else int(np.argmax(weights))
        away = ((colours - colours[place]) ** 2).sum(axis=1)
        closer = away < missed
        nearest[closer], missed[closer] = len(kept), away[closer]
        kept.append(place)
    return np.array(kept), nearest
