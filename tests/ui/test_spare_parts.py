"""Parts are ready before the text that needs them."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from ui.answer_card import AnswerCard
from ui.code_block import CodeBlock
from ui.prose_view import ProseView
from ui.records import MessageState, MessageView
from ui.theme import Theme


def test_the_first_words_find_their_widget_ready(theme: Theme, qtbot: QtBot) -> None:
    card = AnswerCard(theme, MessageView(1, "assistant", "", MessageState.STREAMING), 600)
    qtbot.addWidget(card)
    card.show()
    qtbot.waitUntil(lambda: len(card.body.findChildren(ProseView)) == len(card.body.findChildren(CodeBlock)) == 1)
    ready = card.body.findChild(ProseView)
    card.append("Words.")
    assert card.body.segments == [ready]


def test_an_answer_without_words_leaves_none_behind(theme: Theme, qtbot: QtBot) -> None:
    card = AnswerCard(theme, MessageView(1, "assistant", "", MessageState.STREAMING), 600)
    qtbot.addWidget(card)
    qtbot.waitUntil(lambda: bool(card.body.findChildren(CodeBlock)))
    card.finish(MessageView(1, "assistant", "", MessageState.STOPPED))
    qtbot.waitUntil(lambda: not card.body.findChildren(ProseView) and not card.body.findChildren(CodeBlock))
