"""A journey by keys and clicks: first start, chat, other modes, edit, branches, search, export, restart: all intact."""

from __future__ import annotations

import functools
import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.domain.engine_view import EngineState
from app.domain.messages import MessageView
from engine.records import Mode
from tests.app.fakes import Desk, keep_settings, open_desk
from tests.fake_model import Script, ScriptedWorker
from tests.menus import come_back, press_menu_key, take
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.user_card import UserCard

STORY = "Once upon a time there was a small grey heron. " * 6
SCRIPTED = functools.partial(ScriptedWorker, script=Script(STORY, tokens_per_second=4_000.0))
WAIT_MS = 30_000
NONE, CTRL, ALT = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)


def settle(desk: Desk, qtbot: QtBot) -> None:
    """Wait until the answer is whole and the page is built."""
    window = desk.window
    qtbot.waitUntil(lambda: window.engine.state is EngineState.READY, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: not window.transcript.is_streaming and not window.transcript.is_building, timeout=WAIT_MS)


def press(qtbot: QtBot, widget: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier = NONE) -> None:
    qtbot.keyClick(widget, key, modifier)


def ask(desk: Desk, qtbot: QtBot, question: str) -> None:
    """Type and press Enter, as a person does."""
    num_finished = len(desk.window.finished)
    qtbot.keyClicks(desk.window.composer.edit, question)
    press(qtbot, desk.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(desk.window.finished) > num_finished, timeout=WAIT_MS)
    settle(desk, qtbot)


def card(desk: Desk, text: str) -> UserCard | AnswerCard:
    found = next(each for each in desk.window.transcript.cards if each.text.startswith(text))
    assert isinstance(found, UserCard | AnswerCard)
    return found


def texts(views: tuple[MessageView, ...]) -> list[str]:
    return [view.text.strip()[:16] for view in views]


def modes_of(views: tuple[MessageView, ...]) -> list[Mode]:
    return [view.stats.mode for view in views if view.stats is not None]


def start_and_chat_in_two_modes(desk: Desk, qtbot: QtBot) -> None:
    assert desk.window.pages.currentWidget() is desk.window.empty
    ask(desk, qtbot, "Tell me a story")
    press(qtbot, desk.window, Qt.Key.Key_D, CTRL)
    ask(desk, qtbot, "And another one")
    first, second = modes_of(desk.messages())
    assert first is not second
    assert texts(desk.messages()) == ["Tell me a story", "Once upon a time", "And another one", "Once upon a time"]


def edit_the_first_question(desk: Desk, qtbot: QtBot) -> None:
    question = card(desk, "Tell me a story")
    assert isinstance(question, UserCard)
    qtbot.mouseClick(question.edit_button, Qt.MouseButton.LeftButton)
    assert question.editor is not None
    qtbot.keyClicks(question.editor.edit, " about herons")
    num_finished = len(desk.window.finished)
    press(qtbot, question.editor.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(desk.window.finished) > num_finished, timeout=WAIT_MS)
    # Enter may come before the results of the last letter, whose first is opened then.
    qtbot.waitUntil(lambda: desk.messages()[0].text == "Tell me a story about herons", timeout=WAIT_MS)
    settle(desk, qtbot)
    assert len(desk.messages()) == 2


def regenerate_in_another_mode(desk: Desk, qtbot: QtBot) -> None:
    answer = card(desk, "Once upon a time")
    num_finished = len(desk.window.finished)
    qtbot.mouseClick(answer.more_button, Qt.MouseButton.LeftButton)
    take(qtbot, "Regenerate in mode", "N-gram")
    come_back(desk.window, qtbot)
    qtbot.waitUntil(lambda: len(desk.window.finished) > num_finished, timeout=WAIT_MS)
    settle(desk, qtbot)
    assert modes_of(desk.messages()) == [Mode.NGRAM]
    assert len(desk.messages()[1].versions) == 2


def walk_the_branches(desk: Desk, qtbot: QtBot) -> None:
    switch = card(desk, "Once upon a time").versions
    assert switch is not None
    assert switch.label.text() == "2 of 2"
    switch.back.setFocus()
    press(qtbot, desk.window, Qt.Key.Key_Left, ALT)
    settle(desk, qtbot)
    assert modes_of(desk.messages()) == [Mode.OFF]
    switch = card(desk, "Tell me a story about").versions
    assert switch is not None
    qtbot.mouseClick(switch.back, Qt.MouseButton.LeftButton)
    settle(desk, qtbot)
    assert len(desk.messages()) == 4


