"""Letters that are typed while a button has the focus go into the message; presses, shortcuts and lists stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTextBrowser, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.settings.layers import SavedPrompt
from engine.records import Mode
from tests.ui.conftest import READY
from tests.ui.filled_window import make_window, open_dialog
from ui.transcript.cards.answer_card import AnswerCard
from ui.window.main_window import MainWindow

LEFT = Qt.MouseButton.LeftButton
CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
BUTTONS: dict[str, Callable[[MainWindow], QWidget]] = {
    "mode": lambda window: window.composer.modes,
    "attach": lambda window: window.composer.attach_button,
    "new chat": lambda window: window.sidebar.new_button,
    "settings": lambda window: window.sidebar.settings_button,
    "model": lambda window: window.header.model_button,
    "copy": lambda window: _answer(window).copy_button,
    "page": lambda window: window.transcript,
}


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    return make_window(qtbot)


def _answer(window: MainWindow) -> AnswerCard:
    answer = window.transcript.last_answer()
    assert answer is not None
    return answer


def focused() -> QWidget:
    found = QApplication.focusWidget()
    assert found is not None
    return found


def focus(widget: QWidget) -> QWidget:
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    assert widget.hasFocus()
    return widget


def type_letter(widget: QWidget, letter: str) -> None:
    """Press the key of a letter that Qt's own helper for tests does not know."""
    key = Qt.Key(ord(letter.upper()))
    QCoreApplication.sendEvent(widget, QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier, letter))


@pytest.mark.parametrize("name", BUTTONS)
def test_letters_typed_at_a_button_go_into_the_message(window: MainWindow, name: str) -> None:
    button = focus(BUTTONS[name](window))
    QTest.keyClicks(button, "H", Qt.KeyboardModifier.ShiftModifier)
    edit = window.composer.edit
    assert edit.hasFocus()
    QTest.keyClicks(edit, "i there")
    assert window.composer.text == "Hi there"


def test_letters_go_behind_what_was_written(window: MainWindow) -> None:
    window.composer.set_text("before ")
    type_letter(focus(window.composer.attach_button), "ü")
    assert window.composer.text == "before ü"


def test_a_click_on_a_mode_leaves_the_caret_in_the_message(window: MainWindow, qtbot: QtBot) -> None:
    window.composer.edit.setFocus()
    modes = window.composer.modes
    QTest.mouseClick(modes, LEFT)
    rows = modes.popup.list
    QTest.keyClick(rows, Qt.Key.Key_End)
    QTest.keyClick(rows, Qt.Key.Key_Return)
    assert modes.mode is Mode.DRAFT
    qtbot.waitUntil(lambda: not modes.popup.isVisible(), timeout=30_000)
    QTest.keyClicks(focused(), "words")
    assert (window.composer.text, modes.mode) == ("words", Mode.DRAFT)


def test_space_presses_and_enter_is_no_letter(window: MainWindow, qtbot: QtBot) -> None:
    button = focus(window.sidebar.new_button)
    sent: list[str] = []
    window.composer.submitted.connect(sent.append)
    QTest.keyClick(button, Qt.Key.Key_Return)  # whether it presses is the desktop's choice
    with qtbot.waitSignal(window.sidebar.new_chat):
        QTest.keyClick(focus(button), Qt.Key.Key_Space)
    assert (window.composer.text, sent) == ("", [])


def test_space_opens_the_modes(window: MainWindow) -> None:
    button = focus(window.composer.modes)
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert window.composer.modes.popup.isVisible()
    assert window.composer.text == ""
    QTest.keyClick(window.composer.modes.popup.list, Qt.Key.Key_Escape)
    assert not window.composer.modes.popup.isVisible()
    assert button.hasFocus()


def test_shortcuts_stay_shortcuts(window: MainWindow) -> None:
    button = focus(window.composer.attach_button)
    before = window.composer.modes.mode
    QTest.keyClick(button, Qt.Key.Key_D, CTRL)
    assert window.composer.modes.mode is not before
    for key in (Qt.Key.Key_Y, Qt.Key.Key_J):
        QTest.keyClick(button, key, CTRL)
        QTest.keyClick(button, key, ALT)
        QTest.keyClick(button, key, Qt.KeyboardModifier.MetaModifier)
    for key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace, Qt.Key.Key_F5, Qt.Key.Key_Shift):
        QTest.keyClick(button, key)
    assert window.composer.text == ""
    assert not window.composer.edit.hasFocus()


