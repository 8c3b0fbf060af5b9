"""The statistics below an answer: all are readable beside the buttons, each with its explanation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QSize
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState, MessageView
from tests.run_stats import DRAFTED, PACED
from ui.transcript.cards.action_bar import BUTTON_PX
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


def is_within(card: AnswerCard) -> bool:
    """Whether the bottom of the card is fully visible and without overlaps."""
    parts = [card.versions, card.figures, card.copy_button, card.regenerate_button, card.more_button]
    places = [
        part.rect().translated(part.mapTo(card, QPoint(0, 0)))
        for part in (*parts, card.continue_button)
        if part is not None and part.isVisible()
    ]
    apart = not any(one.intersects(other) for one in places for other in places if one is not other)
    return apart and all(card.rect().contains(place) for place in places)


@pytest.mark.parametrize("width", [1280, 1000, 640])
@pytest.mark.parametrize("size", ["normal", "largest"])
def test_figures_stay_readable_beside_all_that_can_stand_there(
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
    card.set_revealed(True)
    figures = card.figures

    def fits() -> bool:
        lines = figures.text().split("\n")
        widest = max(figures.fontMetrics().horizontalAdvance(line) for line in lines)
        return widest <= figures.width() and figures.height() >= len(lines) * figures.fontMetrics().height()

    qtbot.waitUntil(lambda: fits() and is_within(card))
    assert figures.text().replace("\n", " · ") == FIGURES
    assert card.author.text() == LONG_NAME
    assert card.width() <= window.transcript.viewport().width()


def test_buttons_that_come_with_the_pointer_move_no_figure(window: MainWindow, qtbot: QtBot) -> None:
    card = shown(window, MessageView(7, "assistant", "The answer", stats=PACED, target=LONG_NAME))
    qtbot.waitUntil(lambda: card.figures.width() > 100)
    before = card.figures.text(), card.figures.geometry(), card.height()
    card.set_revealed(True)
    window.transcript.lay_out()
    QApplication.processEvents()
    assert card.more_button.isVisible()
    assert card.more_button.size() == QSize(BUTTON_PX, BUTTON_PX)
    assert (card.figures.text(), card.figures.geometry(), card.height()) == before


def test_a_card_has_its_height_before_it_is_laid_out(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(640, 700)
    view = MessageView(7, "assistant", "The answer", stats=PACED, target=LONG_NAME)
    card = shown(window, view)
    qtbot.waitUntil(lambda: "\n" in card.figures.text())
    fresh = AnswerCard(window.theme, view, card.body.width())
    qtbot.addWidget(fresh)
    assert fresh.figures.text() == card.figures.text()


def test_where_there_is_room_all_figures_stand_on_one_line(
    window: MainWindow,
) -> None:
    stats = replace(DRAFTED, plain_ms=39.3)
    window.resize(1280, 800)
    card = shown(window, MessageView(7, "assistant", "The answer", stats=stats, target="Qwen3-4B-Q4_K_M"))
    figures = card.figures
    whole = (
        "41.2 tok/s · 2.7 tokens per pass · 1.62× faster · 210 drafted, 68% accepted · draft · "
        "388 tokens, the first after 213 ms"
    )
    assert figures.whole_text == figures.accessibleName() == whole
    wide = figures.fontMetrics().horizontalAdvance(whole)
    figures.wrap(wide + 2)
    assert figures.text() == whole


def test_each_figure_tells_how_it_was_measured_on_whichever_line_it_stands(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, _widget: told.append(" ".join(text.split())))
    figures = shown(window, MessageView(7, "assistant", "The answer", stats=PACED, target=LONG_NAME)).figures

    def hover(words: str) -> str:
        lines = figures.text().split("\n")
        number = next(index for index, line in enumerate(lines) if words in line)
        metrics = figures.fontMetrics()
        x = metrics.horizontalAdvance(lines[number][: lines[number].index(words)]) + 4
        high = metrics.lineSpacing()
        top = (figures.height() - high * len(lines)) // 2
        place = QPoint(x, top + high * number + high // 2)
        QApplication.sendEvent(figures, QHelpEvent(QEvent.Type.ToolTip, place, figures.mapToGlobal(place)))
        return told[-1]

    for width, num_lines in ((2000, 1), (420, 2), (230, 4)):
        figures.setFixedWidth(width)
        figures.wrap(width)
        assert figures.text().count("\n") + 1 == num_lines
        assert "24.2 to 26.7 tok/s, estimated" in hover("1.62× faster")
        assert "from the end of reading the prompt" in hover("41.2 tok/s")
        assert "the target accepted" in hover("70%")
        assert "How tokens were proposed" in hover("auto")


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
