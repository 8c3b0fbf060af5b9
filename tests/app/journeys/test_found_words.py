"""A search hit opens at its words: folded reasoning unfolds, the words are marked and visible."""

from collections.abc import Iterable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState
from app.core.storage.chats.answers import AnswerEnding
from tests.app.fakes import AppHarness, keep_settings, open_app
from tests.fake_model import ScriptedWorker
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.user_card import UserCard

GENEROUS_MS = 30_000
LONG = "\n\n".join(f"Paragraph {number} of the reasoning, 😀 as it goes on and on." for number in range(120))
HIDDEN = "A **quokka** is small."
CODE = "```python\nquagga = 1\n```"
THOUGHT = (
    f"<think>\nNo quoll here.\n\n{LONG}\n\n{HIDDEN}\n\n{LONG}\n</think>\n\nIt is a *marsupial*.\n\n{LONG}\n\n{CODE}"
)


@pytest.fixture
def harness(qtbot: QtBot) -> AppHarness:
    keep_settings({})
    opened = open_app(ScriptedWorker)
    turn = opened.store.begin_turn(None, "Which animal, with a café\u0301?")
    opened.store.append(turn.answer.id, THOUGHT)
    opened.store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE))
    opened.store.begin_turn(turn.conversation_id, "And then? " * 40)
    opened.store.begin_turn(None, "Another chat.")
    opened.window.resize(1100, 700)
    opened.controller.conversations.new_chat()
    return opened


def has_found(parts: Iterable[tuple[str, bool]], words: str) -> bool:
    return any(found and text.casefold().startswith(words.casefold()) for text, found in parts)


def search(harness: AppHarness, qtbot: QtBot, words: str) -> None:
    """Type words in the search box, and open the message that was found by key."""
    sidebar = harness.window.sidebar
    qtbot.keyClick(harness.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(sidebar.search, words)

    def messages() -> list[bool]:  # the hits of a prefix may come first
        hits = sidebar.results.hits
        return [hit.message_id is not None and has_found(hit.parts, words) for hit in hits]

    qtbot.waitUntil(lambda: any(messages()), timeout=GENEROUS_MS)
    qtbot.keyClick(sidebar.search, Qt.Key.Key_Down)
    for _ in range(messages().index(True)):
        qtbot.keyClick(sidebar.results, Qt.Key.Key_Down)
    qtbot.keyClick(sidebar.results, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(marked(harness)), timeout=GENEROUS_MS)


def views(harness: AppHarness) -> list[QTextEdit | QPlainTextEdit]:
    cards = harness.window.transcript.cards
    prose = [view for card in cards for view in card.findChildren(QTextEdit)]
    return [*prose, *(view for card in cards for view in card.findChildren(QPlainTextEdit))]


def marked(harness: AppHarness) -> list[str]:
    return [one.cursor.selectedText() for view in views(harness) for one in view.extraSelections()]


def in_sight(harness: AppHarness) -> bool:
    page = harness.window.transcript.viewport()
    for view in views(harness):
        for one in view.extraSelections():
            place = view.viewport().mapTo(harness.window, view.cursorRect(one.cursor).center())
            if view.isVisible() and page.rect().contains(page.mapFrom(harness.window, place)):
                return True
    return False


def answer(harness: AppHarness) -> AnswerCard:
    return next(card for card in harness.window.transcript.cards if isinstance(card, AnswerCard) and card.reasoning)


def test_a_hit_inside_folded_reasoning_unfolds_it_and_comes_into_sight(harness: AppHarness, qtbot: QtBot) -> None:
    search(harness, qtbot, "quok")
    card = answer(harness)
    assert card.reasoning is not None
    assert card.reasoning.is_open
    assert marked(harness) == ["quokka"]
    qtbot.waitUntil(lambda: in_sight(harness), timeout=GENEROUS_MS)
    qtbot.waitUntil(lambda: not harness.window.transcript.is_building, timeout=GENEROUS_MS)
    assert in_sight(harness)
    harness.close()


@pytest.mark.parametrize(("typed", "words"), [("marsupial", "marsupial"), ("quagga", "quagga")])
def test_a_hit_in_the_words_leaves_reasoning_folded(harness: AppHarness, qtbot: QtBot, typed: str, words: str) -> None:
    search(harness, qtbot, typed)
    card = answer(harness)
    assert card.reasoning is not None
    assert not card.reasoning.is_open
    assert marked(harness) == [words]
    qtbot.waitUntil(lambda: in_sight(harness), timeout=GENEROUS_MS)
    harness.close()


def test_results_show_words_and_open_where_they_are_written(harness: AppHarness, qtbot: QtBot) -> None:
    search(harness, qtbot, "quok")
    shown = ["".join(text for text, _ in hit.parts) for hit in harness.window.sidebar.results.hits]
    assert "A quokka is small." in shown[0]
    assert "*" not in shown[0]
    assert [text for text, found in harness.window.sidebar.results.hits[0].parts if found] == ["quokka"]
    assert marked(harness) == ["quokka"]
    harness.close()


def test_a_question_is_marked_and_the_marks_go_with_the_search(harness: AppHarness, qtbot: QtBot) -> None:
    search(harness, qtbot, "animal")
    assert marked(harness) == ["animal"]
    assert any(
        isinstance(card, UserCard) and card.parts[0].view.extraSelections() for card in harness.window.transcript.cards
    )
    qtbot.keyClick(harness.window.sidebar.results, Qt.Key.Key_Escape)
    assert marked(harness) == []
    harness.close()