def test_what_altgr_types_is_typed(window: MainWindow) -> None:
    """Windows tells AltGr as Control and Alt together."""
    QTest.keyClicks(focus(window.composer.attach_button), "@", CTRL | ALT)
    assert window.composer.text == "@"


def test_lists_keep_looking_for_what_is_typed(window: MainWindow) -> None:
    rows = focus(window.sidebar.list)
    QTest.keyClicks(rows, "Trip")
    assert rows.hasFocus()
    assert window.sidebar.list.currentIndex().data() == "Trip notes"
    assert window.composer.text == ""


def test_other_text_fields_keep_their_letters(window: MainWindow) -> None:
    QTest.keyClicks(focus(window.sidebar.search), "sea")
    assert (window.sidebar.search.text(), window.composer.text) == ("sea", "")
    _answer(window)
    window.transcript.cards[0].begin_edit()  # type: ignore[attr-defined]
    editor = focused()
    QTest.keyClicks(editor, "more")
    assert editor.hasFocus()
    assert window.composer.text == ""


def test_the_page_of_an_answer_gives_its_letters_away(window: MainWindow) -> None:
    prose = _answer(window).findChild(QTextBrowser)
    assert prose is not None
    focus(prose)
    QTest.keyClick(prose, Qt.Key.Key_Space)
    assert window.composer.text == ""
    QTest.keyClicks(prose, "y")
    assert window.composer.text == "y"


@pytest.mark.parametrize(
    ("dead", "letter", "typed"),
    [
        (Qt.Key.Key_Dead_Circumflex, "e", "ê"),
        (Qt.Key.Key_Dead_Acute, "é", "é"),
        (Qt.Key.Key_Dead_Diaeresis, "q", "q"),
    ],
)
def test_a_dead_key_waits_for_its_letter(window: MainWindow, dead: Qt.Key, letter: str, typed: str) -> None:
    button = focus(window.composer.attach_button)
    QTest.keyClick(button, dead)
    assert button.hasFocus()
    QTest.keyClick(button, Qt.Key.Key_Shift)
    type_letter(button, letter)
    assert window.composer.text == typed
    QTest.keyClicks(window.composer.edit, "e")
    assert window.composer.text == typed + "e"


def test_a_dead_key_is_forgotten_elsewhere(window: MainWindow) -> None:
    QTest.keyClick(focus(window.composer.attach_button), Qt.Key.Key_Dead_Acute)
    QTest.keyClicks(focus(window.sidebar.new_button), "e")
    assert window.composer.text == "e"


def test_an_input_method_goes_on_where_the_letter_went(window: MainWindow) -> None:
    QTest.keyClicks(focus(window.composer.attach_button), "a")
    assert QGuiApplication.inputMethod() is not None
    composed = QInputMethodEvent("か", [])
    QCoreApplication.sendEvent(focused(), composed)
    assert window.composer.text == "a"
    composed = QInputMethodEvent()
    composed.setCommitString("漢字")
    QCoreApplication.sendEvent(focused(), composed)
    assert window.composer.text == "a漢字"


def test_a_slash_opens_the_prompts_and_a_paste_is_the_messages(window: MainWindow) -> None:
    window.chat_settings.set_prompts((SavedPrompt("shorter", "Shorten this"),))
    QTest.keyClicks(focus(window.composer.attach_button), "/")
    assert window.chat_settings.prompt_list.isVisible()
    QTest.keyClick(window.composer.edit, Qt.Key.Key_Backspace)
    QGuiApplication.clipboard().setText("pasted")
    QTest.keyClick(focus(window.composer.attach_button), Qt.Key.Key_V, CTRL)
    assert window.composer.text == "pasted"
    assert window.composer.edit.hasFocus()


def test_the_models_place_and_dialogs_keep_their_keys(window: MainWindow, qtbot: QtBot) -> None:
    window.models.toggle()
    QTest.keyClicks(focus(window.models.panel.back_button), "x")
    window.models.toggle()
    assert window.composer.text == ""
    dialog = open_dialog(window, "question")
    qtbot.waitUntil(dialog.isActiveWindow, timeout=30_000)
    QTest.keyClicks(focused(), "x")
    assert window.composer.text == ""
    QTest.keyClick(dialog, Qt.Key.Key_Escape)


def test_nothing_is_lost_while_no_model_is_loaded(window: MainWindow) -> None:
    window.set_engine(READY.__class__())
    QTest.keyClicks(focus(window.sidebar.new_button), "a")
    assert window.composer.text == "a"
