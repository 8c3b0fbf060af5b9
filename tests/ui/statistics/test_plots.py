"""Plots that are painted in parts look as if painted at once; no cache survives a change of look; texts are lazy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QFont, QImage, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from engine.records import RunStats
from ui.statistics.plots import BarSegment, DepthBars, LengthBars, Sparkline, StackedBar
from ui.theme.theme import Theme

Plot = DepthBars | LengthBars | Sparkline | StackedBar
STEPS: dict[type[Plot], Sequence[Sequence[float | None]]] = {
    DepthBars: ((0.5,), (0.9, 0.5, None), (0.91, 0.2, 0.1), (0.5,) * 7, (0.5,) * 24, (0.5,) * 2, ()),
    LengthBars: ((3, 2), (4, 2), (4, 0, 9), (1,) * 9, (2,) * 33, ()),
    Sparkline: ((1.0, 2.0), (3.0,), (0.5,) * 30, tuple(float(i % 7) for i in range(150))),
    StackedBar: ((1, 2), (1, 3), (0, 0), (5, 0, 5)),
}


def _show(plot: Plot, values: Sequence[float | None]) -> None:
    if isinstance(plot, DepthBars):
        tried = tuple(100 if value is not None else 0 for value in values)
        kept = tuple(round(100 * (value or 0.0)) for value in values)
        plot.show_acceptance(RunStats(proposed_by_depth=tried, accepted_by_depth=kept))
    elif isinstance(plot, LengthBars):
        plot.set_counts([int(value or 0) for value in values])
    elif isinstance(plot, Sparkline):
        for value in values:
            plot.add(value or 0.0)
        plot.show_values()
    else:
        names = ("draft", "verify", "sample")
        parts = zip(names, values, strict=False)
        plot.set_parts([BarSegment(name, value or 0.0, name) for name, value in parts])


def _placed(plot: Plot, theme: Theme, qtbot: QtBot) -> QWidget:
    window = theme.parent()
    assert isinstance(window, QWidget)
    plot.setParent(window)
    plot.resize(200, plot.height())
    plot.show()
    window.resize(220, 220)
    window.show()
    qtbot.waitExposed(window)
    return window


def _picture(plot: Plot) -> QImage:
    return plot.grab().toImage()


@pytest.fixture
def own_font() -> Iterator[QFont]:
    before = QApplication.font()
    yield before
    QApplication.setFont(before)


@pytest.mark.parametrize("kind", list(STEPS))
def test_what_changes_looks_as_painted_at_once(
    theme: Theme, qtbot: QtBot, kind: Callable[[Theme, str, str], Plot]
) -> None:
    plot = kind(theme, "name", "help.")
    window = _placed(plot, theme, qtbot)
    pictures = []
    for values in STEPS[kind]:  # type: ignore[index]
        _show(plot, values)
        QApplication.processEvents()
        piecemeal = window.screen().grabWindow(window.winId()).toImage()
        assert piecemeal == window.grab().toImage(), values
        pictures.append(piecemeal)
    assert len({bytes(picture.constBits()) for picture in pictures}) >= 3


@pytest.mark.parametrize("kind", list(STEPS))
@pytest.mark.parametrize("change", ["palette", "size", "font", "width"])
def test_nothing_is_kept_of_another_look(
    theme: Theme, qtbot: QtBot, kind: Callable[[Theme, str, str], Plot], change: str, own_font: QFont
) -> None:
    values = STEPS[kind][1]  # type: ignore[index]
    plots = [kind(theme, "name", "help.")]
    host = _placed(plots[0], theme, qtbot)
    _show(plots[0], values)
    before = _picture(plots[0])
    if change == "palette":
        theme.apply("dark", host)
    elif change == "size":
        theme.set_text_size("larger", host)
    elif change == "font":
        other = QFont(own_font)
        other.setItalic(True)
        QApplication.setFont(other)
    plots.append(kind(theme, "name", "help."))
    _placed(plots[1], theme, qtbot)
    _show(plots[1], values)
    for plot in plots:
        plot.resize(150 if change == "width" else 200, plot.height())
    assert _picture(plots[0]) == _picture(plots[1])
    if change in ("palette", "width"):
        assert _picture(plots[0]) != before


class _Seen(StackedBar):
    """Records its painted areas."""

    rects: list[QRect]

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        self.rects.append(QRect(event.rect()))
        super().paintEvent(event)


def test_a_bar_that_says_the_same_is_not_painted_again(theme: Theme, qtbot: QtBot) -> None:
    bar = _Seen(theme, "name", "help.")
    bar.rects = []
    _show(bar, (1, 2))
    _placed(bar, theme, qtbot)
    QApplication.processEvents()
    bar.rects = []
    _show(bar, (1, 2.0001))
    QApplication.processEvents()
    assert bar.rects == []
    _show(bar, (1, 3))
    qtbot.waitUntil(lambda: bool(bar.rects))


@pytest.mark.parametrize("kind", list(STEPS))
def test_words_wait_until_somebody_hears_them(theme: Theme, kind: Callable[[Theme, str, str], Plot]) -> None:
    first, second = STEPS[kind][:2]  # type: ignore[index]
    plot = kind(theme, "name", "help.")
    _show(plot, first)
    heard = plot.accessibleDescription()
    assert heard == f"{plot.description}. help."
    plot.set_silent(True)
    _show(plot, second)
    assert plot.accessibleDescription() == heard
    assert plot.description not in heard, "asked for, they are the newest"
    plot.set_silent(False)
    assert plot.accessibleDescription() == f"{plot.description}. help." != heard
