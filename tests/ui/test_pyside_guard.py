"""The installed PySide6 keeps its references to None; otherwise the process crashes after thousands of calls."""

import sys

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot


def test_calls_that_return_none_lose_no_reference(qtbot: QtBot) -> None:
    label = QLabel()
    qtbot.addWidget(label)
    before = sys.getrefcount(None)
    for number in range(1000):
        label.setText(str(number))
    assert before - sys.getrefcount(None) < 100