def search_leads_into_the_hidden_branch(desk: Desk, qtbot: QtBot) -> None:
    press(qtbot, desk.window, Qt.Key.Key_N, CTRL)
    ask(desk, qtbot, "Something else")
    sidebar = desk.window.sidebar
    press(qtbot, desk.window, Qt.Key.Key_K, CTRL)
    qtbot.keyClicks(sidebar.search, "about her")
    qtbot.waitUntil(lambda: bool(sidebar.results.hits), timeout=WAIT_MS)
    press(qtbot, sidebar.search, Qt.Key.Key_Return)
    # Enter may come before the results of the last letter, whose first is opened then.
    qtbot.waitUntil(lambda: desk.messages()[0].text == "Tell me a story about herons", timeout=WAIT_MS)
    settle(desk, qtbot)
    press(qtbot, sidebar.search, Qt.Key.Key_Escape)
    assert sidebar.lists.currentWidget() is sidebar.list


def delete_and_take_back(desk: Desk, qtbot: QtBot) -> None:
    before, listing = everything(desk), desk.window.sidebar.list
    listing.setFocus()
    press(qtbot, listing, Qt.Key.Key_Delete)
    assert len(desk.store.conversations()) == len(before) - 1
    press(qtbot, listing, Qt.Key.Key_Z, CTRL)
    settle(desk, qtbot)
    assert everything(desk) == before
    assert desk.messages()[0].text == "Tell me a story about herons"


def export_everything(desk: Desk, qtbot: QtBot, file: Path) -> None:
    qtbot.mouseClick(desk.window.sidebar.menu_button, Qt.MouseButton.LeftButton)
    take(qtbot, "Export all chats", "As JSON")
    dialog = desk.window.findChild(QFileDialog)
    assert dialog is not None
    come_back(dialog, qtbot)
    box = dialog.findChild(QLineEdit)
    assert box is not None
    box.selectAll()
    qtbot.keyClicks(box, str(file))
    with qtbot.waitSignal(desk.controller.transfer.ended, timeout=WAIT_MS):
        press(qtbot, box, Qt.Key.Key_Return)


def pin_the_open_chat(desk: Desk, qtbot: QtBot) -> None:
    come_back(desk.window, qtbot)
    press_menu_key(desk.window.sidebar.list, qtbot)
    take(qtbot, "Pin")
    come_back(desk.window, qtbot)


def everything(desk: Desk) -> list[tuple[object, ...]]:
    """Every conversation with every message of the shown path, and what stands in the composer."""
    rows = desk.store.conversations()
    return [(row, desk.store.messages(row.id), desk.store.library.unsent(row.id)) for row in rows]


def test_the_whole_journey(qtbot: QtBot, tmp_path: Path) -> None:
    keep_settings({})
    desk = open_desk(SCRIPTED)
    settle(desk, qtbot)
    start_and_chat_in_two_modes(desk, qtbot)
    edit_the_first_question(desk, qtbot)
    regenerate_in_another_mode(desk, qtbot)
    walk_the_branches(desk, qtbot)
    search_leads_into_the_hidden_branch(desk, qtbot)
    delete_and_take_back(desk, qtbot)
    export_everything(desk, qtbot, tmp_path / "all.json")
    pin_the_open_chat(desk, qtbot)
    qtbot.keyClicks(desk.window.composer.edit, "not sent yet")
    shown = texts(desk.messages())
    desk.controller.conversations.unsent.keep()
    before = everything(desk)
    desk.close()

    again = open_desk(SCRIPTED)
    settle(again, qtbot)
    assert everything(again) == before
    pinned = next(row for row in again.store.conversations() if row.pinned)
    again.window.conversation_selected.emit(pinned.id)
    assert texts(again.messages()) == shown
    assert again.window.composer.text == "not sent yet"
    exported = json.loads((tmp_path / "all.json").read_text("utf-8"))
    counts = sorted(len(chat["messages"]) for chat in exported["conversations"])
    assert counts == [2, 7]
    with qtbot.waitSignal(again.controller.transfer.ended, timeout=WAIT_MS):
        again.controller.transfer.import_file(tmp_path / "all.json")
    assert "2 already existed" in again.window.notices[-1]
    again.close()
