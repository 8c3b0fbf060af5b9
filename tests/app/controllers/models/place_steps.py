"""Drives the Models pages of the app with real clicks and keys."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from tests.app.fakes import AppHarness
from ui.models.panel import ModelsPanel

LEFT = Qt.MouseButton.LeftButton
WAIT_MS = 60_000
REPO, DRAFT_REPO, OTHER = "paceline/paceline-tiny-GGUF", "paceline/paceline-tiny-draft-GGUF", "someone/other-GGUF"
TARGET_FILE, DRAFT_FILE = "tiny-target-Q8_0.gguf", "tiny-draft-Q8_0.gguf"


def place_of(harness: AppHarness) -> ModelsPanel:
    return harness.window.models.panel


def click(widget: QWidget, name: str, qtbot: QtBot) -> None:
    """Press the visible button of this name as soon as it exists."""

    def found() -> list[QPushButton]:
        QApplication.processEvents()
        every = widget.findChildren(QPushButton)
        return [one for one in every if one.accessibleName() == name and one.isVisible() and one.isEnabled()]

    qtbot.waitUntil(lambda: bool(found()))
    qtbot.mouseClick(found()[0], LEFT)


def click_page(place: ModelsPanel, row: int, qtbot: QtBot) -> None:
    qtbot.mouseClick(place.nav.viewport(), LEFT, pos=place.nav.visualItemRect(place.nav.item(row)).center())


def search_and_open(harness: AppHarness, qtbot: QtBot, text: str) -> None:
    place = place_of(harness)
    qtbot.mouseClick(harness.window.sidebar.models_button, LEFT)
    click_page(place, 1, qtbot)
    qtbot.waitUntil(lambda: place.search.list.rows.rowCount() > 0)
    place.search.field.selectAll()
    qtbot.keyClicks(place.search.field, text)
    qtbot.waitUntil(lambda: place.search.status.text() == "1 model")
    spot = place.search.list.visualRect(place.search.list.rows.index(0, 0)).center()
    qtbot.mouseClick(place.search.list.viewport(), LEFT, pos=spot)
    qtbot.waitUntil(lambda: bool(place.search.pane.files.action_buttons))


def texts_of(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel)]
