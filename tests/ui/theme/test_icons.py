"""The bundled icons: all there, recoloured, sharp at every size, with their licence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QFontDatabase, QGuiApplication, QImage, QPixmap
from pytestqt.qtbot import QtBot

from tests.ui.conftest import ASSETS
from ui.theme.theme import APP_ICON_SIZES, IconSet, Theme

ICONS = ASSETS / "icons"
UI = Path(__file__).parents[3] / "ui"


def _used_names() -> set[str]:
    """Every word in ui/ that is also the name of a bundled icon."""
    words = re.findall(r'"([a-z0-9-]+)"', "".join(path.read_text("utf-8") for path in UI.rglob("*.py")))
    return set(words) & {path.stem for path in ICONS.glob("*.svg")}


def test_icons_are_used_and_licensed(qtbot: QtBot) -> None:
    own = {"paceline", "chevron-down-light", "chevron-down-dark", "check-on-accent"}
    bundled = {path.stem for path in ICONS.glob("*.svg")} - own
    assert bundled == _used_names()
    licence = (ICONS / "LICENSE").read_text("utf-8")
    assert "ISC License" in licence
    assert "Lucide" in licence


def _ink(pixmap: QPixmap) -> set[str]:
    image = pixmap.toImage().convertToFormat(QImage.Format.Format_ARGB32)
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return {color.name() for color in pixels if color.alpha() == 255}


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_an_icon_takes_the_color_and_the_pixels_of_the_screen(qtbot: QtBot, ratio: float) -> None:
    pixmap = IconSet(ICONS).pixmap("square", "#ff0000", 16, ratio)
    assert pixmap.width() == round(16 * ratio)
    assert pixmap.devicePixelRatio() == ratio
    assert _ink(pixmap) <= {"#ff0000", "#fe0000"}
    assert _ink(IconSet(ICONS).pixmap("square", "#ff0000", 16, 2.0))


def test_icons_are_drawn_for_the_screens_that_there_are(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    size = QSize(16, 16)
    assert theme.icon("square").pixmap(size, 1.0).width() == 16
    assert len(theme.icon("square").availableSizes()) == 1
    changes = []
    theme.changed.connect(lambda: changes.append("changed"))
    screen = QGuiApplication.screens()[0]
    screen.geometryChanged.emit(screen.geometry())
    assert changes == []  # the same pixels as before
    monkeypatch.setattr("ui.theme.theme.screen_ratios", lambda: (1.0, 2.0))
    screen.geometryChanged.emit(screen.geometry())
    assert changes == ["changed"]
    assert theme.icon("square").pixmap(size, 2.0).width() == 32
    assert theme.icon("square").pixmap(size, 1.0).width() == 16


def test_the_application_icon_comes_in_all_sizes(theme: Theme) -> None:
    sizes = {size.width() for size in theme.application_icon().availableSizes()}
    assert sizes == set(APP_ICON_SIZES)


def test_text_can_be_drawn_at_all(qtbot: QtBot) -> None:
    assert QFontDatabase.families()
