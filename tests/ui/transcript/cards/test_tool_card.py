"""Tests the card of a tool call, also with a result that is too long to show."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from app.core.domain.tools.calls import UNREADABLE, CallStatus, StoredCall
from ui.theme.theme import Theme
from ui.transcript.cards.tool_card import MAX_LINES, ToolCard

CALL = StoredCall("a", "read", "files", '{"path": "notes.txt"}', CallStatus.DONE)


@pytest.mark.parametrize("num_lines", [MAX_LINES, 200_000])
def test_the_details_show_so_many_lines_of_a_result(theme: Theme, qtbot: QtBot, num_lines: int) -> None:
    text = "\n" * (num_lines - 1)
    card = ToolCard(theme, MessageView(1, "tool", text, call=CALL))
    qtbot.addWidget(card)
    card.set_open(True)
    assert card.details is not None
    shown = card.details.toPlainText()
    assert ("more lines are not shown" in shown) == (num_lines > MAX_LINES)
    if num_lines > MAX_LINES:
        assert shown.endswith("\n190,000 more lines are not shown here. Copy the result to have them all.")
    assert card.details.blockCount() < MAX_LINES + 10
    assert card.text == text  # this text is copied


def test_a_card_names_its_tool_once(theme: Theme, qtbot: QtBot) -> None:
    card = ToolCard(theme, MessageView(1, "tool", "", call=CALL))
    qtbot.addWidget(card)
    assert (card.author.text(), card.server.text()) == ("read", "files")
    card.show_call(MessageView(1, "tool", "", call=replace(CALL, title="Read a file")))
    assert (card.author.text(), card.server.text()) == ("Read a file", "files · read")
    card.show_call(MessageView(1, "tool", "", call=replace(CALL, server="")))
    assert card.server.isHidden()


@pytest.mark.parametrize(
    ("call", "title", "shown"),
    [
        (
            StoredCall("a", UNREADABLE, "", "add it", CallStatus.FAILED),
            "Tool call",
            "This call was not run: it is not valid",
        ),
        (
            StoredCall("a", "subtract", "", "{}", CallStatus.FAILED),
            "subtract",
            "This call was not run: it is not valid",
        ),
        (replace(CALL, status=CallStatus.REFUSED), "read", ""),
        (replace(CALL, status=CallStatus.FAILED), "read", "Write it again"),
    ],
)
def test_what_the_model_is_told_is_not_shown_as_a_result(
    theme: Theme, qtbot: QtBot, call: StoredCall, title: str, shown: str
) -> None:
    card = ToolCard(theme, MessageView(1, "tool", "Write it again.", call=call))
    qtbot.addWidget(card)
    assert card.author.text() == title
    assert card.preview.text().startswith(shown)
    assert bool(card.preview.text()) == bool(shown)
    card.set_open(True)
    assert card.details is not None
    heading = "Result" if call.server and call.status is CallStatus.FAILED else "Sent to the model"
    assert card.details.toPlainText().endswith(f"{heading}\nWrite it again.")
