"""What goes on in chats that are not open, as the list shows it: while it goes on, and until it was looked at."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from engine.records import EngineFailed
from tests.app.controllers.chat.test_answers import BROKEN, answer
from tests.app.fakes import Desk
from ui.conversations.model import ANSWERING, UNSEEN

NEAR = 150  # of the sum of three differences


def sign(desk: Desk, title: str) -> str:
    """What a screen reader is told of a chat beside its title."""
    rows = desk.window.sidebar.list.rows
    number = next(row.id for row in desk.store.conversations() if row.title == title)
    said = str(rows.data(rows.index_of(number), Qt.ItemDataRole.AccessibleTextRole))
    assert said.startswith(title)
    return said.removeprefix(title).removeprefix(" · ")


def picture(desk: Desk, title: str) -> QImage:
    listing = desk.window.sidebar.list
    number = next(row.id for row in desk.store.conversations() if row.title == title)
    return listing.viewport().grab(listing.visualRect(listing.rows.index_of(number))).toImage()


def num_accented(desk: Desk, image: QImage) -> int:
    """How much of the right end of a row has about the colour of the signs."""
    red, green, blue = QColor(desk.window.theme.tokens.accent_text).getRgb()[:3]
    places = (QPoint(x, y) for x in range(image.width() - 24, image.width()) for y in range(image.height()))
    colors = (image.pixelColor(place).getRgb() for place in places)
    return sum(abs(r - red) + abs(g - green) + abs(b - blue) < NEAR for r, g, b, _ in colors)


def begin_and_leave(desk: Desk, qtbot: QtBot) -> None:
    """An answer is in the making in "first", and "other" is open."""
    answer(desk, qtbot, "other", "yes")
    desk.window.new_chat_requested.emit()
    desk.window.message_submitted.emit("first")
    desk.window.conversation_selected.emit(next(row.id for row in desk.store.conversations() if row.title == "other"))


def test_an_answer_that_goes_on_elsewhere_is_seen_in_the_list_until_it_was_looked_at(desk: Desk, qtbot: QtBot) -> None:
    begin_and_leave(desk, qtbot)
    assert (sign(desk, "first"), sign(desk, "other")) == (ANSWERING, "")
    ring = num_accented(desk, picture(desk, "first"))
    desk.engine.say("words")
    desk.engine.finish()
    qtbot.waitUntil(lambda: sign(desk, "first") == UNSEEN, timeout=30_000)
    dot = num_accented(desk, picture(desk, "first"))
    assert dot > ring >= 4
    assert num_accented(desk, picture(desk, "other")) == 0
    listing = desk.window.sidebar.list
    place = listing.visualRect(listing.rows.index(1, 0)).center()
    qtbot.mouseClick(listing.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert desk.window.header.title.text() == "first"
    assert sign(desk, "first") == ""


def test_an_answer_that_is_watched_leaves_no_sign(desk: Desk, qtbot: QtBot) -> None:
    desk.window.message_submitted.emit("first")
    assert sign(desk, "first") == ANSWERING
    desk.engine.say("words")
    desk.engine.finish()
    qtbot.waitUntil(lambda: bool(desk.window.finished), timeout=30_000)
    assert sign(desk, "first") == ""


def test_a_failure_is_to_be_seen_and_an_answer_that_brought_no_word_is_not(desk: Desk, qtbot: QtBot) -> None:
    begin_and_leave(desk, qtbot)
    desk.engine.tell(EngineFailed(BROKEN, desk.engine.requests[-1].request_id))
    qtbot.waitUntil(lambda: sign(desk, "first") == UNSEEN, timeout=30_000)
    other = desk.controller.conversations.current_id
    assert other is not None
    desk.window.regenerate_requested.emit(desk.store.messages(other)[-1].id)
    desk.window.new_chat_requested.emit()
    assert sign(desk, "other") == ANSWERING
    desk.engine.finish()
    qtbot.waitUntil(lambda: sign(desk, "other") == "", timeout=30_000)


def test_the_sign_goes_with_a_chat_that_is_deleted(desk: Desk, qtbot: QtBot) -> None:
    begin_and_leave(desk, qtbot)
    first = next(row.id for row in desk.store.conversations() if row.title == "first")
    desk.window.conversation_delete_requested.emit(first)
    assert desk.rows() == ["other"]
    desk.engine.finish()
    qtbot.waitUntil(lambda: desk.controller.answers.state is None, timeout=30_000)
    assert sign(desk, "other") == ""
