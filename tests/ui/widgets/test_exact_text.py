"""The text box returns every pasted character."""

import pytest
from PySide6.QtCore import QMimeData, Qt
from pytestqt.qtbot import QtBot

from ui.composer.message_edit import MessageEdit
from ui.theme.theme import Theme
from ui.transcript.cards.editor import MessageEditor
from ui.widgets.exact_text import VerbatimTextEdit
from ui.window.main_window import MainWindow

ODD = "if x:\n\u00a0\u00a0print(1)\nPrix\u00a0: 5\u2028same\u202fline \u200b\ufeff\t\U0001f600\n"


@pytest.fixture(params=[VerbatimTextEdit, MessageEdit])
def box(request: pytest.FixtureRequest, qtbot: QtBot, theme: Theme) -> VerbatimTextEdit:
    made: VerbatimTextEdit = request.param(theme) if request.param is MessageEdit else request.param()
    qtbot.addWidget(made)
    return made


def pasted(box: VerbatimTextEdit, text: str) -> None:
    mime = QMimeData()
    mime.setText(text)
    box.insertFromMimeData(mime)


def test_what_is_pasted_comes_out_to_the_letter(box: VerbatimTextEdit) -> None:
    pasted(box, ODD)
    assert box.exact_text() == ODD
    box.setPlainText(ODD)
    assert box.exact_text() == ODD


def test_shift_and_enter_begin_a_line(box: VerbatimTextEdit, qtbot: QtBot) -> None:
    qtbot.keyClicks(box, "one")
    qtbot.keyClick(box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(box, "two")
    assert box.exact_text() == "one\ntwo"


def test_the_message_is_sent_as_it_was_pasted(window: MainWindow, qtbot: QtBot) -> None:
    pasted(window.composer.edit, ODD)
    assert window.composer.text == ODD


def test_an_edited_message_is_sent_as_it_was_pasted(qtbot: QtBot, theme: Theme) -> None:
    editor = MessageEditor(theme, "")
    qtbot.addWidget(editor)
    pasted(editor.edit, ODD)
    with qtbot.waitSignal(editor.sent) as sent:
        qtbot.keyClick(editor.edit, Qt.Key.Key_Return)
    assert sent.args == [ODD.strip("\n")]
