"""Tests activity marks of chats that are not open: while an answer is running, and until it was seen."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from engine.records import EngineFailed
from tests.app.controllers.chat.test_answers import BROKEN, answer
from tests.app.fakes import AppHarness
from ui.conversations.model import ANSWERING, UNSEEN

NEAR = 150  # maximum sum of three colour differences


def sign(harness: AppHarness, title: str) -> str:
    """The accessible text of a chat besides its title."""
    rows = harness.window.sidebar.list.rows
    number = next(row.id for row in harness.store.conversations() if row.title == title)
    said = str(rows.data(rows.index_of(number), Qt.ItemDataRole.AccessibleTextRole))
    assert said.startswith(title)
    return said.removeprefix(title).removeprefix(" · ")


def picture(harness: AppHarness, title: str) -> QImage:
    listing = harness.window.sidebar.list
    number = next(row.id for row in harness.store.conversations() if row.title == title)
    return listing.viewport().grab(listing.visualRect(listing.rows.index_of(number))).toImage()


def num_accented(harness: AppHarness, image: QImage) -> int:
    """The number of pixels at the right end of a row with the colour of the marks."""
    red, green, blue = QColor(harness.window.theme.tokens.accent_text).getRgb()[:3]
    places = (QPoint(x, y) for x in range(image.width() - 24, image.width()) for y in range(image.height()))
    colors = (image.pixelColor(place).getRgb() for place in places)
    return sum(abs(r - red) + abs(g - green) + abs(b - blue) < NEAR for r, g, b, _ in colors)


def begin_and_leave(harness: AppHarness, qtbot: QtBot) -> None:
    """An answer is running in "first", and "other" is open."""
    answer(harness, qtbot, "other", "yes")
    harness.window.sidebar.new_chat.emit()
    harness.window.composer.submitted.emit("first")
    harness.window.sidebar.list.chosen.emit(
        next(row.id for row in harness.store.conversations() if row.title == "other")
    )


def test_a_background_answer_is_marked_in_the_list_until_it_is_read(harness: AppHarness, qtbot: QtBot) -> None:
    begin_and_leave(harness, qtbot)
    assert (sign(harness, "first"), sign(harness, "other")) == (ANSWERING, "")
    ring = num_accented(harness, picture(harness, "first"))
    harness.engine.say("words")
    harness.engine.finish()
    qtbot.waitUntil(lambda: sign(harness, "first") == UNSEEN)
    dot = num_accented(harness, picture(harness, "first"))
    assert dot > ring >= 4
    assert num_accented(harness, picture(harness, "other")) == 0
    listing = harness.window.sidebar.list
    place = listing.visualRect(listing.rows.index(1, 0)).center()
    qtbot.mouseClick(listing.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert harness.window.header.title.text() == "first"
    assert sign(harness, "first") == ""


def test_an_answer_that_is_watched_leaves_no_sign(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.composer.submitted.emit("first")
    assert sign(harness, "first") == ANSWERING
    harness.engine.say("words")
    harness.engine.finish()
    qtbot.waitUntil(lambda: bool(harness.window.finished))
    assert sign(harness, "first") == ""


def test_a_failure_is_to_be_seen_and_an_answer_that_brought_no_word_is_not(harness: AppHarness, qtbot: QtBot) -> None:
    begin_and_leave(harness, qtbot)
    harness.engine.tell(EngineFailed(BROKEN, harness.engine.requests[-1].request_id))
    qtbot.waitUntil(lambda: sign(harness, "first") == UNSEEN)
    other = harness.controller.state.chat_id
    assert other is not None
    harness.window.transcript.regenerate_requested.emit(harness.store.messages(other)[-1].id)
    harness.window.sidebar.new_chat.emit()
    assert sign(harness, "other") == ANSWERING
    harness.engine.finish()
    qtbot.waitUntil(lambda: sign(harness, "other") == "")


def test_the_sign_goes_with_a_chat_that_is_deleted(harness: AppHarness, qtbot: QtBot) -> None:
    begin_and_leave(harness, qtbot)
    first = next(row.id for row in harness.store.conversations() if row.title == "first")
    harness.window.sidebar.list.delete_requested.emit(first)
    assert harness.rows() == ["other"]
    harness.engine.finish()
    qtbot.waitUntil(lambda: not harness.controller.state.answers)
    assert sign(harness, "other") == ""
