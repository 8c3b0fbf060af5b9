"""Tests a user message: shown as typed, in both reading directions."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from ui.theme.theme import Theme
from ui.transcript.cards.code_block import CodeView
from ui.transcript.cards.text_part import TextView
from ui.transcript.cards.user_card import UserCard
from ui.window.main_window import MainWindow


def view_of(card: UserCard) -> TextView:
    return card.parts[0].view


HEBREW = "שלום, מה שלומך?"


@pytest.mark.parametrize("text", [f"{HEBREW}\nSecond line", f"First line\n{HEBREW}", f"{HEBREW}\n{HEBREW}"])
def test_no_letter_is_cut_off_beside_lines_from_right_to_left(window: MainWindow, text: str, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(1, "user", text)])
    card = window.transcript.findChild(UserCard)
    assert card is not None
    qtbot.waitUntil(lambda: view_of(card).viewport().width() > 300)
    for key in (None, Qt.Key.Key_Left, Qt.Key.Key_Down, Qt.Key.Key_Right):
        if key is None:
            view_of(card).setFocus(Qt.FocusReason.TabFocusReason)
        else:
            qtbot.keyClick(view_of(card), key)
        assert view_of(card).horizontalScrollBar().value() == 0
    window.resize(900, 700)
    qtbot.waitUntil(lambda: view_of(card).viewport().width() <= 684)
    assert view_of(card).horizontalScrollBar().value() == 0


def test_who_wrote_it_is_read_on_every_card(window: MainWindow, qtbot: QtBot) -> None:
    name = "DeepSeek-R1-Distill-Qwen-14B-Instruct-Q4_K_M"
    window.show_conversation("t", [MessageView(1, "user", "A"), MessageView(2, "assistant", "B", target=name)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    for card, words in zip(window.transcript.cards, ("You", name), strict=True):
        assert card.author.text() == words
        qtbot.waitUntil(lambda card=card: not card.author.is_elided())


def test_fenced_code_is_a_block_and_all_else_stays_as_it_was_written(theme: Theme, qtbot: QtBot) -> None:
    text = "Why *this*?\n\n```py\nx = 1\n```\n    in\nthere"
    card = UserCard(theme, MessageView(1, "user", text), text_width=300)
    qtbot.addWidget(card)
    card.show()
    shown = [part.view.toPlainText() for part in card.parts]
    assert shown == ["Why *this*?", "x = 1", "    in\nthere"]
    assert isinstance(card.parts[1].view, CodeView)
    assert [text[part.offset_of(0)] for part in card.parts] == ["W", "x", " "]
    assert card.text == text
    card.begin_edit()
    assert not card.parts
    card.end_edit()
    assert len(card.parts) == 3


LONG = "\n".join(f"Line {number} of the question." for number in range(60))


def test_a_long_question_is_folded_and_copied_whole(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(1, "user", LONG), MessageView(2, "assistant", "An answer.")])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    card = window.transcript.cards[0]
    assert isinstance(card, UserCard)
    fold = next(each for each in card.findChildren(QPushButton) if each.text() == "Show all")
    assert "Line 9 of" in view_of(card).toPlainText()
    assert "Line 10 of" not in view_of(card).toPlainText()
    assert card.text == LONG
    low = card.height()
    qtbot.mouseClick(fold, Qt.MouseButton.LeftButton)
    assert fold.text() == "Show less"
    assert view_of(card).toPlainText() == LONG
    qtbot.waitUntil(lambda: card.height() > 3 * low)
    state = card.save_state()
    assert state is None or state.expanded
    qtbot.keyClick(fold, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: card.height() == low)


def test_words_in_the_folded_part_are_found(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(1, "user", LONG), MessageView(2, "assistant", "An answer.")])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    window.find_bar.open()
    qtbot.keyClicks(window.find_bar.edit, "Line 57")
    card = window.transcript.cards[0]
    assert isinstance(card, UserCard)
    qtbot.waitUntil(lambda: "Line 57" in view_of(card).toPlainText())


@pytest.mark.parametrize("text", ["short", "line\n" * 20, "x" * 2_000])
def test_a_question_of_usual_length_is_whole(window: MainWindow, text: str, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(1, "user", text), MessageView(2, "assistant", "An answer.")])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    card = window.transcript.cards[0]
    assert not [each for each in card.findChildren(QPushButton) if each.text() == "Show all"]
