"""Tests the meter while an answer grows: bar and number are updated at once, the tool tip when needed."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from app.core.domain.context import ContextParts
from ui.composer.context_meter import BAR, ContextMeter
from ui.theme.theme import Theme

PARTS = ContextParts(system=100, conversation=1000, last_answer=0, size=8000)


def _made(theme: Theme) -> ContextMeter:
    """A meter in a hidden window: a shown one may be below the pointer."""
    result = ContextMeter(theme)
    host = theme.parent()
    assert isinstance(host, QWidget)
    result.setParent(host)
    return result


@pytest.fixture
def meter(theme: Theme) -> ContextMeter:
    result = _made(theme)
    result.set_parts(PARTS)
    return result


def _bar(meter: ContextMeter) -> QImage:
    return meter.icon().pixmap(BAR).toImage()


def test_words_follow_the_parts(meter: ContextMeter) -> None:
    assert "1,100 of 8,000" in meter.toolTip()
    meter.set_parts(replace(PARTS, last_answer=400))
    assert meter.text() == ""
    assert "1,500 of 8,000" in meter.accessibleName()
    meter.set_parts(replace(PARTS, last_answer=6500))
    assert meter.text().strip() == "95% · nearly full"


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_the_bar_is_that_of_a_new_meter_with_each_count(
    theme: Theme, monkeypatch: pytest.MonkeyPatch, ratio: float
) -> None:
    monkeypatch.setattr(ContextMeter, "devicePixelRatioF", lambda _: ratio)
    meter = _made(theme)
    seen = set()
    for last in range(0, 7000, 17):
        parts = replace(PARTS, last_answer=last)
        meter.set_parts(parts)
        fresh = _made(theme)
        fresh.set_parts(parts)
        assert _bar(meter) == _bar(fresh), last
        seen.add(meter.icon().cacheKey())
    assert 20 < len(seen) < 280, "drawn anew where another pixel is to be seen"


def test_the_bar_follows_the_palette_and_the_screen(
    theme: Theme, meter: ContextMeter, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _bar(meter)
    host = theme.parent()
    assert isinstance(host, QWidget)
    theme.apply("dark", host)
    assert _bar(meter) != before
    monkeypatch.setattr(ContextMeter, "devicePixelRatioF", lambda _: 2.0)
    meter.set_parts(replace(PARTS, last_answer=1))
    assert meter.icon().availableSizes()[0].width() == 2 * BAR.width()


TWO_SCREENS = """
import sys
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
application = QApplication([])
from app.core.domain.settings.table import FIELDS
from tests.ui.conftest import ASSETS
from ui.window.main_window import MainWindow
window = MainWindow(ASSETS, FIELDS)
window.setGeometry(1350, 20, 1200, 780)
window.show()
QTest.qWaitForWindowExposed(window)
window.header.open_models()
window.composer.open_tools()
for popup in (window.header.picker, window.composer.tools_popup):
    print(popup.screen().name(), popup.x() >= 1300)
"""


def test_popups_open_on_the_screen_of_their_window(tmp_path: Path) -> None:
    common = {"y": 0, "width": 1300, "height": 860, "logicalDpi": 96, "logicalBaseDpi": 96}
    screens = [{"name": "one", "x": 0, "dpr": 1, **common}, {"name": "two", "x": 1300, "dpr": 2, **common}]
    (tmp_path / "screens.json").write_text(json.dumps({"screens": screens}))
    environment = {**os.environ, "QT_QPA_PLATFORM": f"offscreen:configfile={tmp_path / 'screens.json'}"}
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", TWO_SCREENS]
    ended = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == ["two True"] * 2
