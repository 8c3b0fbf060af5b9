"""A journey by keys and clicks: first start, chat, modes, edit, branches, search, export, restart: all intact."""

import functools
import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.messages import MessageView
from engine.records import Mode
from tests.app.fakes import AppHarness, keep_settings, open_app
from tests.fake_model import Script, ScriptedWorker
from tests.menus import come_back, press_menu_key, take
from tests.signals import emitted
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


def settle(harness: AppHarness, qtbot: QtBot) -> None:
    """Wait until the answer is complete and the page is built."""
    window = harness.window
    qtbot.waitUntil(lambda: window.engine.state is EngineState.READY, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: not window.transcript.is_streaming and not window.transcript.is_building, timeout=WAIT_MS)


def press(qtbot: QtBot, widget: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier = NONE) -> None:
    qtbot.keyClick(widget, key, modifier)


def ask(harness: AppHarness, qtbot: QtBot, question: str) -> None:
    """Type a question and press Enter."""
    num_finished = len(harness.window.finished)
    qtbot.keyClicks(harness.window.composer.edit, question)
    press(qtbot, harness.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(harness.window.finished) > num_finished, timeout=WAIT_MS)
    settle(harness, qtbot)


def card(harness: AppHarness, text: str) -> UserCard | AnswerCard:
    found = next(each for each in harness.window.transcript.cards if each.text.startswith(text))
    assert isinstance(found, UserCard | AnswerCard)
    return found


def texts(views: tuple[MessageView, ...]) -> list[str]:
    return [view.text.strip()[:16] for view in views]


def modes_of(views: tuple[MessageView, ...]) -> list[Mode]:
    return [view.stats.mode for view in views if view.stats is not None]


def start_and_chat_in_two_modes(harness: AppHarness, qtbot: QtBot) -> None:
    assert harness.window.pages.currentWidget() is harness.window.empty
    ask(harness, qtbot, "Tell me a story")
    press(qtbot, harness.window, Qt.Key.Key_D, CTRL)
    ask(harness, qtbot, "And another one")
    first, second = modes_of(harness.messages())
    assert first is not second
    assert texts(harness.messages()) == ["Tell me a story", "Once upon a time", "And another one", "Once upon a time"]


def edit_the_first_question(harness: AppHarness, qtbot: QtBot) -> None:
    question = card(harness, "Tell me a story")
    assert isinstance(question, UserCard)
    qtbot.mouseClick(question.edit_button, Qt.MouseButton.LeftButton)
    assert question.editor is not None
    qtbot.keyClicks(question.editor.edit, " about herons")
    num_finished = len(harness.window.finished)
    press(qtbot, question.editor.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(harness.window.finished) > num_finished, timeout=WAIT_MS)
    # Enter may come before the hits of the last letter; then the first of these is opened.
    qtbot.waitUntil(lambda: harness.messages()[0].text == "Tell me a story about herons", timeout=WAIT_MS)
    settle(harness, qtbot)
    assert len(harness.messages()) == 2


def regenerate_in_another_mode(harness: AppHarness, qtbot: QtBot) -> None:
    answer = card(harness, "Once upon a time")
    num_finished = len(harness.window.finished)
    qtbot.mouseClick(answer.more_button, Qt.MouseButton.LeftButton)
    take(qtbot, "Regenerate in mode", "N-gram")
    come_back(harness.window, qtbot)
    qtbot.waitUntil(lambda: len(harness.window.finished) > num_finished, timeout=WAIT_MS)
    settle(harness, qtbot)
    assert modes_of(harness.messages()) == [Mode.NGRAM]
    assert len(harness.messages()[1].versions) == 2


def walk_the_branches(harness: AppHarness, qtbot: QtBot) -> None:
    switch = card(harness, "Once upon a time").versions
    assert switch is not None
    assert switch.label.text() == "2 of 2"
    switch.back.setFocus()
    press(qtbot, harness.window, Qt.Key.Key_Left, ALT)
    settle(harness, qtbot)
    assert modes_of(harness.messages()) == [Mode.OFF]
    switch = card(harness, "Tell me a story about").versions
    assert switch is not None
    qtbot.mouseClick(switch.back, Qt.MouseButton.LeftButton)
    settle(harness, qtbot)
    assert len(harness.messages()) == 4


