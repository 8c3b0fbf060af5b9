"""Tests reasoning in the transcript: folded, opened by click and key, with its duration, excluded from copies."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState, MessageView
from engine.records import Source, TokenSpan
from tests.ui.conftest import STATS
from tests.ui.transcript.marks.shown_marks import shown_marks
from ui.theme.theme import Theme
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.body import AnswerBody
from ui.transcript.cards.reasoning_block import ReasoningBlock
from ui.transcript.message_menus import make_menu
from ui.window.main_window import MainWindow

TEXT = "<think>\nLet me **see**.\n\n- one\n- two\n</think>\n\nIt is *4*."
EMPTY = MessageView(2, "assistant", "", MessageState.STREAMING)


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def block(theme: Theme, qtbot: QtBot, clock: Clock) -> ReasoningBlock:
    result = ReasoningBlock(theme, 400, clock)
    qtbot.addWidget(result)
    result.resize(500, 300)
    result.show()
    return result


def shown(block: ReasoningBlock) -> str:
    assert block.body is not None
    return plain(block.body)


def plain(body: AnswerBody) -> str:
    views = [getattr(part, "view", part) for part in body.segments]
    return "\n".join(view.toPlainText().rstrip() for view in views)


def test_the_heading_counts_while_it_lasts_and_keeps_the_duration(block: ReasoningBlock, clock: Clock) -> None:
    block.set_text("Let", 7, live=True)
    assert block.heading == "Thinking…"
    clock.now_s += 4.2
    block.set_text("Let me", 7, live=True)
    assert block.header.text() == "Thinking… 4 s"
    block.set_text("Let me", 7, live=False)
    assert block.header.text() == "Thought for 4.2 s"
    assert block.header.accessibleName() == "Reasoning. Thought for 4.2 s, folded"
    block.set_duration(5_300)
    assert block.header.text() == "Thought for 5.3 s"


def test_nothing_is_laid_out_while_it_is_folded(block: ReasoningBlock, qtbot: QtBot) -> None:
    for end in range(1, 20):
        block.set_text("Let me see this now."[:end], 7, live=True)
    assert block.body is None
    qtbot.mouseClick(block.header, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: shown(block) == "Let me see this now")
    block.set_text("Let me see this now. Yes", 7, live=True)
    assert shown(block) == "Let me see this now. Yes"
    block.set_text("Let me see this now. Yes", 7, live=False)
    assert shown(block) == "Let me see this now. Yes"


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_it_is_opened_and_folded_by_key(block: ReasoningBlock, qtbot: QtBot, key: Qt.Key) -> None:
    block.set_text("Let me see.", 7, live=False)
    block.header.setFocus()
    qtbot.keyClick(block.header, key)
    assert block.is_open
    assert block._frame.isVisible()
    qtbot.waitUntil(lambda: shown(block) == "Let me see.")  # built in slices
    qtbot.keyClick(block.header, key)
    assert not block._frame.isVisible()


def test_reasoning_that_is_open_streams_like_it_is_at_the_end(theme: Theme, qtbot: QtBot, clock: Clock) -> None:
    text = "Some **bold**.\n\n```py\nx = 1\n```\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\nend"
    grown, whole = ReasoningBlock(theme, 400, clock), ReasoningBlock(theme, 400, clock)
    for each in (grown, whole):
        qtbot.addWidget(each)
    grown.set_open(True)
    for end in range(1, len(text) + 1):
        grown.set_text(text[:end], 7, live=True)
    grown.set_text(text, 7, live=False)
    whole.set_text(text, 7, live=False)
    whole.set_open(True)
    qtbot.waitUntil(lambda: shown(grown) == shown(whole), timeout=30_000)


def stream(window: MainWindow, text: str = TEXT, step: int = 3) -> AnswerCard:
    window.begin_answer(EMPTY)
    for start in range(0, len(text), step):
        piece = text[start : start + step]
        window.transcript.append_text(piece, (TokenSpan(len(piece), Source.DRAFT if start % 2 else Source.BONUS),))
    card = window.transcript.last_answer()
    assert card is not None
    return card


def words(card: AnswerCard) -> str:
    return plain(card.body)


def test_a_streaming_answer_folds_its_reasoning(window: MainWindow) -> None:
    card = stream(window)
    assert card.reasoning is not None
    assert card.reasoning.text == "Let me **see**.\n\n- one\n- two"
    assert words(card) == "It is 4."
    window.finish_answer(MessageView(2, "assistant", TEXT, stats=STATS, thinking_ms=4_200))
    assert card.reasoning.header.text() == "Thought for 4.2 s"
    assert words(card) == "It is 4."


def test_an_answer_that_began_inside_its_reasoning_is_put_right(window: MainWindow) -> None:
    text = TEXT.removeprefix("<think>\n")
    card = stream(window, text)
    assert card.reasoning is not None
    assert card.reasoning.text == "Let me **see**.\n\n- one\n- two"
    assert words(card) == "It is 4."


def test_a_stored_answer_opens_by_click_and_stays_in_its_place(window: MainWindow, qtbot: QtBot) -> None:
    view = MessageView(2, "assistant", TEXT, stats=STATS, thinking_ms=4_200)
    window.show_conversation("t", [MessageView(1, "user", "q"), view])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    card = window.transcript.last_answer()
    assert card is not None
    assert card.reasoning is not None
    assert card.reasoning.header.text() == "Thought for 4.2 s"
    assert card.reasoning.body is None
    before = card.reasoning.header.mapTo(window, card.reasoning.header.rect().topLeft())
    qtbot.mouseClick(card.reasoning.header, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: card.reasoning is not None and "see" in shown(card.reasoning))
    assert card.reasoning.header.mapTo(window, card.reasoning.header.rect().topLeft()) == before


def test_reasoning_is_copied_only_where_it_is_asked_for(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(2, "assistant", TEXT, stats=STATS, thinking_ms=4_200)])
    card = window.transcript.last_answer()
    assert card is not None
    qtbot.mouseClick(card.copy_button, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == "It is *4*."
    menu = make_menu(card)
    menu.show()
    for label, copied in (
        ("Copy as text", "It is 4."),
        ("Copy as Markdown", "It is *4*."),
        ("Copy with reasoning", "> Thought for 4.2 s\n>\n> Let me **see**.\n>\n> - one\n> - two\n\nIt is *4*."),
    ):
        action = next(each for each in menu.actions() if each.text() == label)
        qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
        assert QApplication.clipboard().text() == copied
        menu.show()
    menu.close()


def test_marks_fall_on_reasoning_and_words(window: MainWindow, qtbot: QtBot) -> None:
    spans = (
        TokenSpan(8, Source.TARGET),
        TokenSpan(3, Source.DRAFT),
        TokenSpan(len(TEXT) - 20, Source.BONUS),
        TokenSpan(5, Source.BONUS),
        TokenSpan(4, Source.DRAFT),
    )
    assert sum(span.num_chars for span in spans) == len(TEXT)
    window.show_conversation("t", [MessageView(2, "assistant", TEXT, stats=STATS, spans=spans)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    card = window.transcript.last_answer()
    assert card is not None
    assert card.reasoning is not None
    window.transcript.mark_sources(frozenset({Source.DRAFT}))
    qtbot.mouseClick(card.reasoning.header, Qt.MouseButton.LeftButton)
    assert card.reasoning.body is not None
    qtbot.waitUntil(
        lambda: card.reasoning is not None and card.reasoning.body is not None and bool(card.reasoning.body.segments)
    )
    for body, marked in ((card.reasoning.body, "Let"), (card.body, "4.")):
        found = [item.words.strip() for part in body.segments for item in shown_marks(part)]  # type: ignore[arg-type]
        assert found == [marked]


def test_reasoning_opened_while_it_grows_is_marked_and_ends_the_same(window: MainWindow, qtbot: QtBot) -> None:
    window.transcript.mark_sources(frozenset({Source.DRAFT}))
    window.begin_answer(EMPTY)
    card = window.transcript.last_answer()
    assert card is not None
    for start in range(0, len(TEXT), 4):
        piece = TEXT[start : start + 4]
        window.transcript.append_text(piece, (TokenSpan(len(piece), Source.DRAFT if start % 8 else Source.BONUS),))
        if card.reasoning is not None and not card.reasoning.is_open:
            qtbot.mouseClick(card.reasoning.header, Qt.MouseButton.LeftButton)
    window.finish_answer(MessageView(2, "assistant", TEXT, stats=STATS))
    assert card.reasoning is not None
    grown = marks_of(card)
    assert len(grown) > 2
    assert shown(card.reasoning) == "Let me see.\none\ntwo"
    window.show_conversation("t", [MessageView(2, "assistant", TEXT, stats=STATS, spans=SPANS)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    stored = window.transcript.last_answer()
    assert stored is not None
    assert stored is not card
    assert stored.reasoning is not None
    qtbot.mouseClick(stored.reasoning.header, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: marks_of(stored) == grown)


SPANS = tuple(
    TokenSpan(len(TEXT[start : start + 4]), Source.DRAFT if start % 8 else Source.BONUS)
    for start in range(0, len(TEXT), 4)
)


def marks_of(card: AnswerCard) -> list[tuple[int, str]]:
    """The marked words of the reasoning with their positions."""
    if card.reasoning is None or card.reasoning.body is None:
        return []
    return [(item.start, item.words) for part in card.reasoning.body.segments for item in shown_marks(part)]  # type: ignore[arg-type]
