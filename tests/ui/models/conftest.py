"""A shown models panel, and helpers for its tests."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from tests.ui.conftest import ASSETS
from ui.models.panel import ModelsPanel
from ui.theme.theme import Theme


@pytest.fixture
def place(qtbot: QtBot) -> Iterator[ModelsPanel]:
    window = QMainWindow()
    qtbot.addWidget(window)
    theme = Theme(ASSETS / "icons", window)
    theme.apply("light", window)
    made = ModelsPanel(theme)
    window.setCentralWidget(made)
    window.resize(1280, 800)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    yield made
    window.close()
