"""Tests screen reader support: roles of messages and headings, and announcements during an answer."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from app.core.domain.tools.calls import CallStatus, StoredCall
from engine.records import EngineReady
from tests.app.fakes import AppHarness, info, open_app
from tests.ui.filled_window import make_window
from ui.transcript.cards.card import MessageCard
from ui.widgets.building import label
from ui.window.main_window import MainWindow

Role = QAccessible.Role


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The announcements; pretends that a screen reader is active."""
    words: list[str] = []
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(
        QAccessible,
        "updateAccessibility",
        lambda event: words.append(event.message()) if hasattr(event, "message") else None,
    )
    return words


def role_of(widget: QWidget) -> Role:
    return QAccessible.queryAccessibleInterface(widget).role()


def test_messages_are_items_of_a_list_and_headings_are_headings(qtbot: QtBot) -> None:
    window = make_window(qtbot)
    cards = window.transcript.findChildren(MessageCard)
    assert len(cards) == 2
    assert {role_of(card) for card in cards} == {Role.ListItem}
    column = cards[0].parentWidget()
    assert column is not None
    assert role_of(column) is Role.List
    heading = label("Voices", "heading")
    qtbot.addWidget(heading)
    spoken = QAccessible.queryAccessibleInterface(heading)
    heading.setText("Other voices")
    assert (spoken.role(), spoken.text(QAccessible.Text.Name)) == (Role.Heading, "Other voices")
    assert role_of(window.composer.send_button) is Role.Button


def stream(window: MainWindow, *pieces: str) -> None:
    window.begin_answer(MessageView(9, "assistant", ""))
    window.speech.reading()
    window.speech.reading()
    for piece in pieces:
        window.speech.add_text(piece)


def test_an_answer_is_said_sentence_by_sentence_without_its_reasoning(qtbot: QtBot, said: list[str]) -> None:
    window = make_window(qtbot)
    said.clear()
    stream(window, "<think>\nHm. Well.\n</think>\n\nOf **cour", "se. It is 3.5 met", "res\nlong")
    assert said == ["Reading the prompt.", "The answer begins.", "Of course.", "It is 3.5 metres"]
    window.speech.end("41 tok/s")
    assert said[4:] == ["long", "Answer finished. 41 tok/s"]


@pytest.mark.parametrize(
    ("level", "heard"), [("events", ["Reading the prompt.", "The answer begins.", "Answer finished."]), ("nothing", [])]
)
def test_the_setting_says_how_much_is_said(qtbot: QtBot, said: list[str], level: str, heard: list[str]) -> None:
    window = make_window(qtbot)
    window.set_settings({"announce": level})
    said.clear()
    stream(window, "One. Two. ")
    window.speech.end("")
    assert said == heard


def test_calls_of_tools_are_said(qtbot: QtBot, said: list[str]) -> None:
    window = make_window(qtbot)
    said.clear()
    call = StoredCall("a", "read", "files", "{}", title="Read a file")
    for status in (CallStatus.WAITING, CallStatus.ASKED, CallStatus.RUNNING, CallStatus.DONE):
        window.speech.show_call(MessageView(1, "tool", "", call=replace(call, status=status)))
    assert said == ["Read a file waits for your permission.", "Read a file is running.", "Read a file is done."]


@pytest.fixture
def harness(qtbot: QtBot) -> Iterator[AppHarness]:
    result = open_app()
    yield result
    result.close()


def load(harness: AppHarness, qtbot: QtBot) -> None:
    harness.engine.is_loaded = True
    harness.engine.tell(EngineReady(info("models/target.gguf")))
    qtbot.waitUntil(lambda: harness.window.engine.target is not None)


def test_the_answer_of_the_engine_is_said(harness: AppHarness, said: list[str], qtbot: QtBot) -> None:
    load(harness, qtbot)
    harness.window.composer.submitted.emit("Can you?")
    harness.engine.say("Of course. ")
    harness.engine.finish()
    qtbot.waitUntil(lambda: any(words.startswith("Answer finished.") for words in said))
    QApplication.processEvents()
    assert "Of course." in said
