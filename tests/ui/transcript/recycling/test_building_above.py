"""A card is filled above the visible part while others are recycled or the window is resized."""

from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from ui.transcript.cards.card import MessageCard
from ui.transcript.transcript import GO_TO_MARGIN_PX, Transcript
from ui.window.main_window import MainWindow

WAIT_MS = 30_000
HISTORY = [
    MessageView(number, "user" if number % 2 else "assistant", f"message {number}\n\n" * 5) for number in range(1, 161)
]


def top_of(page: Transcript, message_id: int) -> int:
    card = next(card for card in page.cards if card.message_id == message_id)
    return card.mapTo(page.viewport(), QPoint(0, 0)).y()


def test_it_is_not_put_away(window: MainWindow, qtbot: QtBot) -> None:
    """Otherwise filling would continue with a card that is deleted or shows another message."""
    window.show_conversation("t", HISTORY)
    page = window.transcript
    page.go_to(21)
    seen: list[bool] = []

    def is_built() -> bool:
        building = page._recycler.building
        page._recycler.recycle_one()  # as its timer does
        if building is not None:
            seen.append(building in page.cards)
        return not page.is_building

    qtbot.waitUntil(is_built, timeout=WAIT_MS)
    assert seen
    assert all(seen)
    cards = [card for card in page.widget().findChildren(MessageCard) if not card.isHidden()]
    assert set(cards) <= set(page.cards)
    assert top_of(page, 21) == GO_TO_MARGIN_PX


def test_older_messages_do_not_move_the_place_that_is_kept(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", HISTORY)
    page = window.transcript
    qtbot.waitUntil(lambda: not page._reading_position._settle_timer.isActive(), timeout=WAIT_MS)
    nums: list[int] = []

    def arrived() -> None:
        page._reading_position.record()  # as when idle
        nums.append(len(page._column.entries))

    page.jump_finished.connect(arrived)
    for wanted in (81, 61, 41):  # if reached late, all older messages nearby exist already
        nums.clear()
        page.go_to(wanted)
        qtbot.waitUntil(lambda: bool(nums) and not page.is_building, timeout=WAIT_MS)
        if len(page._column.entries) > nums[0]:
            break
    assert len(page._column.entries) > nums[0]
    assert page._reading_position._anchor is not None
    window.resize(window.width(), window.height() - 40)
    qtbot.waitUntil(lambda: not page.is_building, timeout=WAIT_MS)
    assert abs(top_of(page, wanted) - GO_TO_MARGIN_PX) <= 1


def test_a_card_without_a_place_is_not_the_place_that_is_kept(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", HISTORY)
    page = window.transcript
    qtbot.waitUntil(
        lambda: not page.is_building and not page._reading_position._settle_timer.isActive(), timeout=WAIT_MS
    )
    bar = page.verticalScrollBar()
    bar.setValue(0)
    first = page._column.entries[0].message_id
    assert page._recycler.building is None
    page._insert_above(page._waiting.pop(), is_visible=False)
    assert page._column.has_hidden_first
    bar.setValue(4)
    page._reading_position.record()
    assert page._reading_position._anchor is not None
    assert page._reading_position._anchor.message_id == first
