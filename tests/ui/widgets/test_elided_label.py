"""Elided text is shown completely in a tool tip."""

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from ui.widgets.building import ElidedLabel

NAME = "A model with quite a long name, quantized to four bits"


@pytest.mark.parametrize(("width", "own", "expected"), [(80, "", NAME), (900, "", ""), (80, "its path", "its path")])
def test_the_whole_is_reported_on_hover_where_letters_are_missing(
    width: int, own: str, expected: str, qtbot: QtBot
) -> None:
    label = ElidedLabel(NAME)
    qtbot.addWidget(label)
    label.setToolTip(own)
    label.resize(width, 30)
    label.show()
    qtbot.waitExposed(label)
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())
    place = QPoint(5, 5)
    QApplication.sendEvent(label, QHelpEvent(QEvent.Type.ToolTip, place, label.mapToGlobal(place)))
    shown = QToolTip.text() if QToolTip.isVisible() else ""
    assert shown.replace("\n", " ") == expected
