"""Reused cards show other messages exactly like new cards."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState, MessageView
from engine.records import Source
from tests.ui.conftest import STATS
from tests.ui.long_chats import history_of, spans_of
from tests.ui.transcript.marks.shown_marks import shown_marks
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.code_block import CodeBlock
from ui.transcript.cards.user_card import UserCard
from ui.transcript.recycling.recycler import MAX_CARDS, CardPool
from ui.window.main_window import MainWindow

WIDTH = 600
HISTORY = history_of(3_000)
PLAIN = MessageView(70, "assistant", "One line, no more.", spans=spans_of("One line, no more."))
EMPTY_CODE = MessageView(71, "assistant", "```python\n```\n\nWords.\n\n```\n\n```")
REASONED = MessageView(72, "assistant", "<think>\nOther thoughts.\n</think>\n\nIt is so.", thinking_ms=4_000)
STOPPED = MessageView(73, "assistant", "Some words", MessageState.STOPPED, stats=STATS, notice="Why.")


def fill(card: MessageCard) -> None:
    while card.build_next():
        pass


def look_of(card: MessageCard) -> object:
    """Everything visible or audible of a card."""
    if isinstance(card, UserCard):
        (view,) = (part.view for part in card.parts)
        return card.message_id, card.text, view.toPlainText(), view.isHidden(), view.height()
    assert isinstance(card, AnswerCard)
    views: list[QTextEdit | QPlainTextEdit] = [
        part.view if isinstance(part, CodeBlock) else part for part in card.body.segments
    ]
    return (
        (card.message_id, card.text, card.raw_text, card.view),
        [(view.toPlainText(), view.isHidden(), view.height(), view.accessibleName()) for view in views],
        [[(mark.start, mark.end, mark.color) for mark in shown_marks(view)] for view in views],
        [(view.textCursor().position(), len(view.extraSelections())) for view in views],
        [part.label.text() for part in card.body.segments if isinstance(part, CodeBlock)],
        [part.view.wraps for part in card.body.segments if isinstance(part, CodeBlock)],
        None if card.reasoning is None else (card.reasoning.heading, card.reasoning.text, card.reasoning.is_open),
        (card.figures.text(), card.notice.text(), card.can_continue, card.copy_button.isEnabled()),
    )


def card_of(window: MainWindow, view: MessageView) -> MessageCard:
    card = window.transcript._create_card(view, WIDTH)
    if isinstance(card, AnswerCard):
        card.mark_sources(window.transcript._marked)
    card.setParent(window.transcript._column)
    fill(card)
    return card


@pytest.mark.parametrize("view", [*HISTORY[1:4:2], PLAIN, EMPTY_CODE, REASONED, STOPPED], ids=lambda view: str(view.id))
@pytest.mark.parametrize("marked", [frozenset(), frozenset({Source.DRAFT})], ids=["plain", "marked"])
def test_an_answer_looks_as_if_made_anew(window: MainWindow, view: MessageView, marked: frozenset[Source]) -> None:
    window.transcript.mark_sources(marked)
    used = card_of(window, replace(HISTORY[3], id=900))
    assert isinstance(used, AnswerCard)
    code = next(part for part in used.body.segments if isinstance(part, CodeBlock))
    code.wrap_button.setChecked(True)
    prose = used.body.segments[0]
    assert isinstance(prose, QTextEdit)
    prose.setExtraSelections([QTextEdit.ExtraSelection()])
    used.set_revealed(True)
    pool = window.transcript.pool
    assert pool.recycle(used)
    again = window.transcript.make_card(view)
    assert again is used
    again.body.expect_width(WIDTH)  # type: ignore[attr-defined]
    fill(again)
    again.adjustSize()
    new = card_of(window, view)
    new.adjustSize()
    for card in (again, new):
        for part in card.body.segments:  # type: ignore[attr-defined]
            part.resize(WIDTH, part.height())
            if isinstance(part, CodeBlock):
                part.view.fit()  # a view without lines does so when it is first shown
    assert look_of(again) == look_of(new)


def test_a_question_looks_as_if_made_anew(window: MainWindow) -> None:
    pool = CardPool()
    used = card_of(window, MessageView(1, "user", "First\nof all"))
    assert pool.recycle(used)
    view = MessageView(2, "user", "Another one, longer than the first. " * 9)
    assert pool.take(view, WIDTH) is used
    assert look_of(used) == look_of(card_of(window, view))


@pytest.mark.parametrize(
    "view",
    [
        MessageView(1, "user", "Two", versions=(1, 2)),
        MessageView(1, "assistant", "Two", versions=(1, 2)),
        MessageView(1, "assistant", "", MessageState.STREAMING),
    ],
)
def test_what_has_more_than_words_is_made_anew(window: MainWindow, view: MessageView) -> None:
    pool = CardPool()
    assert not pool.recycle(card_of(window, view))
    assert pool.recycle(card_of(window, replace(view, versions=(), state=MessageState.COMPLETE)))
    assert pool.take(view, WIDTH) is None


def test_only_a_few_are_kept(window: MainWindow) -> None:
    pool = CardPool()
    cards = [card_of(window, MessageView(number, "user", "Hm")) for number in range(MAX_CARDS + 2)]
    assert [pool.recycle(card) for card in cards] == [True] * MAX_CARDS + [False] * 2
    assert pool.clear() == cards[:MAX_CARDS]
    assert pool.clear() == []


def test_scrolling_makes_no_more_cards_once_some_are_far(window: MainWindow, qtbot: QtBot) -> None:
    transcript = window.transcript
    window.show_conversation("Long", history_of(20_000))
    qtbot.waitUntil(lambda: not transcript.is_building, timeout=30_000)
    made: list[int] = []
    bar, make = transcript.verticalScrollBar(), transcript._create_card
    transcript._create_card = lambda view, width: (made.append(view.id), make(view, width))[1]  # type: ignore[method-assign,func-returns-value]
    while bar.value() > 0:
        bar.setValue(max(0, bar.value() - transcript.viewport().height() // 2))
        qtbot.waitUntil(lambda: not transcript.is_building, timeout=30_000)
    assert len(transcript._column.entries) == 58
    assert 0 < len(made) < 26
