"""Links of an answer are opened only on request, and only web and mail addresses."""

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from tests.ui.conftest import STATS
from ui.text.links import is_safe
from ui.theme.theme import Theme
from ui.transcript.cards.prose_view import ProseView
from ui.widgets.dialogs import ConfirmDialog, link_dialog
from ui.window.main_window import MainWindow


@pytest.mark.parametrize("address", ["https://example.org/a?b=c", "http://example.org", "mailto:a@example.org"])
def test_web_and_mail_are_safe(address: str) -> None:
    assert is_safe(address)


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "qrc:/x",
        "vscode://file/x",
        "http:",
        "https:///x",
        "//example.org",
        "readme.md",
        "",
        "http://[bad",
        "java\nscript:alert(1)",
        "https://example.org/\x00",
        "https://exam\u200bple.org",
        "https://example.org/\u202egpj.exe",
        "https://example.org\u2028",
        "https://bank.example@elsewhere.example/",
    ],
)
def test_everything_else_is_refused(window: MainWindow, address: str) -> None:
    assert not is_safe(address)
    assert link_dialog(window, address) is None


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that the system was asked to open."""
    addresses: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: addresses.append(url.toString()))
    return addresses


def _answer_with_link(window: MainWindow, qtbot: QtBot) -> ProseView:
    text = "[shown words](https://real.example.org/path)"
    window.show_conversation("t", [MessageView(1, "assistant", text, stats=STATS)])
    card = window.transcript.last_answer()
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    assert card is not None
    prose = card.body.segments[0]
    assert isinstance(prose, ProseView)
    return prose


def _click(prose: ProseView, words: str, qtbot: QtBot) -> None:
    """Click on the middle of ``words``."""
    cursor = prose.document().find(words)
    assert not cursor.isNull()
    end = prose.cursorRect(cursor)
    cursor.setPosition(cursor.anchor())
    begin = prose.cursorRect(cursor)
    place = QPoint((begin.center().x() + end.center().x()) // 2, begin.center().y())
    qtbot.mouseClick(prose.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_a_click_on_a_link_shows_its_real_address_and_asks(window: MainWindow, qtbot: QtBot, opened: list[str]) -> None:
    _click(_answer_with_link(window, qtbot), "shown words", qtbot)
    question = window.findChild(ConfirmDialog)
    assert question is not None
    shown = question.findChild(QPlainTextEdit)
    assert shown is not None
    assert shown.toPlainText() == "https://real.example.org/path"
    assert opened == []
    qtbot.mouseClick(question.accept_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: opened == ["https://real.example.org/path"])


def test_a_link_is_opened_by_keys_alone(window: MainWindow, qtbot: QtBot, opened: list[str]) -> None:
    prose = _answer_with_link(window, qtbot)
    prose.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(prose.hasFocus)
    if not prose.textCursor().hasSelection():  # the first link may be selected already if Tab set the focus
        qtbot.keyClick(prose, Qt.Key.Key_Tab)
    assert prose.textCursor().selectedText() == "shown words"
    qtbot.keyClick(prose, Qt.Key.Key_Return)
    question = window.findChild(ConfirmDialog)
    assert question is not None
    qtbot.waitUntil(question.isActiveWindow)
    question.accept_button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(question.accept_button, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: opened == ["https://real.example.org/path"])


def test_a_forged_anchor_is_not_even_asked_about(window: MainWindow, qtbot: QtBot) -> None:
    _answer_with_link(window, qtbot).anchorClicked.emit(QUrl("file:///etc/passwd"))
    assert window.findChild(ConfirmDialog) is None


def test_prose_loads_no_resource(theme: Theme, qtbot: QtBot) -> None:
    view = ProseView(theme)
    qtbot.addWidget(view)
    kind = QTextDocument.ResourceType.ImageResource.value
    given = view.loadResource(kind, QUrl("file:///etc/hostname"))
    assert given.size().toTuple() == (1, 1), "a null picture would have Qt load the file"
    assert given.pixelColor(0, 0).alpha() == 0
    assert not view.openLinks()
    assert not view.openExternalLinks()


def test_letters_that_look_like_others_are_spelled_out(window: MainWindow) -> None:
    question = link_dialog(window, "https://\u0430pple.example/x")
    assert question is not None
    shown = question.findChild(QPlainTextEdit)
    assert shown is not None
    assert shown.toPlainText() == "https://\u0430pple.example/x\nhttps://xn--pple-43d.example/x"