def search_leads_into_the_hidden_branch(harness: AppHarness, qtbot: QtBot) -> None:
    press(qtbot, harness.window, Qt.Key.Key_N, CTRL)
    ask(harness, qtbot, "Something else")
    sidebar = harness.window.sidebar
    press(qtbot, harness.window, Qt.Key.Key_K, CTRL)
    qtbot.keyClicks(sidebar.search, "about her")
    qtbot.waitUntil(lambda: len(sidebar.results.hits) == 2, timeout=WAIT_MS)
    assert sidebar.results.hits[0].message_id is None  # the title, which followed the edited question
    press(qtbot, sidebar.search, Qt.Key.Key_Down)
    press(qtbot, sidebar.results, Qt.Key.Key_Down)
    press(qtbot, sidebar.results, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: harness.messages()[0].text == "Tell me a story about herons", timeout=WAIT_MS)
    settle(harness, qtbot)
    press(qtbot, sidebar.search, Qt.Key.Key_Escape)
    assert sidebar.lists.currentWidget() is sidebar.list


def delete_and_take_back(harness: AppHarness, qtbot: QtBot) -> None:
    before, listing = everything(harness), harness.window.sidebar.list
    listing.setFocus()
    press(qtbot, listing, Qt.Key.Key_Delete)
    assert len(harness.store.conversations()) == len(before) - 1
    press(qtbot, listing, Qt.Key.Key_Z, CTRL)
    settle(harness, qtbot)
    assert everything(harness) == before
    assert harness.messages()[0].text == "Tell me a story about herons"


def export_everything(harness: AppHarness, qtbot: QtBot, file: Path) -> None:
    qtbot.mouseClick(harness.window.sidebar.menu_button, Qt.MouseButton.LeftButton)
    take(qtbot, "Export all chats", "As JSON")
    dialog = harness.window.findChild(QFileDialog)
    assert dialog is not None
    come_back(dialog, qtbot)
    box = dialog.findChild(QLineEdit)
    assert box is not None
    box.selectAll()
    qtbot.keyClicks(box, str(file))
    with emitted(qtbot, harness.controller.transfer.ended):
        press(qtbot, box, Qt.Key.Key_Return)


def pin_the_open_chat(harness: AppHarness, qtbot: QtBot) -> None:
    come_back(harness.window, qtbot)
    press_menu_key(harness.window.sidebar.list, qtbot)
    take(qtbot, "Pin")
    come_back(harness.window, qtbot)


def everything(harness: AppHarness) -> list[tuple[object, ...]]:
    """Every conversation with every message of the shown path, and the text in the composer."""
    rows = harness.store.conversations()
    return [(row, harness.store.messages(row.id), harness.store.library.unsent(row.id)) for row in rows]


def test_the_whole_journey(qtbot: QtBot, tmp_path: Path) -> None:
    keep_settings({})
    harness = open_app(SCRIPTED)
    settle(harness, qtbot)
    start_and_chat_in_two_modes(harness, qtbot)
    edit_the_first_question(harness, qtbot)
    regenerate_in_another_mode(harness, qtbot)
    walk_the_branches(harness, qtbot)
    search_leads_into_the_hidden_branch(harness, qtbot)
    delete_and_take_back(harness, qtbot)
    export_everything(harness, qtbot, tmp_path / "all.json")
    pin_the_open_chat(harness, qtbot)
    qtbot.keyClicks(harness.window.composer.edit, "not sent yet")
    shown = texts(harness.messages())
    harness.controller.conversations.unsent.save()
    before = everything(harness)
    harness.close()

    again = open_app(SCRIPTED)
    settle(again, qtbot)
    assert everything(again) == before
    pinned = next(row for row in again.store.conversations() if row.pinned)
    again.window.sidebar.list.chosen.emit(pinned.id)
    assert texts(again.messages()) == shown
    assert again.window.composer.text == "not sent yet"
    exported = json.loads((tmp_path / "all.json").read_text("utf-8"))
    counts = sorted(len(chat["messages"]) for chat in exported["conversations"])
    assert counts == [2, 7]
    with emitted(qtbot, again.controller.transfer.ended):
        again.controller.transfer.import_files([tmp_path / "all.json"])
    assert "2 already existed" in again.window.notices[-1]
    again.close()
