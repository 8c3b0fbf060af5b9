"""What is typed into a message that was sent: nothing of it is lost, whatever happens to the process."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from app.controllers.debounce import DEBOUNCE_MS
from engine.records import Mode
from tests.app.fakes import Desk, open_desk
from ui.transcript.cards.user_card import UserCard

WAIT_MS = 30_000


def ask(desk: Desk, qtbot: QtBot, *questions: str) -> None:
    for question in questions:
        desk.window.message_submitted.emit(question)
        desk.engine.say("Yes.")
        desk.engine.finish()
        qtbot.waitUntil(lambda: not desk.window.composer.is_busy, timeout=WAIT_MS)


def card(desk: Desk, text: str) -> UserCard:
    cards = [each for each in desk.window.transcript.cards if isinstance(each, UserCard) and each.text == text]
    return cards[0]


def edit(desk: Desk, text: str) -> QPlainTextEdit:
    card(desk, text).begin_edit()
    editor = card(desk, text).editor
    assert editor is not None
    return editor.edit


def typed(desk: Desk, text: str) -> str | None:
    editor = card(desk, text).editor
    return None if editor is None else editor.edit.toPlainText()


def kept(desk: Desk) -> list[str]:
    current = desk.controller.conversations.current_id
    return [] if current is None else list(desk.store.edits.of_conversation(current).values())


def test_after_a_kill_the_editor_is_open_again_with_what_was_typed(
    desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(desk, qtbot, "one", "two")
    qtbot.keyClicks(edit(desk, "two"), " and a half")
    qtbot.waitUntil(lambda: kept(desk) == ["two and a half"], timeout=WAIT_MS)
    shutil.copytree(os.environ["PACELINE_HOME"], tmp_path / "as killed")
    monkeypatch.setenv("PACELINE_HOME", str(tmp_path / "as killed"))
    again = open_desk()
    again.engine.ready()
    qtbot.waitUntil(lambda: len(again.window.transcript.cards) == 4, timeout=WAIT_MS)
    assert typed(again, "two") == "two and a half"
    assert typed(again, "one") is None
    assert again.window.composer.edit.hasFocus() or again.window.focusWidget() is again.window.composer.edit
    assert "still editing" in " ".join(again.window.notices)  # it may be out of sight
    editor = card(again, "two").editor
    assert editor is not None
    qtbot.keyClicks(editor.edit, ", please")
    qtbot.keyClick(editor.edit, Qt.Key.Key_Return)
    assert again.engine.requests[-1].messages[-1].content == "two and a half, please"
    assert kept(again) == []
    qtbot.wait(2 * DEBOUNCE_MS)  # what was typed last must not come back
    assert kept(again) == []
    again.close()


def test_another_chat_and_back_finds_the_editor_as_it_was_left(desk: Desk, qtbot: QtBot) -> None:
    ask(desk, qtbot, "one", "two", "three")
    first = desk.controller.conversations.current_id
    assert first is not None
    qtbot.keyClicks(edit(desk, "one"), "!")
    desk.controller.conversations.new_chat()  # before anything was due to be written
    ask(desk, qtbot, "elsewhere")
    assert kept(desk) == []
    desk.window.notices.clear()
    desk.controller.conversations.select(first)
    assert "still editing" in " ".join(desk.window.notices)
    qtbot.waitUntil(lambda: len(desk.window.transcript.cards) == 6, timeout=WAIT_MS)
    assert typed(desk, "one") == "one!"
    desk.window.notices.clear()
    desk.controller.conversations.rename(first, "Another name")
    qtbot.waitUntil(lambda: len(desk.window.transcript.cards) == 6, timeout=WAIT_MS)
    assert (typed(desk, "one"), desk.window.notices) == ("one!", [])


def test_what_is_left_sent_or_typed_back_is_forgotten(desk: Desk, qtbot: QtBot) -> None:
    ask(desk, qtbot, "one")
    box = edit(desk, "one")
    qtbot.keyClicks(box, "x")
    qtbot.waitUntil(lambda: kept(desk) == ["onex"], timeout=WAIT_MS)
    qtbot.keyClick(box, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: kept(desk) == [], timeout=WAIT_MS)
    qtbot.keyClicks(box, "y")
    qtbot.waitUntil(lambda: kept(desk) == ["oney"], timeout=WAIT_MS)
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: kept(desk) == [], timeout=WAIT_MS)
    desk.controller.conversations.show()
    assert typed(desk, "one") is None


def test_one_who_types_without_a_pause_is_kept_as_well(desk: Desk, qtbot: QtBot) -> None:
    ask(desk, qtbot, "one")
    box = edit(desk, "one")
    end_s = time.monotonic() + 20
    while not kept(desk):
        assert time.monotonic() < end_s
        qtbot.keyClick(box, "x")
        qtbot.wait(DEBOUNCE_MS // 6)


def test_an_edit_goes_with_its_message(desk: Desk) -> None:
    store = desk.store
    chat = store.create_conversation("chat")
    message = store.add_message(chat, "user", "one")
    store.edits.keep(message.id, "two").result()
    store.edits.keep(message.id + 1000, "nowhere").result()
    assert store.edits.of_conversation(chat) == {message.id: "two"}
    answered = store.begin_turn(chat, "two", Mode.OFF, None, message.id)
    assert store.edits.of_conversation(chat) == {}
    store.edits.keep(answered.question.id, "three").result()
    store.deletions.wipe([chat])
    assert store.read(lambda db: db.execute("SELECT count(*) FROM edits").fetchone()) == (0,)
