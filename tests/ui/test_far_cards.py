"""What is far from sight gives its widgets back, and is as it was when it comes near again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from engine.records import Source
from tests.ui.long_chats import history_of, spans_of
from tests.ui.shown_marks import shown_marks
from ui.answer_card import AnswerCard
from ui.code_block import CodeBlock
from ui.far_cards import FAR_PAGES
from ui.main_window import MainWindow
from ui.records import MessageView

HISTORY = history_of(20_000)
WAIT_MS = 30_000


def answers(window: MainWindow) -> list[AnswerCard]:
    return [card for card in window.transcript.cards if isinstance(card, AnswerCard)]


def go_up(window: MainWindow, qtbot: QtBot) -> None:
    """To the first message, through all that is built on the way."""
    bar = window.transcript.verticalScrollBar()
    while len(window.transcript.cards) < len(HISTORY) or bar.value() > 0:
        bar.setValue(max(0, bar.value() - window.transcript.viewport().height()))
        QApplication.processEvents()
        qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=WAIT_MS)


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> MainWindow:
    """A long chat, as it is opened."""
    window.show_conversation("Long", HISTORY)
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=WAIT_MS)
    return window


def test_widgets_follow_what_is_in_sight(page: MainWindow, qtbot: QtBot) -> None:
    def num_widgets() -> int:
        QApplication.sendPostedEvents(None, 0)
        return len(page.transcript.findChildren(QWidget))

    at_end = num_widgets()
    go_up(page, qtbot)
    bar = page.transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: sum(card.is_resting for card in answers(page)) > len(answers(page)) // 2, timeout=WAIT_MS)
    num_shells = 16 * len(page.transcript.cards)  # names, buttons, figures: a card of its own each
    qtbot.waitUntil(lambda: num_widgets() < at_end + num_shells, timeout=WAIT_MS)
    assert answers(page)[-1].is_resting
    assert not answers(page)[0].is_resting
    height = bar.maximum()
    bar.setValue(height)
    assert not answers(page)[-1].is_resting, "what is in sight is whole before it is painted"
    qtbot.waitUntil(lambda: answers(page)[0].is_resting, timeout=WAIT_MS)
    assert bar.maximum() == height


def test_nothing_in_sight_rests_while_one_scrolls(page: MainWindow, qtbot: QtBot) -> None:
    go_up(page, qtbot)
    qtbot.waitUntil(lambda: answers(page)[-1].is_resting, timeout=WAIT_MS)
    bar, transcript = page.transcript.verticalScrollBar(), page.transcript
    while bar.value() < bar.maximum():
        bar.setValue(bar.value() + transcript.viewport().height() // 2)
        seen = [card for card in answers(page) if not card.visibleRegion().isEmpty()]
        assert not any(card.is_resting for card in seen)
        QApplication.processEvents()


def test_an_answer_comes_back_as_it_was(page: MainWindow, qtbot: QtBot) -> None:
    page.transcript.mark_sources(frozenset({Source.DRAFT}))
    card = answers(page)[-1]
    code = next(part for part in card.body.segments if isinstance(part, CodeBlock))
    qtbot.mouseClick(code.wrap_button, Qt.MouseButton.LeftButton)
    assert not card.rest(), "the keyboard is in it"
    page.composer.edit.setFocus()
    qtbot.waitUntil(lambda: bool(code.view.document().findBlockByNumber(1).layout().formats()), timeout=WAIT_MS)
    before = [getattr(part, "view", part) for part in card.body.segments]
    shown = [view.toHtml() if hasattr(view, "toHtml") else view.toPlainText() for view in before]
    marks = [[(mark.start, mark.end, mark.color) for mark in shown_marks(view)] for view in before]
    height, heights = card.height(), [part.height() for part in card.body.segments]
    assert card.rest()
    assert card.body.segments == []
    assert card.is_resting
    page.transcript._lay_out()
    assert card.height() == height
    page.transcript._far.look()
    assert not card.is_resting
    page.transcript._lay_out()
    after = [getattr(part, "view", part) for part in card.body.segments]
    assert [view.toHtml() if hasattr(view, "toHtml") else view.toPlainText() for view in after] == shown
    assert [[(mark.start, mark.end, mark.color) for mark in shown_marks(view)] for view in after] == marks
    again = next(part for part in card.body.segments if isinstance(part, CodeBlock))
    assert again.view.wraps
    assert (card.height(), [part.height() for part in card.body.segments]) == (height, heights)


def test_reasoning_stays_open(page: MainWindow, qtbot: QtBot) -> None:
    card = next(card for card in answers(page) if card.thought is not None)
    assert card.thought is not None
    card.thought.set_open(True)
    go_up(page, qtbot)
    qtbot.waitUntil(lambda: card.is_resting, timeout=WAIT_MS)
    assert card.thought.is_open
    assert "Then the words." in card.text_with_thought


def test_what_is_selected_does_not_rest(page: MainWindow, qtbot: QtBot) -> None:
    card = answers(page)[-1]
    view = getattr(card.body.segments[0], "view", card.body.segments[0])
    view.selectAll()
    assert not card.rest()
    go_up(page, qtbot)
    qtbot.waitUntil(lambda: answers(page)[-2].is_resting, timeout=WAIT_MS)
    assert view.textCursor().hasSelection()


def test_a_message_that_rests_is_whole_when_it_is_gone_to(page: MainWindow, qtbot: QtBot) -> None:
    go_up(page, qtbot)
    last = answers(page)[-1]
    qtbot.waitUntil(lambda: last.is_resting, timeout=WAIT_MS)
    page.transcript.go_to(last.message_id)
    assert not last.is_resting


def test_an_answer_in_the_making_does_not_rest(page: MainWindow, qtbot: QtBot) -> None:
    assert FAR_PAGES > 2
    view = MessageView(9_000, "assistant", "", spans=())
    page.begin_answer(replace(view, state=view.state.STREAMING))
    page.append_text("Some **words**", spans_of("Some **words**"))
    assert not answers(page)[-1].rest()
