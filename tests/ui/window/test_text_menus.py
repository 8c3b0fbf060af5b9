"""Every text that can be selected or edited has a context menu in the window's language."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QTimer
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from tests.ui.conftest import ASSETS
from tests.ui.filled_window import PLACES, opened
from ui.text.language import ENGLISH, install_language
from ui.window.main_window import MainWindow

# Qt's own English menu texts if it has no catalogue.
ENGLISH_WORDS = {"undo", "redo", "cut", "copy", "copy link location", "paste", "delete", "select all", "step up"}


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    install_language(qapp, Path(ASSETS) / "translations", "de")
    yield
    install_language(qapp, Path(ASSETS) / "translations", ENGLISH)


def texts_below(root: QWidget) -> list[QWidget]:
    """All visible widgets whose text can be selected or edited."""
    found: list[QWidget] = []
    for widget in (root, *root.findChildren(QWidget)):
        edits = isinstance(widget, QLineEdit | QTextEdit | QPlainTextEdit | QAbstractSpinBox)
        if widget.isVisible() and (edits or (isinstance(widget, QLabel) and widget.textInteractionFlags().value & 3)):
            found.append(widget)
    return found


def menu_words(widget: QWidget) -> list[str]:
    """Request a context menu like a right click; returns its texts."""
    words: list[str] = []

    def read() -> None:
        menu = QApplication.activePopupWidget()
        if isinstance(menu, QMenu):
            words.extend(action.text() for action in menu.actions() if action.text())
            menu.close()

    QTimer.singleShot(0, widget, read)  # a menu may run its own event loop
    place = QPoint(3, 3)
    aim = widget.viewport() if isinstance(widget, QTextEdit | QPlainTextEdit) else widget
    QApplication.sendEvent(aim, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, aim.mapToGlobal(place)))
    for _ in range(3):
        QApplication.processEvents()
    read()
    return words


def plain(word: str) -> str:
    return word.partition("\t")[0].replace("&", "").lower()


@pytest.mark.parametrize("name", PLACES)
def test_the_menus_of_texts_are_german(german: None, shared_german_window: MainWindow, name: str) -> None:
    with opened(shared_german_window, name) as root:
        menus = [(type(widget).__name__, menu_words(widget)) for widget in texts_below(root)]
    english = {kind: words for kind, words in menus if {*map(plain, words)} & ENGLISH_WORDS}
    assert english == {}
    if name == "window":
        assert any("kopieren" in plain(word) for _kind, words in menus for word in words)


def test_the_look_finds_an_english_menu(qtbot: QtBot) -> None:
    edit = QLineEdit("words")
    qtbot.addWidget(edit)
    edit.show()
    assert {*map(plain, menu_words(edit))} & ENGLISH_WORDS
