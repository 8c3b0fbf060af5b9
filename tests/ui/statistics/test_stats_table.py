"""Tests the table of all pairs and modes: shown, sorted, copied, exported, reset."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.core.domain.sums import Sums
from tests.ui.statistics import pane as stats_pane
from tests.ui.statistics.pane import ROWS, TOGETHER, nameless
from ui.statistics.dialogs import MIN_NAME_PX, ExplanationsDialog, TotalsTable
from ui.statistics.panel import ALL, StatsPanel

panel, shown = stats_pane.panel, stats_pane.shown  # fixtures


@pytest.fixture
def table(shown: StatsPanel, qtbot: QtBot) -> TotalsTable:
    shown.show_page(ALL)
    shown.show_all(ROWS, TOGETHER)
    qtbot.mouseClick(shown.table_button, Qt.MouseButton.LeftButton)
    assert shown.table is not None
    qtbot.waitUntil(shown.table.isVisible)
    return shown.table


def cells(table: TotalsTable, column: int) -> list[str]:
    return [table.table.item(line, column).text() for line in range(table.table.rowCount())]


def test_the_table_shows_and_sorts_all(table: TotalsTable, qtbot: QtBot) -> None:
    assert cells(table, 2) == ["Auto", "Off", "psychic"]
    assert cells(table, 8) == ["1.67\N{MULTIPLICATION SIGN}", "-", "-"]
    assert [cells(table, column) for column in (9, 10, 11)] == [
        ["10.3", "-", "-"],
        ["10.3", "-", "-"],
        ["126", "-", "-"],
    ]
    assert "99 of 100 tokens" in table.table.horizontalHeaderItem(11).toolTip()
    header = table.table.horizontalHeader()
    x = header.sectionViewportPosition(4) + header.sectionSize(4) // 2
    place = header.viewport().rect().center()
    place.setX(x)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert sorted(cells(table, 4), key=int) in (cells(table, 4), cells(table, 4)[::-1])
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    first = cells(table, 4)
    assert first in (["7", "50", "388"], ["388", "50", "7"])
    assert nameless(table) == []


def test_names_can_be_read_however_narrow_the_table_is(table: TotalsTable, qtbot: QtBot) -> None:
    grid = table.table
    table.resize(1400, 420)
    qtbot.waitUntil(lambda: 0 <= grid.viewport().width() - grid.horizontalHeader().length() <= 1)
    assert grid.columnWidth(0) > MIN_NAME_PX
    table.resize(700, 420)
    qtbot.waitUntil(lambda: (grid.columnWidth(0), grid.columnWidth(1)) == (MIN_NAME_PX, MIN_NAME_PX))
    qtbot.waitUntil(lambda: grid.horizontalScrollBar().maximum() > 0)


def test_the_table_is_copied_and_exported(table: TotalsTable, qtbot: QtBot, shown: StatsPanel) -> None:
    qtbot.mouseClick(table.copy_button, Qt.MouseButton.LeftButton)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[1].split("\t")[:5] == ["big-Q4_K_M", "small", "Auto", "3", "388"]
    with qtbot.waitSignal(shown.export_requested, timeout=30_000) as wanted:
        qtbot.mouseClick(table.export_button, Qt.MouseButton.LeftButton)
    assert wanted.args == ["totals"]


def test_a_reset_is_asked_for_and_can_be_declined(table: TotalsTable, qtbot: QtBot, shown: StatsPanel) -> None:
    told: list[bool] = []
    shown.reset_requested.connect(lambda: told.append(True))
    qtbot.mouseClick(table.reset_button, Qt.MouseButton.LeftButton)
    question = next(each for each in table.findChildren(QPushButton) if each.text() == "Cancel").window()
    qtbot.keyClick(question, Qt.Key.Key_Escape)
    assert told == []
    qtbot.mouseClick(table.reset_button, Qt.MouseButton.LeftButton)
    (action,) = [each for each in table.findChildren(QPushButton) if each.text() == "Reset" and each.isVisible()]
    qtbot.mouseClick(action, Qt.MouseButton.LeftButton)
    assert told == [True]
    shown.show_all((), Sums())
    assert not table.reset_button.isEnabled()
    assert cells(table, 0) == []


def test_explanations_begin_below_their_heading_with_room_to_the_ring(shown: StatsPanel, qtbot: QtBot) -> None:
    dialog = ExplanationsDialog(shown.window())
    qtbot.addWidget(dialog)
    dialog.open()
    heading, name = dialog.findChildren(QLabel)[0], dialog.area.widget().findChildren(QLabel)[0]
    qtbot.waitUntil(lambda: name.mapTo(dialog, QPoint(0, 0)).x() == heading.mapTo(dialog, QPoint(0, 0)).x())
    assert name.mapTo(dialog.area, QPoint(0, 0)).x() >= 6
