"""Plots paint and describe their current values; equal values are not painted again."""

from collections.abc import Callable, Sequence

import pytest
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from engine.records import RunStats
from ui.statistics.plots import BarSegment, DepthBars, StackedBar
from ui.theme.theme import Theme

Plot = DepthBars | StackedBar
STEPS: dict[type[Plot], Sequence[Sequence[float | None]]] = {
    DepthBars: ((0.5,), (0.9, 0.5, None), (0.91, 0.2, 0.1), (0.5,) * 7, (0.5,) * 24, (0.5,) * 2, ()),
    StackedBar: ((1, 2), (1, 3), (0, 0), (5, 0, 5)),
}


def _show(plot: Plot, values: Sequence[float | None]) -> None:
    if isinstance(plot, DepthBars):
        tried = tuple(100 if value is not None else 0 for value in values)
        kept = tuple(round(100 * (value or 0.0)) for value in values)
        plot.show_acceptance(RunStats(proposed_by_depth=tried, accepted_by_depth=kept))
    else:
        names = ("draft", "verify", "sample")
        plot.set_parts([BarSegment(name, value or 0.0, name) for name, value in zip(names, values, strict=False)])


@pytest.mark.parametrize("kind", list(STEPS))
def test_values_are_painted_and_described(theme: Theme, kind: Callable[[Theme, str, str], Plot]) -> None:
    plot, pictures, descriptions = kind(theme, "name", "help."), [], []
    for values in STEPS[kind]:  # type: ignore[index]
        _show(plot, values)
        plot.resize(200, plot.height())
        pictures.append(bytes(plot.grab().toImage().constBits()))
        descriptions.append(plot.accessibleDescription())
    assert len(set(pictures)) >= 3
    assert len(set(descriptions)) >= 3
    assert all(each.endswith(". help.") for each in descriptions)


class _Counted(StackedBar):
    """Counts its paint events."""

    paints = 0

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        self.paints += 1
        super().paintEvent(event)


def test_a_bar_with_the_same_shares_is_not_painted_again(theme: Theme, qtbot: QtBot) -> None:
    bar, window = _Counted(theme, "name", "help."), theme.parent()
    assert isinstance(window, QWidget)
    bar.setParent(window)
    bar.show()
    window.show()
    qtbot.waitExposed(window)
    _show(bar, (1, 2))
    QApplication.processEvents()
    before = bar.paints
    _show(bar, (1, 2.0001))
    QApplication.processEvents()
    assert bar.paints == before
    _show(bar, (1, 3))
    qtbot.waitUntil(lambda: bar.paints > before)
