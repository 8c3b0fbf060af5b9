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
    inks = theme.inks
    assert inks.font(-1) is inks.font(-1)
    assert inks.metrics(0, SEMIBOLD) is inks.metrics(0, SEMIBOLD)
    assert inks.color(theme.tokens.text) is inks.color(theme.tokens.text)
    assert inks.color(theme.tokens.accent).name() == theme.tokens.accent


def test_a_font_of_the_theme_may_be_changed_without_changing_the_others(theme: Theme) -> None:
    size = theme.inks.font().pixelSize()
    theme.font().setPixelSize(99)
    assert theme.inks.font().pixelSize() == size


def test_another_text_size_gives_other_fonts(theme: Theme, host: QWidget) -> None:
    before, height = theme.inks.font(-1).pixelSize(), theme.inks.metrics(-1).height()
    theme.set_text_size("larger", host)
    assert theme.inks.font(-1).pixelSize() == before + TEXT_SIZES["larger"]
    assert theme.inks.metrics(-1).height() > height
    assert theme.text_height(-1) == theme.inks.metrics(-1).height()


def test_another_font_of_the_system_is_told_and_taken(theme: Theme, own_font: QFont, qtbot: QtBot) -> None:
    other = QFont(own_font)
    other.setItalic(True)
    assert not theme.inks.font().italic()
    with qtbot.waitSignal(theme.changed):
        QApplication.setFont(other)
    assert theme.inks.font().italic()
    assert theme.font().italic()
