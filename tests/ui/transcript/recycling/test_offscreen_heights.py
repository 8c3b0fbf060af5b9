"""After a change of width or style the reading position stays, and recycled messages keep suitable heights."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from tests.ui.long_chats import PARAGRAPHS
from ui.transcript.cards.card import CardState
from ui.transcript.transcript import Transcript
from ui.window.main_window import MainWindow

ANSWER = "".join(PARAGRAPHS.format(n=number) for number in range(6))
HISTORY = [MessageView(number, "assistant" if number % 2 else "user", ANSWER) for number in range(28)]
WAIT_MS = 60_000
BETTER = 4  # times closer to the exact height than before
PLACE_PX = 60


def calm(transcript: Transcript, qtbot: QtBot) -> None:
    recycler, heights = transcript._recycler, transcript._heights
    timers = (recycler._check_timer, recycler._restore_timer, recycler._recycle_timer, heights._rescale_timer)
    qtbot.waitUntil(lambda: not any(timer.isActive() for timer in timers), timeout=WAIT_MS)


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> Transcript:
    """The page in the middle of a chat, with most messages recycled."""
    window.show_conversation("Long", HISTORY)
    transcript = window.transcript
    bar = transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: not transcript.is_building, timeout=WAIT_MS)
    while bar.value() > 0:
        bar.setValue(max(0, bar.value() - transcript.viewport().height()))
        qtbot.waitUntil(lambda: not transcript.is_building, timeout=WAIT_MS)
    bar.setValue(bar.maximum() // 2)
    calm(transcript, qtbot)
    assert sum(isinstance(entry, CardState) for entry in transcript._column.entries) > 8
    return transcript


def narrower(page: Transcript) -> None:
    window = page.window()
    window.resize(window.width() - 420, window.height())


def larger(page: Transcript) -> None:
    page._theme.set_text_size("larger", page.window())


CHANGES = [narrower, larger]


def first_in_sight(page: Transcript) -> tuple[int, int]:
    """The id of the first visible message, and the position of its centre."""
    for card in page.cards:
        top = card.mapTo(page.viewport(), QPoint(0, 0)).y()
        if top + card.height() > 0:
            return card.message_id, top
    raise AssertionError("nothing is in sight")


def height_of_all(page: Transcript) -> int:
    """The page height when every card exists."""
    for index in range(len(page._column.entries)):
        page._recycler.restore(index)
    for _ in range(3):
        QApplication.processEvents()
        page.lay_out()
    return page.verticalScrollBar().maximum()


@pytest.mark.parametrize("change", CHANGES)
def test_far_messages_get_the_room_that_they_will_need(
    page: Transcript, qtbot: QtBot, change: Callable[[Transcript], None]
) -> None:
    bar = page.verticalScrollBar()
    before = bar.maximum()
    change(page)
    qtbot.waitUntil(lambda: bar.maximum() != before, timeout=WAIT_MS)
    calm(page, qtbot)
    guessed = bar.maximum()
    whole = height_of_all(page)
    assert abs(guessed - whole) < abs(before - whole) / BETTER


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_read_stays_in_its_place(page: Transcript, qtbot: QtBot, change: Callable[[Transcript], None]) -> None:
    message_id, top = first_in_sight(page)
    card = next(card for card in page.cards if card.message_id == message_id)
    share = -top / card.height()
    height = card.height()
    change(page)
    qtbot.waitUntil(lambda: card.height() != height, timeout=WAIT_MS)
    calm(page, qtbot)
    now = card.mapTo(page.viewport(), QPoint(0, 0)).y()
    assert -now == pytest.approx(share * card.height(), abs=PLACE_PX)


def test_the_end_stays_in_sight(page: Transcript, qtbot: QtBot) -> None:
    page.jump_to_end()
    calm(page, qtbot)
    narrower(page)
    calm(page, qtbot)
    assert page.verticalScrollBar().value() == page.verticalScrollBar().maximum()


def test_there_and_back_is_as_before(page: Transcript, qtbot: QtBot) -> None:
    bar, window = page.verticalScrollBar(), page.window()
    before, width = bar.maximum(), window.width()
    for step in (100, 200, 300, 200, 100, 0):
        window.resize(width - step, window.height())
        QApplication.processEvents()
        calm(page, qtbot)
    assert bar.maximum() == pytest.approx(before, rel=0.01)
