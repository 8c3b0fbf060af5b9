"""The statistics below an answer: all are readable beside the buttons, each with its explanation."""

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState, MessageView
from tests.run_stats import PACED
from ui.transcript.cards.answer_card import AnswerCard
from ui.window.main_window import MainWindow

LONG_NAME = "DeepSeek-R1-Distill-Qwen-14B-Instruct-abliterated-Q4_K_M"
FIGURES = (
    "41.2 tok/s · 2.7 tokens per pass · 1.62× faster · 352 drafted, 70% accepted · auto · "
    "388 tokens, the first after 213 ms"
)


def shown(window: MainWindow, view: MessageView) -> AnswerCard:
    """The card of an answer that follows a question, shown in a window."""
    window.show_conversation("t", [MessageView(1, "user", "A question"), view])
    card = window.transcript.last_answer()
    assert card is not None
    return card


@pytest.mark.parametrize("width", [1280, 640])
@pytest.mark.parametrize("size", ["normal", "largest"])
def test_figures_stay_readable_beside_versions_and_buttons(
    window: MainWindow, qtbot: QtBot, width: int, size: str
) -> None:
    view = MessageView(
        7,
        "assistant",
        "Cut short",
        stats=PACED,
        target=LONG_NAME,
        versions=(6, 7, 8),
        state=MessageState.STOPPED,
    )
    window.set_text_size(size)
    window.resize(width, 700)
    card = shown(window, view)
    figures = card.figures
    qtbot.waitUntil(lambda: figures.width() > 100 and figures.height() >= figures.heightForWidth(figures.width()))
    before = figures.geometry(), card.height()
    card.set_revealed(True)  # the menu button appears
    window.transcript.lay_out()
    QApplication.processEvents()
    assert (figures.geometry(), card.height()) == before
    parts = [card.versions, figures, card.copy_button, card.regenerate_button, card.more_button, card.continue_button]
    places = [QRect(part.mapTo(card, QPoint(0, 0)), part.size()) for part in parts if part is not None]
    assert len(places) == len(parts)
    assert not any(one.intersects(other) for one in places for other in places if one is not other)
    assert all(card.rect().contains(place) for place in places)
    assert figures.text() == figures.accessibleName() == FIGURES
    for words in ("24.2 to 26.7 tok/s, estimated", "from the end of reading the prompt", "How tokens were proposed"):
        assert words in " ".join(figures.toolTip().split())
    assert card.width() <= window.transcript.viewport().width()


def test_an_answer_is_labelled_with_the_model_that_wrote_it(window: MainWindow) -> None:
    answers = [MessageView(2, "assistant", "One", target="Qwen3-4B-Q4_K_M"), MessageView(4, "assistant", "Two")]
    window.show_conversation("t", [MessageView(1, "user", "A"), answers[0], MessageView(3, "user", "B"), answers[1]])
    cards = [card for card in window.transcript.cards if isinstance(card, AnswerCard)]
    assert [card.author.text() for card in cards] == ["Qwen3-4B-Q4_K_M", "Paceline"]
    assert cards[0].accessibleName() == "Message from Qwen3-4B-Q4_K_M"


def test_an_answer_keeps_the_name_of_the_model_that_ended_it(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(1, "user", "A")])
    window.begin_answer(MessageView(2, "assistant", "", MessageState.STREAMING))
    card = window.transcript.last_answer()
    assert card is not None
    assert card.author.text() == "tiny"
    window.finish_answer(MessageView(2, "assistant", "x", stats=PACED, target="another"))
    assert card.author.text() == "another"
