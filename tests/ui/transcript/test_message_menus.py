"""Tests the menus of messages: below their button, and over their text for a selection or a link."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QPlainTextEdit, QTextEdit
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from tests.ui.conftest import STATS
from ui.transcript.selection import Position, views_of
from ui.window.main_window import MainWindow

ANSWER = "Words before a [link](https://example.org/page).\n\n```python\nprint(1)\n```\n"


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> MainWindow:
    views = [MessageView(1, "user", "A question"), MessageView(2, "assistant", ANSWER, stats=STATS)]
    window.show_conversation("t", views)
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=30_000)
    return window


def ask_for_menu(view: QTextEdit | QPlainTextEdit, place: QPoint) -> None:
    """Request a context menu as a right click does."""
    target = view.viewport()
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(target, QContextMenuEvent(reason, place, target.mapToGlobal(place)))


def open_menu(qtbot: QtBot) -> QMenu:
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu), timeout=30_000)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def words(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if action.text()]


def test_the_button_opens_the_menu_below_itself(page: MainWindow, qtbot: QtBot) -> None:
    card = page.transcript.last_answer()
    assert card is not None
    qtbot.mouseClick(card.more_button, Qt.MouseButton.LeftButton)
    menu = open_menu(qtbot)
    button = card.more_button
    screen = button.screen().availableGeometry()
    wanted = button.mapToGlobal(QPoint(0, button.height())).x()
    assert menu.x() == min(wanted, screen.right() + 1 - menu.width())
    menu.close()


def test_the_other_mouse_button_offers_the_whole_message(page: MainWindow, qtbot: QtBot) -> None:
    card = page.transcript.last_answer()
    assert card is not None
    for view in views_of(card):
        ask_for_menu(view, QPoint(3, 3))
        menu = open_menu(qtbot)
        assert words(menu)[:2] == ["Copy as Markdown", "Copy as text"]
        assert "Delete from here on" in words(menu)
        menu.close()
    ask_for_menu(views_of(page.transcript.cards[0])[0], QPoint(3, 3))
    menu = open_menu(qtbot)
    assert words(menu) == [
        "Copy",
        "Edit",
        "Race this question…",
        "New chat from here",
        "Delete this message",
        "Delete from here on",
    ]
    menu.close()


def test_the_question_of_either_card_can_be_raced(page: MainWindow, qtbot: QtBot) -> None:
    wanted: list[int] = []
    page.transcript.race_requested.connect(wanted.append)
    for card in page.transcript.cards[:2]:
        ask_for_menu(views_of(card)[0], QPoint(3, 3))
        menu = open_menu(qtbot)
        next(action for action in menu.actions() if action.text() == "Race this question…").trigger()
        menu.close()
    assert wanted == [card.message_id for card in page.transcript.cards[:2]]


def test_a_selection_can_be_copied_from_the_menu(page: MainWindow, qtbot: QtBot) -> None:
    card = page.transcript.last_answer()
    assert card is not None
    view = views_of(card)[0]
    page.transcript.selection.select(Position(card.message_id, 0), Position(card.message_id, 6))
    assert view.textCursor().selectedText() == "Words "
    ask_for_menu(view, QPoint(3, 3))
    menu = open_menu(qtbot)
    assert words(menu)[0] == "Copy selection"
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert QApplication.clipboard().text() == "Words "


def test_the_address_of_a_link_can_be_copied(page: MainWindow, qtbot: QtBot) -> None:
    card = page.transcript.last_answer()
    assert card is not None
    view = views_of(card)[0]
    cursor = view.document().find("link")
    ask_for_menu(view, view.cursorRect(cursor).center() - QPoint(3, 0))
    menu = open_menu(qtbot)
    assert words(menu)[0] == "Copy link address"
    menu.actions()[0].trigger()
    menu.close()
    assert QApplication.clipboard().text() == "https://example.org/page"


def test_the_menu_key_opens_it_at_the_caret(page: MainWindow, qtbot: QtBot) -> None:
    card = page.transcript.last_answer()
    assert card is not None
    view = views_of(card)[0]
    view.setFocus(Qt.FocusReason.TabFocusReason)
    reason = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(view, QContextMenuEvent(reason, QPoint(1, 1), view.mapToGlobal(QPoint(1, 1))))
    menu = open_menu(qtbot)
    assert menu.pos() == view.viewport().mapToGlobal(view.cursorRect().bottomLeft())
    menu.close()
