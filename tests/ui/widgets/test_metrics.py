"""Figures paint their current value and look, and a ring while they have the focus."""

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QWidget

from ui.theme.theme import Theme
from ui.widgets.metrics import LargeMetric, LegendRow, LineMetric

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
