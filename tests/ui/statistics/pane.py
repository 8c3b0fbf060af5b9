"""A filled statistics pane for the tests of its parts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.sums import PairSums, Sums
from engine.records import RunStats
from tests.ui.conftest import STATS
from ui.statistics.panel import StatsPanel
from ui.theme.theme import Theme

ROWS = (
    PairSums(
        "big-Q4_K_M",
        "small",
        "auto",
        Sums(3, replace(STATS, plain_ms=None, interval_counts={236: 96, 300: 4}), 15.0, 9.0),
    ),
    PairSums("big-Q4_K_M", "", "off", Sums(2, RunStats(tokens=50, passes=50, decode_s=5.0))),
    PairSums("other", "", "psychic", Sums(1, RunStats(tokens=7, passes=7, decode_s=7.0))),
)
TOGETHER = Sums(6, replace(STATS, plain_ms=None), 15.0, 9.0)


def nameless(root: QWidget) -> list[QWidget]:
    kinds = (QAbstractButton, QAbstractItemView)
    found = [each for each in root.findChildren(QWidget) if isinstance(each, kinds)]
    return [each for each in found if not each.accessibleName() and not isinstance(each.parent(), QTableWidget)]


@pytest.fixture
def panel(theme: Theme, qtbot: QtBot) -> StatsPanel:
    result = StatsPanel(theme)
    qtbot.addWidget(result)
    result.resize(272, 900)
    return result


@pytest.fixture
def shown(panel: StatsPanel, qtbot: QtBot) -> StatsPanel:
    panel.end(STATS)
    panel.show()
    qtbot.waitExposed(panel)
    panel.activateWindow()
    qtbot.waitUntil(panel.isActiveWindow, timeout=30_000)
    return panel
