"""Extremely long messages: shown in part; copied, sent and attached as a whole."""

import pytest
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QTextOption
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from ui.composer.message_edit import HUGE_LINE_CHARS
from ui.theme.theme import Theme
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.cards.user_card import LINE_CHARS, MAX_CHARS, UserCard, shown_text
from ui.window.main_window import MainWindow


@pytest.mark.parametrize("text", ["a" * 4_000_000, "line\n" * 800_000], ids=["run", "lines"])
def test_a_message_of_millions_of_characters_is_shown_in_part(theme: Theme, qtbot: QtBot, text: str) -> None:
    card = UserCard(theme, MessageView(1, "user", text), 700)
    qtbot.addWidget(card)
    assert len(card.parts[0].view.toPlainText()) < 1_000
    card.set_open(True)
    shown = card.parts[0].view.toPlainText()
    assert len(shown) < 2 * MAX_CHARS
    assert "200,000" in shown
    assert max(map(len, shown.split("\n"))) <= LINE_CHARS
    assert card.text == text


def test_ordinary_messages_are_shown_as_they_are() -> None:
    text = "two\n\nparagraphs " + "and a long line " * 300
    assert shown_text(text) == text
    assert shown_text("") == ""
    assert shown_text("a" * (LINE_CHARS + 1)).replace("\n", "") == "a" * (LINE_CHARS + 1)


def test_a_pasted_line_of_a_hundred_thousand_letters_becomes_an_attachment(window: MainWindow) -> None:
    offered: list[str] = []
    window.composer.text_offered.connect(offered.append)
    mime = QMimeData()
    mime.setText("words\n" + "a" * (HUGE_LINE_CHARS + 1))
    window.composer.edit.insertFromMimeData(mime)
    assert offered == [mime.text()]
    assert window.composer.text == ""


def test_a_word_of_a_hundred_thousand_letters_is_broken_anywhere(theme: Theme, qtbot: QtBot) -> None:
    text = "x" * 100_000
    whole, grown = ProseView(theme), ProseView(theme)
    for view in (whole, grown):
        qtbot.addWidget(view)
        view.resize(600, 10)
        view.fit(600)
    whole.set_html(f"<p>{text}</p>\n")
    grown.set_html(f"<p>{text[:900]}</p>\n")
    assert grown.wordWrapMode() == QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
    assert grown.set_html(f"<p>{text}</p>\n", text[900:]) == 0
    for view in (whole, grown):  # Qt searches for the end of a word from every line on, which takes seconds
        assert view.wordWrapMode() == QTextOption.WrapMode.WrapAnywhere
        assert view.toPlainText().rstrip() == text
    assert grown.height() == whole.height()
