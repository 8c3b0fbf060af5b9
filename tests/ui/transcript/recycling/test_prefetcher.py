"""Cards are made before their messages come near, a step at a time, and as many as are of use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from engine.records import Source
from tests.ui.long_chats import history_of
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.code_block import CodeBlock
from ui.window.main_window import MainWindow

ANSWER = history_of(3_000)[1]
QUESTION = MessageView(5, "user", "Why?")


def make_ready(window: MainWindow, view: MessageView) -> int:
    """How many steps it took."""
    steps = 0
    while window.transcript.prefetcher.prefetch_step(view):
        steps += 1
    return steps


@pytest.mark.parametrize("view", [QUESTION, ANSWER], ids=["question", "answer"])
def test_a_card_is_there_and_styled_before_it_is_wanted(window: MainWindow, view: MessageView) -> None:
    transcript = window.transcript
    assert make_ready(window, view) >= 2, "made in one turn, styled in others"
    made: list[MessageView] = []
    make: Callable[[MessageView, int], object] = transcript._create_card
    transcript._create_card = lambda view, width: (made.append(view), make(view, width))[1]  # type: ignore[method-assign,assignment,func-returns-value]
    assert make_ready(window, view) == 0
    card = transcript.make_card(view)
    assert made == []
    assert card.isHidden()
    assert card.message_id == view.id
    assert card.window() is window, "or it would have to be styled once more"


def test_what_has_more_than_words_has_no_use_for_one(window: MainWindow) -> None:
    several = replace(ANSWER, versions=(1, 2))
    assert make_ready(window, several) < 50
    assert not window.transcript.pool.has_card_for(several)


def test_one_half_made_goes_with_the_conversation(window: MainWindow, qtbot: QtBot) -> None:
    assert window.transcript.prefetcher.prefetch_step(ANSWER)
    half_made = window.transcript.prefetcher._empty_card
    assert half_made is not None
    gone: list[bool] = []
    half_made.destroyed.connect(lambda: gone.append(True))
    window.show_conversation("Another", [QUESTION])
    qtbot.waitUntil(lambda: bool(gone))
    assert make_ready(window, ANSWER) >= 2


def fill(card: AnswerCard) -> list[tuple[int, int, int]]:
    """Fill a card; how many parts it had after every step, how many of these were marked, how many are ready."""
    steps = []
    goes_on = True
    while goes_on:
        goes_on = card.build_next()
        parts = card.body._parts
        steps.append((len(parts), sum(part.marked is part.source_map for part in parts), len(card.body._pool)))
    return steps


def test_an_answer_is_marked_one_part_a_step(window: MainWindow) -> None:
    window.transcript.mark_sources(frozenset(Source))
    card = window.transcript.make_card(ANSWER)
    assert isinstance(card, AnswerCard)
    steps = fill(card)
    num_parts, num_marked, _ = steps[-1]
    assert num_marked == num_parts > 3
    assert all(after[1] - before[1] <= 1 for before, after in pairwise(steps))
    assert all(marked == 0 for num, marked, _ in steps if num < num_parts), "when all of it is there"


def test_in_the_window_a_part_is_styled_before_it_is_filled(window: MainWindow) -> None:
    card = window.transcript.make_card(ANSWER)
    assert isinstance(card, AnswerCard)
    window.transcript._column.adopt(card)
    steps = fill(card)
    assert any(ready for _, _, ready in steps), "each was made in a step of its own"
    assert steps[-1][2] == 0, "and none in vain"
    parts: list[QWidget] = [*card.body.segments]
    assert any(isinstance(part, CodeBlock) for part in parts)
    assert all(part.testAttribute(Qt.WidgetAttribute.WA_WState_Polished) for part in parts)
