"""Tests the pass of a token by keyboard: the caret moves through the texts, and a key shows the pass."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QTextBrowser, QTextEdit, QToolTip
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from engine.records import Source, TokenSpan
from tests.ui.transcript.marks.test_pass_tip import RAW, SPANS, STATS
from ui.transcript import keys
from ui.transcript.selection import views_of
from ui.window.main_window import MainWindow

CODE = "First words.\n\n```python\none = 1\ntwo = 2\n```\n\nLast words."
CODE_SPANS = (TokenSpan(12, Source.DRAFT), TokenSpan(len(CODE) - 12, Source.RECOVERED, " odd"))
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> MainWindow:
    QToolTip.hideText()
    views = [
        MessageView(1, "user", "ConfirmDialog"),
        MessageView(2, "assistant", CODE, stats=STATS, spans=CODE_SPANS),
        MessageView(3, "user", "Another"),
        MessageView(4, "assistant", RAW, stats=STATS, spans=SPANS),
    ]
    window.show_conversation("Title", views)
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=30_000)
    qtbot.waitUntil(lambda: all(views_of(card) for card in window.transcript.cards), timeout=30_000)
    return window


def texts(page: MainWindow) -> list[QTextEdit | QPlainTextEdit]:
    """The texts of the page: question, words, code, words, question, words."""
    return [text for card in page.transcript.cards for text in views_of(card)]


def focused() -> QTextEdit | QPlainTextEdit:
    focus = QApplication.focusWidget()
    assert isinstance(focus, QTextEdit | QPlainTextEdit)
    return focus


def press(qtbot: QtBot, key: Qt.Key, times: int = 1) -> None:
    for _ in range(times):
        focus = QApplication.focusWidget()
        assert focus is not None
        qtbot.keyClick(focus, key)


def test_a_key_tells_the_pass_at_the_caret_and_goes_along(page: MainWindow, qtbot: QtBot) -> None:
    answer = texts(page)[-1]
    answer.setFocus(Qt.FocusReason.TabFocusReason)
    press(qtbot, Qt.Key.Key_Right, 4)
    assert answer.textCursor().position() == 4
    qtbot.keyClick(answer, Qt.Key.Key_I, CTRL)
    qtbot.waitUntil(lambda: "target 62%" in QToolTip.text(), timeout=30_000)
    press(qtbot, Qt.Key.Key_Right, 8)  # into the next pass
    assert "nothing was proposed" in QToolTip.text()
    assert QToolTip.isVisible()
    qtbot.keyClick(answer, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not QToolTip.isVisible(), timeout=30_000)
    press(qtbot, Qt.Key.Key_Left, 8)
    assert not QToolTip.isVisible()


def test_from_the_message_the_key_goes_to_the_last_answer(page: MainWindow, qtbot: QtBot) -> None:
    assert page.composer.edit.hasFocus()
    qtbot.keyClick(page.composer.edit, Qt.Key.Key_I, CTRL)
    assert focused() is texts(page)[-1]
    qtbot.waitUntil(lambda: "target 62%" in QToolTip.text(), timeout=30_000)


def test_escape_stops_nothing_while_a_pass_is_reported(page: MainWindow, qtbot: QtBot) -> None:
    page.begin_answer(MessageView(5, "assistant", "More", state=MessageView(5, "assistant", "").state))
    page.composer.set_streaming(True)
    qtbot.keyClick(page.composer.edit, Qt.Key.Key_I, CTRL)
    qtbot.waitUntil(QToolTip.isVisible, timeout=30_000)
    with qtbot.assertNotEmitted(page.composer.stop_requested):
        qtbot.keyClick(focused(), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not QToolTip.isVisible(), timeout=30_000)
    with qtbot.waitSignal(page.composer.stop_requested, timeout=30_000):
        qtbot.keyClick(focused(), Qt.Key.Key_Escape)


def test_screen_readers_hear_each_pass_once(page: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def hear(event: QAccessibleAnnouncementEvent) -> None:
        said.append(event.message())

    monkeypatch.setattr(keys.QAccessible, "updateAccessibility", hear)
    qtbot.keyClick(page.composer.edit, Qt.Key.Key_I, CTRL)
    press(qtbot, Qt.Key.Key_Right, 5)  # within the same pass
    assert len(said) == 1
    assert "The: accepted, target 62%, draft 71%." in said[0]
    press(qtbot, Qt.Key.Key_Right, 8)
    assert len(said) == 2


def test_where_nothing_is_noted_it_says_so(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("Title", [MessageView(1, "user", "Q"), MessageView(2, "assistant", "Imported words.")])
    qtbot.waitUntil(lambda: len(window.transcript.cards) == 2, timeout=30_000)
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_I, CTRL)
    qtbot.waitUntil(lambda: QToolTip.text() == "No pass is recorded here.", timeout=30_000)


def test_arrow_keys_walk_through_the_whole_chat(page: MainWindow, qtbot: QtBot) -> None:
    all_texts = texts(page)
    assert [isinstance(text, QPlainTextEdit) for text in all_texts] == [False, False, True, False, False, False]
    all_texts[0].setFocus(Qt.FocusReason.TabFocusReason)
    seen = [focused()]
    for _ in range(6):
        press(qtbot, Qt.Key.Key_Down)
        if focused() is not seen[-1]:
            seen.append(focused())
    assert seen == all_texts
    press(qtbot, Qt.Key.Key_Left, focused().textCursor().position() + 1)
    assert focused() is all_texts[-2]
    assert focused().textCursor().atEnd()
    press(qtbot, Qt.Key.Key_Up, 2)
    assert focused() is all_texts[2]  # the code, on its last line
    assert focused().textCursor().block().text() == "two = 2"
    qtbot.keyClick(focused(), Qt.Key.Key_I, CTRL)
    qtbot.waitUntil(lambda: "odd" in QToolTip.text(), timeout=30_000)


def test_shift_selects_and_goes_on_into_the_next_text(page: MainWindow, qtbot: QtBot) -> None:
    words = texts(page)[1]
    words.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(5):
        qtbot.keyClick(words, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert words.textCursor().selectedText() == "First"
    qtbot.keyClick(words, Qt.Key.Key_C, CTRL)
    assert QApplication.clipboard().text() == "First"
    qtbot.keyClick(words, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert focused() is texts(page)[2]
    qtbot.keyClick(focused(), Qt.Key.Key_C, CTRL)
    assert QApplication.clipboard().text().startswith("First words.\n\non")
    qtbot.keyClick(focused(), Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: not page.transcript.selection)
    assert not words.textCursor().hasSelection()


def test_the_caret_stays_in_sight(window: MainWindow, qtbot: QtBot) -> None:
    long = "\n\n".join(f"Paragraph {number}." for number in range(80))
    window.show_conversation("Title", [MessageView(1, "user", "Q"), MessageView(2, "assistant", long, stats=STATS)])
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=30_000)
    first = texts(window)[1]
    first.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(40):
        press(qtbot, Qt.Key.Key_Down)
    view = focused()
    assert isinstance(view, QTextBrowser)

    def in_sight() -> bool:
        place = view.viewport().mapTo(window.transcript.viewport(), view.cursorRect().center())
        return window.transcript.viewport().rect().contains(place)

    qtbot.waitUntil(in_sight, timeout=30_000)
    assert "Paragraph" in view.textCursor().block().text()
