"""Tests prompts opened by a slash: the list while typing, placeholders, and the dialog that edits prompts."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from app.core.domain.settings.layers import SavedPrompt
from tests.ui.window.test_accessibility import nameless
from ui.composer.prompt_list import PromptList
from ui.settings.prompts_dialog import PromptsDialog
from ui.window.main_window import MainWindow

PROMPTS = (
    SavedPrompt("shorter", "Shorten this:\n\n{text}"),
    SavedPrompt("summarise", "😀 Sum up {text} in {number of words} words"),
    SavedPrompt("translate", "Into {language}: {text}"),
)


@pytest.fixture
def prompts(window: MainWindow) -> PromptList:
    window.chat_settings.set_prompts(PROMPTS)
    return window.chat_settings.prompt_list


@pytest.fixture
def edit(window: MainWindow, prompts: PromptList) -> QPlainTextEdit:
    return window.composer.edit


def selected(edit: QPlainTextEdit) -> str:
    return edit.textCursor().selectedText()


def test_a_slash_opens_the_list_and_typing_filters_it(prompts: PromptList, edit: QPlainTextEdit) -> None:
    QTest.keyClicks(edit, "/")
    assert prompts.isVisible()
    assert prompts.shown_prompts == ["shorter", "summarise", "translate"]
    QTest.keyClicks(edit, "s")
    assert prompts.shown_prompts == ["shorter", "summarise", "translate"]  # prefix matches, then other matches
    QTest.keyClicks(edit, "u")
    assert prompts.shown_prompts == ["summarise"]
    QTest.keyClicks(edit, "x")
    assert not prompts.isVisible()
    QTest.keyClick(edit, Qt.Key.Key_Backspace)
    assert prompts.isVisible()
    assert edit.hasFocus()
    assert nameless(prompts) == []


def test_the_list_stays_above_the_box_when_the_window_changes(
    window: MainWindow, prompts: PromptList, edit: QPlainTextEdit, qtbot: QtBot
) -> None:
    def stands_above() -> bool:
        corner = window.composer.mapTo(window, QPoint(0, 0))
        beside = (prompts.x(), prompts.width()) == (corner.x(), window.composer.width())
        return beside and prompts.geometry().bottom() < corner.y() <= prompts.geometry().bottom() + 12

    QTest.keyClicks(edit, "/")
    assert stands_above()
    window.resize(900, 600)
    qtbot.waitUntil(lambda: window.composer.mapTo(window, QPoint(0, 0)).y() < 600 and stands_above())
    window.layout_state.toggle_sidebar()
    qtbot.waitUntil(lambda: window.composer.mapTo(window, QPoint(0, 0)).x() < 200 and stands_above())
    assert prompts.isVisible()


@pytest.mark.parametrize("text", ["a/", " /", "/etc/passwd", "/s u", "a\n/"])
def test_other_texts_open_nothing(prompts: PromptList, edit: QPlainTextEdit, text: str) -> None:
    edit.insertPlainText(text)
    assert not prompts.isVisible()


def test_arrows_and_enter_insert_and_do_not_send(
    window: MainWindow, prompts: PromptList, edit: QPlainTextEdit, qtbot: QtBot
) -> None:
    sent: list[str] = []
    window.composer.submitted.connect(sent.append)
    QTest.keyClicks(edit, "/")
    for _ in range(3):
        QTest.keyClick(edit, Qt.Key.Key_Up)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.toPlainText() == PROMPTS[1].text
    assert not prompts.isVisible()
    assert sent == []


def test_words_in_braces_are_filled_in_turn(prompts: PromptList, edit: QPlainTextEdit, window: MainWindow) -> None:
    QTest.keyClicks(edit, "/sum")
    QTest.keyClick(edit, Qt.Key.Key_Tab)
    assert selected(edit) == "{text}"
    QTest.keyClick(edit, Qt.Key.Key_Tab)
    assert selected(edit) == "{number of words}"
    QTest.keyClick(edit, Qt.Key.Key_Backtab)
    assert selected(edit) == "{text}"
    QTest.keyClicks(edit, "this")
    QTest.keyClick(edit, Qt.Key.Key_Tab)
    QTest.keyClicks(edit, "3")
    assert edit.toPlainText() == "😀 Sum up this in 3 words"
    QTest.keyClick(edit, Qt.Key.Key_Tab)
    assert not edit.hasFocus()  # no placeholder is left: Tab leaves the box as usual


def test_braces_that_were_typed_do_not_hold_the_tab_key(prompts: PromptList, edit: QPlainTextEdit) -> None:
    QTest.keyClicks(edit, "f{x} {y}")
    edit.moveCursor(edit.textCursor().MoveOperation.Start)
    QTest.keyClick(edit, Qt.Key.Key_Tab)
    assert not edit.hasFocus()


def test_escape_closes_the_list_and_stops_no_answer(
    window: MainWindow, prompts: PromptList, edit: QPlainTextEdit
) -> None:
    stops: list[bool] = []
    window.composer.stop_requested.connect(lambda: stops.append(True))
    window.composer.set_streaming(True)
    QTest.keyClicks(edit, "/")
    QTest.keyClick(edit, Qt.Key.Key_Escape)
    assert not prompts.isVisible()
    assert edit.toPlainText() == "/"
    assert stops == []
    QTest.keyClick(edit, Qt.Key.Key_Escape)
    assert stops == [True]


def test_a_click_inserts_and_one_undo_takes_it_back(prompts: PromptList, edit: QPlainTextEdit) -> None:
    QTest.keyClicks(edit, "/")
    place = prompts.list.visualItemRect(prompts.list.item(2)).center()
    QTest.mouseClick(prompts.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert edit.toPlainText() == PROMPTS[2].text
    assert selected(edit) == "{language}"
    edit.undo()
    assert "Into" not in edit.toPlainText()


def test_without_prompts_the_dialog_can_be_opened(
    window: MainWindow, prompts: PromptList, edit: QPlainTextEdit
) -> None:
    window.chat_settings.set_prompts([])
    QTest.keyClicks(edit, "/")
    assert (prompts.isVisible(), prompts.shown_prompts) == (True, [])
    place = prompts.list.visualItemRect(prompts.list.item(0)).center()
    QTest.mouseClick(prompts.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert window.findChild(PromptsDialog) is not None


# ---- the dialog -------------------------------------------------------------------------------------------------


@pytest.fixture
def dialog(window: MainWindow, prompts: PromptList, edit: QPlainTextEdit) -> PromptsDialog:
    QTest.keyClicks(edit, "/")
    QTest.keyClick(edit, Qt.Key.Key_Up)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    result = window.findChild(PromptsDialog)
    assert isinstance(result, PromptsDialog)
    assert nameless(result) == []
    return result


def test_prompts_are_added_edited_and_deleted(window: MainWindow, dialog: PromptsDialog, qtbot: QtBot) -> None:
    dialog.list.setFocus()
    QTest.keyClick(dialog.list, Qt.Key.Key_Down)
    assert dialog.name_edit.text() == "summarise"
    QTest.mouseClick(dialog.delete_button, Qt.MouseButton.LeftButton)
    dialog.text_edit.setFocus()
    QTest.keyClicks(dialog.text_edit, "New. ")
    QTest.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    assert not dialog.save_button.isEnabled()
    assert dialog.complaint.text()
    QTest.keyClicks(dialog.name_edit, "/my own")
    QTest.keyClicks(dialog.text_edit, "Say {it}")
    assert dialog.save_button.isEnabled()
    with qtbot.waitSignal(window.chat_settings.prompts_changed) as told:
        QTest.mouseClick(dialog.save_button, Qt.MouseButton.LeftButton)
    shorter, translate = PROMPTS[0], PROMPTS[2]
    assert told.args == [
        (shorter, SavedPrompt(translate.name, f"New. {translate.text}"), SavedPrompt("my-own", "Say {it}"))
    ]


def test_two_of_one_name_are_refused(dialog: PromptsDialog) -> None:
    dialog.name_edit.selectAll()
    QTest.keyClicks(dialog.name_edit, "Translate")
    assert "twice" in dialog.problem()
    assert not dialog.save_button.isEnabled()
