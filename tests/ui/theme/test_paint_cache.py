"""What is painted by hand is made once, and made anew with every change of the look."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from ui.theme.theme import SEMIBOLD, TEXT_SIZES, Theme


@pytest.fixture
def host(qtbot: QtBot) -> QWidget:
    result = QWidget()
    qtbot.addWidget(result)
    return result


@pytest.fixture
def own_font() -> Iterator[QFont]:
    before = QApplication.font()
    yield before
    QApplication.setFont(before)


def test_fonts_metrics_and_colours_are_made_once(theme: Theme) -> None:
    paint_cache = theme.paint_cache
    assert paint_cache.font(-1) is paint_cache.font(-1)
    assert paint_cache.metrics(0, SEMIBOLD) is paint_cache.metrics(0, SEMIBOLD)
    assert paint_cache.color(theme.tokens.text) is paint_cache.color(theme.tokens.text)
    assert paint_cache.color(theme.tokens.accent).name() == theme.tokens.accent


def test_a_font_of_the_theme_may_be_changed_without_changing_the_others(theme: Theme) -> None:
    size = theme.paint_cache.font().pixelSize()
    theme.font().setPixelSize(99)
    assert theme.paint_cache.font().pixelSize() == size


def test_another_text_size_gives_other_fonts(theme: Theme, host: QWidget) -> None:
    before, height = theme.paint_cache.font(-1).pixelSize(), theme.paint_cache.metrics(-1).height()
    theme.set_text_size("larger", host)
    assert theme.paint_cache.font(-1).pixelSize() == before + TEXT_SIZES["larger"]
    assert theme.paint_cache.metrics(-1).height() > height
    assert theme.text_height(-1) == theme.paint_cache.metrics(-1).height()


def test_another_font_of_the_system_is_reported_and_taken(theme: Theme, own_font: QFont, qtbot: QtBot) -> None:
    other = QFont(own_font)
    other.setItalic(True)
    assert not theme.paint_cache.font().italic()
    with qtbot.waitSignal(theme.changed):
        QApplication.setFont(other)
    assert theme.paint_cache.font().italic()
    assert theme.font().italic()
