"""What is known by its name is the viewport. That the first paint needs no other is held by the test of a start."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QAbstractScrollArea, QListView, QScrollArea, QTextBrowser, QWidget
from pytestqt.qtbot import QtBot

from ui.widgets.known_viewport import _NAME, know_all_widgets, know_viewport


@pytest.mark.parametrize("kind", [QScrollArea, QListView, QTextBrowser])
def test_a_viewport_has_the_name_by_which_it_is_known(qtbot: QtBot, kind: type[QAbstractScrollArea]) -> None:
    area = kind()
    qtbot.addWidget(area)
    know_viewport(area)
    assert area.findChild(QWidget, _NAME) is area.viewport()


def test_all_can_be_made_known(qtbot: QtBot) -> None:
    know_all_widgets()
