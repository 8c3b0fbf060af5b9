"""A changed number repaints only its own area, and looks as if everything was repainted, in every look."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFont, QImage, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from ui.theme.theme import Theme
from ui.widgets.figures import FigureWidget, LargeFigure, LegendRow, LineFigure

LONG = "A name that is far too long for so narrow a line"
KINDS: dict[str, Callable[[Theme], LineFigure | LargeFigure | LegendRow]] = {
    "line": lambda theme: LineFigure(theme, "Tokens", "help."),
    "long": lambda theme: LineFigure(theme, LONG, "help.", "draft"),
    "large": lambda theme: LargeFigure(theme, "tok/s", "help."),
    "legend": lambda theme: LegendRow(theme, "Draft", "help.", "draft"),
}


class _Seen(LineFigure):
    """Records its painted areas."""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        self.rects = [*getattr(self, "rects", []), QRect(event.rect())]
        super().paintEvent(event)


@pytest.fixture
def own_font() -> Iterator[QFont]:
    before = QApplication.font()
    yield before
    QApplication.setFont(before)


def _shown(made: QWidget, theme: Theme, qtbot: QtBot) -> QWidget:
    """Show the widget in a window with the theme."""
    window = theme.parent()
    assert isinstance(window, QWidget)
    made.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    made.setParent(window)
    made.resize(200, made.sizeHint().height())
    window.resize(220, 80)
    window.show()
    qtbot.waitExposed(window)
    return window


def _picture(figure: QWidget, width: int) -> QImage:
    figure.resize(width, figure.sizeHint().height())
    return figure.grab().toImage()


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_number_put_in_place_looks_as_painted_at_once(theme: Theme, qtbot: QtBot, kind: str) -> None:
    figure = KINDS[kind](theme)
    window = _shown(figure, theme, qtbot)
    for text in ("1", "123,456 of 7,000,000", "-", "88.8 ms"):
        figure.set_value(text)
        QApplication.processEvents()
        piecemeal = window.screen().grabWindow(window.winId()).toImage()
        assert piecemeal == window.grab().toImage(), text
        assert figure.value == text


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("change", ["palette", "size", "font", "width"])
def test_nothing_is_kept_of_another_look(theme: Theme, qtbot: QtBot, kind: str, change: str, own_font: QFont) -> None:
    figure = KINDS[kind](theme)
    host = _shown(figure, theme, qtbot)
    figure.set_value("1,234")
    before = _picture(figure, 200)
    if change == "palette":
        theme.apply("dark", host)
    elif change == "size":
        theme.set_text_size("larger", host)
    elif change == "font":
        other = QFont(own_font)
        other.setItalic(True)
        QApplication.setFont(other)
    fresh = KINDS[kind](theme)
    _shown(fresh, theme, qtbot)
    fresh.show()
    fresh.set_value("1,234")
    width = 150 if change == "width" else 200
    assert _picture(figure, width) == _picture(fresh, width) != before


def test_only_the_place_of_the_number_is_painted(theme: Theme, qtbot: QtBot) -> None:
    figure = _Seen(theme, "Tokens", "help.")
    window = _shown(figure, theme, qtbot)
    assert window.isVisible()
    QApplication.processEvents()
    figure.rects = []
    figure.set_value("1,234")
    qtbot.waitUntil(lambda: bool(figure.rects))
    assert all(rect.left() > 100 for rect in figure.rects)
    figure.rects = []
    figure.set_value("1,234")
    QApplication.processEvents()
    assert figure.rects == []


def test_the_ring_follows_the_focus(theme: Theme, qtbot: QtBot) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    first, second = LineFigure(theme, "One", "help."), LineFigure(theme, "Two", "help.")
    for number, figure in enumerate((first, second)):
        figure.setParent(host)
        figure.setGeometry(0, 30 * number, 200, 20)
    host.show()
    host.activateWindow()
    qtbot.waitUntil(host.isActiveWindow, timeout=30_000)
    plain = first.grab().toImage()

    def focused(figure: FigureWidget) -> None:
        figure.setFocus()
        qtbot.waitUntil(figure.hasFocus)

    focused(first)
    assert first.grab().toImage() != plain
    focused(second)
    assert first.grab().toImage() == plain
