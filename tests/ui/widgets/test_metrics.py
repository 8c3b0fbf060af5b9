"""Figures paint their current value and look, and a ring while they have the focus."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.theme.theme import Theme
from ui.widgets.metrics import LargeMetric, LegendRow, LineMetric, MetricWidget

LONG = "A name that is far too long for so narrow a line"
KINDS: dict[str, Callable[[Theme], LineMetric | LargeMetric | LegendRow]] = {
    "line": lambda theme: LineMetric(theme, LONG, "help.", "draft"),
    "large": lambda theme: LargeMetric(theme, "tok/s", "help."),
    "legend": lambda theme: LegendRow(theme, "Draft", "help.", "draft"),
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_new_value_palette_or_text_size_changes_the_picture(theme: Theme, kind: str) -> None:
    window, figure = theme.parent(), KINDS[kind](theme)
    assert isinstance(window, QWidget)
    figure.setParent(window)
    pictures = []
    for change in (
        lambda: figure.set_value("1,234"),
        lambda: figure.set_value("123,456 of 7,000,000"),
        lambda: theme.apply("dark", window),
        lambda: theme.set_text_size("larger", window),
    ):
        change()
        figure.resize(200, figure.sizeHint().height())
        pictures.append(figure.grab().toImage())
    assert len({bytes(picture.constBits()) for picture in pictures}) == 4


def test_the_ring_follows_the_focus(theme: Theme, qtbot: QtBot) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    first, second = LineMetric(theme, "One", "help."), LineMetric(theme, "Two", "help.")
    for number, figure in enumerate((first, second)):
        figure.setParent(host)
        figure.setGeometry(0, 30 * number, 200, 20)
    host.show()
    host.activateWindow()
    qtbot.waitUntil(host.isActiveWindow, timeout=30_000)
    plain = first.grab().toImage()

    def focused(figure: MetricWidget) -> None:
        figure.setFocus()
        qtbot.waitUntil(figure.hasFocus)

    focused(first)
    assert first.grab().toImage() != plain
    focused(second)
    assert first.grab().toImage() == plain
