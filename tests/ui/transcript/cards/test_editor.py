"""The editor of a sent message accepts text only, and says why other content is rejected."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage, QTextOption
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from ui.composer.message_edit import HUGE_PASTE_CHARS, MessageEdit
from ui.transcript.cards.editor import MessageEditor
from ui.transcript.cards.user_card import UserCard
from ui.window.main_window import MainWindow


@pytest.fixture
def editor(window: MainWindow, qtbot: QtBot) -> MessageEditor:
    window.show_conversation("t", [MessageView(1, "user", "What is it?")])
    card = window.transcript.findChild(UserCard)
    assert card is not None
    qtbot.mouseClick(card.edit_button, Qt.MouseButton.LeftButton)
    assert card.editor is not None
    return card.editor


def paste(editor: MessageEditor, qtbot: QtBot, mime: QMimeData) -> str:
    """Paste by keyboard; returns the editor's hint afterwards."""
    QApplication.clipboard().setMimeData(mime)
    qtbot.keyClick(editor.edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    QApplication.clipboard().clear()
    return editor.hint.text()


def picture() -> QMimeData:
    mime = QMimeData()
    mime.setImageData(QImage(4, 4, QImage.Format.Format_RGB32))
    return mime


def test_a_pasted_picture_is_refused_in_words(editor: MessageEditor, qtbot: QtBot) -> None:
    hint = editor.hint.text()
    words = "Files cannot be added to a sent message. Attach them to a new one."
    assert paste(editor, qtbot, picture()) == words
    assert editor.edit.toPlainText() == "What is it?"
    qtbot.keyClicks(editor.edit, " A")
    assert editor.hint.text() == hint  # shown until something is typed


def test_a_pasted_file_is_refused_and_leaves_no_address(editor: MessageEditor, qtbot: QtBot, tmp_path: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path / "notes.txt"))])
    assert "Attach them to a new one" in paste(editor, qtbot, mime)
    assert editor.edit.toPlainText() == "What is it?"


def test_words_go_in_and_more_than_can_be_laid_out_do_not(editor: MessageEditor, qtbot: QtBot) -> None:
    mime = picture()
    mime.setText(" Or who?")  # spreadsheets and word processors copy text and a picture of it
    paste(editor, qtbot, mime)
    assert editor.edit.toPlainText() == "What is it? Or who?"
    mime = QMimeData()
    mime.setText("x" * (HUGE_PASTE_CHARS + 1))
    assert "too long to edit here" in paste(editor, qtbot, mime)
    assert editor.edit.toPlainText() == "What is it? Or who?"


def test_the_frame_shows_where_the_focus_is(editor: MessageEditor, qtbot: QtBot) -> None:
    qtbot.waitUntil(editor.edit.hasFocus)
    assert editor.property("focusWithin") == "true"
    qtbot.keyClick(editor.edit, Qt.Key.Key_Tab)
    assert not editor.edit.hasFocus()
    assert editor.property("focusWithin") == "false"


def opened(window: MainWindow, qtbot: QtBot, text: str) -> MessageEdit:
    """The editor of a question in a chat."""
    window.show_conversation("t", [MessageView(1, "user", text)])
    card = window.transcript.findChild(UserCard)
    assert card is not None
    qtbot.mouseClick(card.edit_button, Qt.MouseButton.LeftButton)
    assert card.editor is not None
    return card.editor.edit


def test_a_message_without_spaces_is_edited_without_a_wait(window: MainWindow, qtbot: QtBot) -> None:
    edit = opened(window, qtbot, "A" * 200_000)
    assert edit.wordWrapMode() == QTextOption.WrapMode.WrapAnywhere, "Qt would take seconds for every key"
    qtbot.keyClicks(edit, "x")
    with qtbot.waitSignal(window.transcript.edited) as caught:
        qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert caught.args == [1, "A" * 200_000 + "x"]


def test_every_line_of_a_message_is_seen_while_it_is_edited(editor: MessageEditor, qtbot: QtBot) -> None:
    for _ in range(12):
        qtbot.keyClick(editor.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        qtbot.keyClicks(editor.edit, "more")
        qtbot.waitUntil(lambda: editor.edit.verticalScrollBar().maximum() == 0)


def test_a_long_paragraph_opens_with_all_its_lines(window: MainWindow, qtbot: QtBot) -> None:
    edit = opened(window, qtbot, "word " * 60)
    qtbot.waitUntil(lambda: edit.height() > 3 * edit.fontMetrics().lineSpacing())
    assert not edit.verticalScrollBar().maximum()
