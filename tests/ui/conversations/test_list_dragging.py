"""Tests moving chats in the list with the mouse and by real drop events."""

import pytest
from PySide6.QtCore import QMimeData, QModelIndex, QPoint, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.domain.conversations import ConversationRow, FolderRow
from tests.ui.conftest import NOW
from ui.conversations.list import ConversationList
from ui.conversations.model import Heading
from ui.window.main_window import MainWindow

ROWS = (
    ConversationRow(1, "Plain", NOW),
    ConversationRow(2, "Second pinned", NOW, pinned=True, place=2),
    ConversationRow(3, "First pinned", NOW, pinned=True, place=1),
    ConversationRow(4, "Inside", NOW, folder_id=7, place=0),
    ConversationRow(5, "Also inside", NOW, folder_id=7, place=1),
)
FOLDERS = (FolderRow(7, "Work"), FolderRow(8, "Play", folded=True), FolderRow(9, "Home", folded=True))
NO_BUTTON, LEFT = Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton


@pytest.fixture
def listing(window: MainWindow, qtbot: QtBot) -> ConversationList:
    window.sidebar.set_rows(ROWS, 1, FOLDERS)
    qtbot.waitUntil(lambda: window.sidebar.list.viewport().height() > 200)
    return window.sidebar.list


def folder(listing: ConversationList, text: str) -> QModelIndex:
    model = listing.rows
    for row in range(model.rowCount()):
        item = model.item(model.index(row, 0))
        if isinstance(item, Heading) and item.text == text:
            return model.index(row, 0)
    raise AssertionError(text)


def middle(listing: ConversationList, index: QModelIndex) -> QPoint:
    return listing.visualRect(index).center()


def top(listing: ConversationList, index: QModelIndex) -> QPoint:
    rect = listing.visualRect(index)
    return QPoint(rect.center().x(), rect.top() + 1)


def drag(listing: ConversationList, start: QPoint, end: QPoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Press and move like a hand until a drag begins, then drop. The platform's own drag loop needs a desktop."""
    viewport, handle = listing.viewport(), listing.window().windowHandle()
    begun: list[QModelIndex] = []
    monkeypatch.setattr(ConversationList, "startDrag", lambda view, _actions: begun.extend(view.selectedIndexes()))

    def at(place: QPoint) -> QPoint:
        return viewport.mapTo(listing.window(), place)

    QTest.mousePress(handle, LEFT, Qt.KeyboardModifier.NoModifier, at(start))
    for part in range(1, 5):
        QTest.mouseMove(handle, at(start + (end - start) * part / 4))
    assert begun, "no drag began"
    drop(listing, begun[0], end)
    QTest.mouseRelease(handle, LEFT, Qt.KeyboardModifier.NoModifier, at(end))


def drop(listing: ConversationList, dragged: QModelIndex, place: QPoint) -> None:
    """Send the list the events of a drop."""
    data: QMimeData = listing.rows.mimeData([dragged])
    viewport, move = listing.viewport(), Qt.DropAction.MoveAction
    no_keys = Qt.KeyboardModifier.NoModifier
    for event in (
        QDragEnterEvent(place, move, data, LEFT, no_keys),
        QDragMoveEvent(place, move, data, LEFT, no_keys),
        QDropEvent(place.toPointF(), move, data, NO_BUTTON, no_keys),
    ):
        QApplication.sendEvent(viewport, event)


def test_a_chat_is_dragged_into_a_folder(
    listing: ConversationList, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = listing.rows
    with qtbot.waitSignal(rows.library_signals.moved_to_folder) as caught:
        drag(listing, middle(listing, rows.index_of(1)), middle(listing, folder(listing, "Play")), monkeypatch)
    assert caught.args == [1, 8]


def test_a_chat_is_dropped_into_the_section_of_its_place(listing: ConversationList, qtbot: QtBot) -> None:
    with qtbot.waitSignal(listing.rows.library_signals.moved_to_folder) as caught:
        drop(listing, listing.rows.index_of(1), top(listing, listing.rows.index_of(5)))
    assert caught.args == [1, 7]
    with qtbot.waitSignal(listing.rows.library_signals.pinned) as caught:
        drop(listing, listing.rows.index_of(1), top(listing, listing.rows.index_of(2)))
    assert caught.args == [1, True]
