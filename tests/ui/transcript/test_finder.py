"""Tests search in the open chat with real keys: in long chats, folded reasoning, code, and despite Markdown marks."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from ui.transcript import finder
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.finder import FindBar
from ui.transcript.found_words import CURRENT_PROPERTY, FOUND_PROPERTY
from ui.window.main_window import MainWindow

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
THOUGHT = "<think>\nA heron, surely.\n</think>\n\nThe bird is **her**on-like: a `heron`.\n\n```python\nheron = 1\n```\n"


def long_chat(num: int = 120) -> list[MessageView]:
    """Many messages; the first, a middle one and the last contain the word."""
    views = []
    for number in range(num):
        text = f"Message {number}.\n\n" + "Some words that fill the page. " * 12
        if number in (0, num // 2, num - 1):
            text += " A Kingfisher dives."
        views.append(MessageView(number + 1, "user" if number % 2 == 0 else "assistant", text))
    return views


def find(window: MainWindow, qtbot: QtBot, text: str, number: str) -> FindBar:
    """Type into the search bar, and wait for its number."""
    QTest.keyClick(window.composer.edit, Qt.Key.Key_F, CTRL)
    bar = window.find_bar
    assert bar.edit.hasFocus()
    QTest.keyClicks(bar.edit, text)
    qtbot.waitUntil(lambda: bar.number.text() == number)
    return bar


def found_in(view: QTextEdit | QPlainTextEdit) -> list[str]:
    """The marked texts of a view."""
    return [one.cursor.selectedText() for one in view.extraSelections() if one.format.hasProperty(FOUND_PROPERTY)]


def current(window: MainWindow) -> tuple[int, QTextEdit | QPlainTextEdit, str] | None:
    """The message, view and text of the current match; None if no match is visible."""
    port = window.transcript.viewport()
    for card in window.transcript.cards:
        for view in (*card.findChildren(QTextEdit), *card.findChildren(QPlainTextEdit)):
            found = [one for one in view.extraSelections() if one.format.hasProperty(CURRENT_PROPERTY)]
            places = [view.viewport().mapTo(port, view.cursorRect(one.cursor).center()) for one in found]
            if any(port.rect().contains(place) for place in places):
                return card.message_id, view, found[0].cursor.selectedText()
    return None


def test_enter_and_f3_walk_through_a_long_chat_and_around_its_ends(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", long_chat())
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    bar = find(window, qtbot, "KINGFISHER", "3 of 3")  # the page is at its end
    qtbot.waitUntil(lambda: (current(window) or ())[::2] == (120, "Kingfisher"))
    for key, modifier, number, message in (
        (Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "1 of 3", 1),
        (Qt.Key.Key_F3, Qt.KeyboardModifier.NoModifier, "2 of 3", 61),
        (Qt.Key.Key_Return, SHIFT, "1 of 3", 1),
        (Qt.Key.Key_F3, SHIFT, "3 of 3", 120),
    ):
        QTest.keyClick(bar.edit, key, modifier)
        qtbot.waitUntil(lambda number=number: bar.number.text() == number)

        qtbot.waitUntil(lambda message=message: (current(window) or ())[::2] == (message, "Kingfisher"))
    QTest.keyClick(bar.edit, Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert window.composer.edit.hasFocus()
    assert current(window) is None
    assert not any(found_in(view) for view in window.transcript.findChildren(QTextEdit))


def test_reasoning_markdown_and_code_are_searched_as_shown(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(1, "user", "Which bird?"), MessageView(2, "assistant", THOUGHT)])
    card = next(card for card in window.transcript.cards if isinstance(card, AnswerCard))
    assert card.reasoning is not None
    assert not card.reasoning.is_open
    bar = find(window, qtbot, "heron", "1 of 4")
    qtbot.waitUntil(lambda: current(window) is not None)
    assert card.reasoning.is_open
    seen = []
    for _ in range(4):
        shown = current(window)
        assert shown is not None
        seen.append((card.reasoning.isAncestorOf(shown[1]), isinstance(shown[1], QPlainTextEdit)))
        QTest.mouseClick(bar.next_button, Qt.MouseButton.LeftButton)
    assert seen == [(True, False), (False, False), (False, False), (False, True)]


def test_a_message_that_comes_while_the_chat_is_read_is_read_too(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.show_conversation("t", long_chat(6))
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    monkeypatch.setattr(finder, "SLICE_S", -1.0)  # one message per event loop iteration
    told: list[tuple[int, int]] = []
    window.find_bar.finder.changed.connect(lambda current, num: told.append((current, num)))
    window.find_bar.finder.search("kingfisher")
    assert told == [(0, -1)]
    window.transcript.add(MessageView(7, "user", "Another kingfisher."))
    qtbot.waitUntil(lambda: told[-1][1] == 4)


@pytest.mark.parametrize("text", ["(unclosed", "a\\b", "*", "[x"])
def test_what_is_typed_is_no_pattern(window: MainWindow, qtbot: QtBot, text: str) -> None:
    window.show_conversation("t", [MessageView(1, "user", f"before {text} after")])
    find(window, qtbot, text, "1 of 1")
    (card,) = window.transcript.cards
    assert [words for view in card.findChildren(QTextEdit) for words in found_in(view)] == [text]


def test_nothing_found_says_so_and_another_chat_closes_the_bar(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", long_chat(6))
    bar = find(window, qtbot, "zebra", "Nothing found")
    assert not bar.next_button.isEnabled()
    window.show_conversation("u", long_chat(4))
    assert bar.isHidden()
    QTest.keyClick(window.composer.edit, Qt.Key.Key_F3)  # opens the bar again with the last search text
    assert bar.isVisible()
    assert bar.edit.text() == "zebra"
