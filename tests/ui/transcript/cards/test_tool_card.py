"""The card of a call: what it was written with, and a result that is too long to be shown whole."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from app.core.domain.tools.calls import CallStatus, CallTokens, StoredCall
from ui.theme.theme import Theme
from ui.transcript.cards.tool_card import MOST_LINES, ToolCard, tokens_words

CALL = StoredCall("a", "read", "files", '{"path": "notes.txt"}', CallStatus.DONE)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (
            CallTokens(45, 21, 12, 24),
            "45 tokens in 24 passes; 21 of them were drafted and accepted, of which 12 were fixed",
        ),
        (CallTokens(45, 21, 0, 24), "45 tokens in 24 passes; 21 of them were drafted and accepted."),
        (CallTokens(1_045, 21), "Written with 1,045 tokens; 21 of them were drafted and accepted."),
    ],
)
def test_a_call_says_what_it_was_written_with(written: CallTokens, words: str) -> None:
    assert words in tokens_words(written)


@pytest.mark.parametrize("num_lines", [MOST_LINES, 200_000])
def test_the_details_show_so_many_lines_of_a_result(theme: Theme, qtbot: QtBot, num_lines: int) -> None:
    text = "\n" * (num_lines - 1)
    card = ToolCard(theme, MessageView(1, "tool", text, call=CALL))
    qtbot.addWidget(card)
    card.set_open(True)
    assert card.details is not None
    shown = card.details.toPlainText()
    assert ("more lines are not shown" in shown) == (num_lines > MOST_LINES)
    if num_lines > MOST_LINES:
        assert shown.endswith("\n190,000 more lines are not shown here. Copy the result to have them all.")
    assert card.details.blockCount() < MOST_LINES + 10
    assert card.text == text  # which is what is copied


def test_a_card_names_its_tool_once(theme: Theme, qtbot: QtBot) -> None:
    card = ToolCard(theme, MessageView(1, "tool", "", call=CALL))
    qtbot.addWidget(card)
    assert (card.author.text(), card.server.text()) == ("read", "files")
    card.show_call(MessageView(1, "tool", "", call=replace(CALL, title="Read a file")))
    assert (card.author.text(), card.server.text()) == ("Read a file", "files · read")
    card.show_call(MessageView(1, "tool", "", call=replace(CALL, server="")))
    assert card.server.isHidden()
