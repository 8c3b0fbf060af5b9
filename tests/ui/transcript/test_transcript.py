"""The page follows its end until the user scrolls, and builds long chats in slices.

The first frame after the start shows all visible messages.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState, MessageView
from tests.ui.conftest import ASSETS, FIELDS, STATS
from tests.ui.long_chats import history_of
from ui.transcript import transcript
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.code_block import CodeView
from ui.transcript.cards.prose_view import ProseView
from ui.window.main_window import MainWindow

LONG = "\n\n".join(f"Paragraph {number} with some words." for number in range(80))
EMPTY_ANSWER = MessageView(2, "assistant", "", MessageState.STREAMING)


def at_end(window: MainWindow) -> bool:
    bar = window.transcript.verticalScrollBar()
    return bar.value() >= bar.maximum() - 1


def test_it_stays_at_the_end_while_text_arrives(window: MainWindow, qtbot: QtBot) -> None:
    window.add_message(MessageView(1, "user", "go"))
    window.begin_answer(EMPTY_ANSWER)
    for start in range(0, len(LONG), 200):
        window.transcript.append_text(LONG[start : start + 200], ())
        QApplication.processEvents()
        assert at_end(window)
    assert window.transcript.verticalScrollBar().maximum() > 500
    assert window.transcript.jump_button.isHidden()


def test_it_stays_where_the_user_scrolled_until_jump(window: MainWindow, qtbot: QtBot) -> None:
    window.add_message(MessageView(1, "user", "go"))
    window.begin_answer(EMPTY_ANSWER)
    window.transcript.append_text(LONG, ())
    bar = window.transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 500)
    bar.setValue(100)
    window.transcript.append_text("\n\n" + LONG, ())
    QApplication.processEvents()
    assert bar.value() == 100
    assert window.transcript.jump_button.isVisible()
    qtbot.mouseClick(window.transcript.jump_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: at_end(window))
    height = bar.maximum()
    window.transcript.append_text("\n\n" + LONG, ())
    qtbot.waitUntil(lambda: bar.maximum() > height + 500 and at_end(window))


def test_older_messages_come_while_an_answer_begins(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.transcript.transcript.FIRST_SLICE_S", 0.0)  # as on a busy machine
    window.resize(1280, 800)
    before = [MessageView(number, "user", f"question {number}") for number in range(10, 14)]
    window.show_conversation("t", before)
    window.begin_answer(EMPTY_ANSWER)
    window.transcript.append_text("short", ())
    qtbot.waitUntil(lambda: len(window.transcript.cards) == 5)
    many = [MessageView(number, "user", f"question {number}") for number in range(20, 60)]
    window.show_conversation("t", many)
    window.begin_answer(EMPTY_ANSWER)
    window.transcript.append_text(LONG, ())
    window.finish_answer(MessageView(2, "assistant", "short", stats=STATS))
    bar = window.transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    assert bar.value() > 0, "what is above can be scrolled to"


def test_a_long_history_is_built_from_the_end(window: MainWindow, qtbot: QtBot) -> None:
    history = [MessageView(number, "user" if number % 2 else "assistant", f"message {number}") for number in range(120)]
    window.show_conversation("t", history)
    assert window.transcript.is_building
    assert window.transcript.cards[-1].text == "message 119"
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    qtbot.waitUntil(lambda: at_end(window))
    assert len(window.transcript.cards) < 60, "what is far above is not built yet"
    bar = window.transcript.verticalScrollBar()
    seen: dict[int, str] = {}
    while 0 not in seen:
        before = len(seen)
        bar.setValue(bar.minimum())
        qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=30_000)
        seen |= {card.message_id: card.text for card in window.transcript.cards}
        assert len(seen) > before
    assert [seen[view.id] for view in history] == [view.text for view in history]


def test_a_message_far_above_is_built_when_it_is_looked_for(window: MainWindow, qtbot: QtBot) -> None:
    history = [MessageView(number, "user", f"message {number}") for number in range(120)]
    window.show_conversation("t", history)
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    assert all(card.message_id != 5 for card in window.transcript.cards)
    window.transcript.go_to(5)

    def is_at_top() -> bool:
        places = (card.mapTo(window.transcript.viewport(), QPoint(0, 0)) for card in cards() if card.message_id == 5)
        return any(0 <= place.y() < 60 for place in places)

    def cards() -> list[MessageCard]:
        return window.transcript.cards

    qtbot.waitUntil(is_at_top, timeout=30_000)


def test_another_conversation_replaces_one_half_built(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.transcript.transcript.FIRST_SLICE_S", 0.0)  # otherwise a fast machine builds enough at once
    window.show_conversation("a", [MessageView(number, "user", "old") for number in range(1000)])
    assert window.transcript.is_building
    window.show_conversation("b", [MessageView(number, "user", "new") for number in range(500, 620)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    window.transcript.verticalScrollBar().setValue(0)
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    assert {card.text for card in window.transcript.cards} == {"new"}


def test_a_finished_answer_keeps_its_figures(window: MainWindow, qtbot: QtBot) -> None:
    window.begin_answer(EMPTY_ANSWER)
    window.transcript.append_text("Hello", ())
    window.finish_answer(replace(EMPTY_ANSWER, text="Hello", state=MessageState.COMPLETE, stats=STATS))
    card = window.transcript.last_answer()
    assert card is not None
    whole = "41.2 tok/s · 2.7 tokens per pass · 210 drafted, 68% accepted · draft · 388 tokens, the first after 213 ms"
    assert card.figures.text() == whole
    assert card.notice.text() == ""
    assert not window.transcript.is_streaming


def test_states_have_notices(window: MainWindow) -> None:
    for state, word in (
        (MessageState.STOPPED, "Stopped"),
        (MessageState.INTERRUPTED, "Interrupted"),
        (MessageState.FAILED, "could not"),
    ):
        view = MessageView(1, "assistant", "half", state, notice="The context is full.")
        window.show_conversation("t", [view])
        card = window.transcript.last_answer()
        assert card is not None
        assert not card.notice.isHidden()
        assert word in card.notice.text()
        assert "The context is full." in card.notice.text()


def test_prefill_is_shown_until_the_first_text(window: MainWindow) -> None:
    window.begin_answer(EMPTY_ANSWER)
    window.transcript.show_prefill(120, 480)
    card = window.transcript.last_answer()
    assert card is not None
    assert not card.progress.isHidden()
    assert (card.progress.value(), card.progress.maximum()) == (120, 480)
    assert "120 of 480" in card.progress_label.text()
    window.transcript.append_text("A", ())
    assert card.progress.isHidden()
    assert card.progress_label.isHidden()


def test_actions_of_an_earlier_answer_appear_on_hover_and_focus(window: MainWindow, qtbot: QtBot) -> None:
    earlier = MessageView(7, "assistant", "The *answer*", stats=STATS)
    window.show_conversation("t", [earlier, MessageView(8, "user", "b"), MessageView(9, "assistant", "c")])
    card = next(card for card in window.transcript.cards if card.message_id == 7)
    assert isinstance(card, AnswerCard)
    assert not card.copy_button._revealed
    card.copy_button.setFocus(Qt.FocusReason.TabFocusReason)
    assert card.copy_button._revealed
    assert card.regenerate_button._revealed
    qtbot.keyClick(card.copy_button, Qt.Key.Key_Space)
    assert QApplication.clipboard().text() == "The *answer*"
    with qtbot.waitSignal(window.transcript.regenerate_requested) as caught:
        qtbot.mouseClick(card.regenerate_button, Qt.MouseButton.LeftButton)
    assert caught.args == [7]
    window.composer.edit.setFocus()
    assert not card.copy_button._revealed


def test_copy_and_regenerate_of_the_last_answer_are_always_shown(window: MainWindow) -> None:
    window.show_conversation("t", [MessageView(1, "user", "a"), MessageView(2, "assistant", "b", stats=STATS)])
    first = window.transcript.last_answer()
    assert first is not None
    places = [button.geometry() for button in (first.copy_button, first.regenerate_button)]
    first.set_revealed(True)
    first.set_revealed(False)
    assert first.copy_button._revealed
    assert first.regenerate_button._revealed
    assert not first.more_button._revealed
    assert [button.geometry() for button in (first.copy_button, first.regenerate_button)] == places
    window.add_message(MessageView(3, "user", "c"))
    window.begin_answer(MessageView(4, "assistant", "", MessageState.STREAMING))
    assert not first.copy_button._revealed
    last = window.transcript.last_answer()
    assert last is not None
    assert not last.copy_button._revealed
    window.finish_answer(MessageView(4, "assistant", "d", stats=STATS))
    assert last.copy_button._revealed
    assert last.regenerate_button._revealed


def test_only_a_last_answer_that_was_cut_can_go_on(window: MainWindow, qtbot: QtBot) -> None:
    cut = MessageView(3, "assistant", "c", MessageState.STOPPED)
    views = [MessageView(1, "assistant", "a", MessageState.STOPPED), MessageView(2, "user", "b"), cut]
    window.show_conversation("t", views)
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    answers = [card for card in window.transcript.cards if isinstance(card, AnswerCard)]
    assert [card.can_continue for card in answers] == [False, True]
    button = answers[1].continue_button
    assert button is not None
    with qtbot.waitSignal(window.transcript.continue_requested) as caught:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert caught.args == [3]
    window.show_conversation("t", [replace(cut, state=MessageState.COMPLETE)])
    answer = window.transcript.last_answer()
    assert answer is not None
    assert not answer.can_continue


def test_a_regenerated_answer_replaces_the_old_one(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(1, "user", "q"), MessageView(2, "assistant", "old")])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    window.begin_answer(EMPTY_ANSWER)
    window.transcript.append_text("new", ())
    assert [card.text for card in window.transcript.cards] == ["q", "new"]


def test_pasted_markup_of_the_user_stays_text(window: MainWindow) -> None:
    text = "<b>bold?</b> **no** <|im_end|>"
    window.show_conversation("t", [MessageView(1, "user", text)])
    card = window.transcript.cards[0]
    assert card.parts[0].view.toPlainText() == text


def test_nothing_half_laid_out_can_be_painted(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.wait(20)
    text = "words that wrap " * 60
    window.show_conversation(
        "t", [MessageView(1, "user", text), MessageView(2, "assistant", text + "\n\n```\ncode\n```")]
    )
    while window.transcript.is_building:
        window.transcript._build_slice()
    first, second = window.transcript.cards
    body = first.parts[0].view
    assert body.height() == round(body.document().size().height() + 0.49)
    assert first.height() >= body.height() > 60
    assert second.y() >= first.y() + first.height()
    prose, code = second.body.segments  # type: ignore[attr-defined]
    assert code.y() >= prose.y() + prose.height()


@pytest.fixture(name="opened")
def fixture_opened(qapp: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """A window with a long chat that was just shown: not painted, and hardly built."""
    monkeypatch.setattr(transcript, "FIRST_SLICE_S", 1e-9)
    window = MainWindow(ASSETS, FIELDS)
    window.show_conversation("A long chat", history_of(3_000))
    window.show()
    window.transcript._build_timer.stop()
    yield window
    window.close()
    window.deleteLater()


def test_all_in_sight_is_there_before_anything_is_painted(opened: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "FIRST_FRAME_S", 30.0)
    page = opened.transcript
    page.lay_out()
    bar = page.verticalScrollBar()
    assert bar.maximum() == 0, "or there is nothing to be filled"
    page.fill_viewport()
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum()
    assert page.is_building, "what is above is left for later"


def test_a_first_frame_does_not_wait_long(opened: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "FIRST_FRAME_S", 0.0)
    page = opened.transcript
    page.fill_viewport()
    assert page.verticalScrollBar().maximum() == 0
    assert page.is_building


CODE = "```python\n" + "\n".join(f"value_{number} = '{'long ' * 60}'" for number in range(4)) + "\n```\n\n"


def go_to_top(window: MainWindow, qtbot: QtBot) -> None:
    """Scroll up until no older message is left to build; the reading position stays."""
    bar = window.transcript.verticalScrollBar()
    while bar.value() > 0 or window.transcript.is_building:
        bar.setValue(0)
        qtbot.waitUntil(lambda: not window.transcript.is_building)


def turn_wheel_over(widget: QWidget, turn: QPoint) -> None:
    """Send one wheel notch through the window, like a mouse."""
    handle = widget.window().windowHandle()
    assert handle is not None
    QTest.wheelEvent(handle, QPointF(widget.mapTo(widget.window(), QPoint(20, 5))), turn)


@pytest.mark.parametrize("kind", [CodeView, ProseView])
def test_wheel_and_page_keys_over_an_answer_scroll_the_page(
    kind: type[QAbstractScrollArea], window: MainWindow, qtbot: QtBot
) -> None:
    text = f"First words.\n\n{CODE}{LONG}"
    window.show_conversation("t", [MessageView(1, "user", "go"), MessageView(2, "assistant", text, stats=STATS)])
    bar = window.transcript.verticalScrollBar()
    go_to_top(window, qtbot)
    views = [each for each in window.transcript.findChildren(kind) if each.isVisible()]
    view = min(views, key=lambda each: each.mapTo(window, QPoint()).y())
    turn_wheel_over(view.viewport(), QPoint(0, -120))
    assert bar.value() > 0
    bar.setValue(0)
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    QApplication.processEvents()  # the caret above does not scroll the page back
    assert bar.value() > 300
    bar.setValue(0)
    if kind is CodeView:
        turn_wheel_over(view.viewport(), QPoint(-120, 0))
        assert bar.value() == 0
        assert view.horizontalScrollBar().value() > 0
