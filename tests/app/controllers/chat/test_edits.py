"""Text typed into the editor of a sent message survives any end of the process."""

import os
import shutil
import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from app.controllers.parts import DEBOUNCE_MS
from tests.app.fakes import AppHarness, open_app
from ui.transcript.cards.user_card import UserCard

WAIT_MS = 30_000


def ask(harness: AppHarness, qtbot: QtBot, *questions: str) -> None:
    for question in questions:
        harness.window.composer.submitted.emit(question)
        harness.engine.say("Yes.")
        harness.engine.finish()
        qtbot.waitUntil(lambda: not harness.window.composer.is_busy)


def card(harness: AppHarness, text: str) -> UserCard:
    cards = [each for each in harness.window.transcript.cards if isinstance(each, UserCard) and each.text == text]
    return cards[0]


def edit(harness: AppHarness, text: str) -> QPlainTextEdit:
    card(harness, text).begin_edit()
    editor = card(harness, text).editor
    assert editor is not None
    return editor.edit


def typed(harness: AppHarness, text: str) -> str | None:
    editor = card(harness, text).editor
    return None if editor is None else editor.edit.toPlainText()


def kept(harness: AppHarness) -> list[str]:
    current = harness.controller.state.chat_id
    return [] if current is None else list(harness.store.edits.of_conversation(current).values())


def test_after_a_kill_the_editor_is_open_again_with_what_was_typed(
    harness: AppHarness, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(harness, qtbot, "one", "two")
    qtbot.keyClicks(edit(harness, "two"), " and a half")
    qtbot.waitUntil(lambda: kept(harness) == ["two and a half"])
    shutil.copytree(os.environ["PACELINE_HOME"], tmp_path / "as killed")
    monkeypatch.setenv("PACELINE_HOME", str(tmp_path / "as killed"))
    again = open_app()
    again.engine.ready()
    qtbot.waitUntil(lambda: len(again.window.transcript.cards) == 4)
    assert typed(again, "two") == "two and a half"
    assert typed(again, "one") is None
    assert again.window.composer.edit.hasFocus() or again.window.focusWidget() is again.window.composer.edit
    assert "still editing" in " ".join(again.window.notices)  # the editor may not be visible
    editor = card(again, "two").editor
    assert editor is not None
    qtbot.keyClicks(editor.edit, ", please")
    qtbot.keyClick(editor.edit, Qt.Key.Key_Return)
    assert again.engine.requests[-1].messages[-1].content == "two and a half, please"
    assert kept(again) == []
    qtbot.wait(2 * DEBOUNCE_MS)  # the last typed text must not come back
    assert kept(again) == []
    again.close()


def test_another_chat_and_back_finds_the_editor_as_it_was_left(harness: AppHarness, qtbot: QtBot) -> None:
    ask(harness, qtbot, "one", "two", "three")
    first = harness.controller.state.chat_id
    assert first is not None
    qtbot.keyClicks(edit(harness, "one"), "!")
    harness.controller.conversations.new_chat()  # before the text is due to be written
    ask(harness, qtbot, "elsewhere")
    assert kept(harness) == []
    harness.window.notices.clear()
    harness.controller.conversations.select(first)
    assert "still editing" in " ".join(harness.window.notices)
    qtbot.waitUntil(lambda: len(harness.window.transcript.cards) == 6)
    assert typed(harness, "one") == "one!"
    harness.window.notices.clear()
    harness.controller.conversations.rename(first, "Another name")
    qtbot.waitUntil(lambda: len(harness.window.transcript.cards) == 6)
    assert (typed(harness, "one"), harness.window.notices) == ("one!", [])


def test_what_is_left_sent_or_typed_back_is_forgotten(harness: AppHarness, qtbot: QtBot) -> None:
    ask(harness, qtbot, "one")
    box = edit(harness, "one")
    qtbot.keyClicks(box, "x")
    qtbot.waitUntil(lambda: kept(harness) == ["onex"])
    qtbot.keyClick(box, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: kept(harness) == [])
    qtbot.keyClicks(box, "y")
    qtbot.waitUntil(lambda: kept(harness) == ["oney"])
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: kept(harness) == [])
    harness.controller.conversations.show()
    assert typed(harness, "one") is None


def test_one_who_types_without_a_pause_is_kept_as_well(harness: AppHarness, qtbot: QtBot) -> None:
    ask(harness, qtbot, "one")
    box = edit(harness, "one")
    end_s = time.monotonic() + 60
    while not kept(harness):
        assert time.monotonic() < end_s
        qtbot.keyClick(box, "x")
        qtbot.wait(DEBOUNCE_MS // 6)


def test_an_edit_goes_with_its_message(harness: AppHarness) -> None:
    store = harness.store
    chat = store.create_conversation("chat")
    message = store.add_message(chat, "user", "one")
    store.edits.save(message.id, "two").result()
    store.edits.save(message.id + 1000, "nowhere").result()
    assert store.edits.of_conversation(chat) == {message.id: "two"}
    answered = store.begin_turn(chat, "two", message.id)
    assert store.edits.of_conversation(chat) == {}
    store.edits.save(answered.question.id, "three").result()
    store.deletions.delete_permanently([chat])
    assert store.read(lambda db: db.execute("SELECT count(*) FROM edits").fetchone()) == (0,)
