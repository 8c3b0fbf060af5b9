"""Journeys through the whole app with the real window and a scripted engine."""

from __future__ import annotations

import functools

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.domain.engine_view import EngineState
from app.domain.messages import MessageState
from engine.records import Mode, Source
from tests.app.fakes import Desk, keep_settings, open_desk
from tests.fake_model import Script, ScriptedWorker

SCRIPTED = functools.partial(ScriptedWorker, script=Script("Once upon a time. " * 20, tokens_per_second=400.0))
ENDLESS = functools.partial(ScriptedWorker, script=Script("and on " * 10_000, tokens_per_second=400.0))


def ask(desk: Desk, qtbot: QtBot, question: str) -> None:
    """Type and press Enter, as a person does."""
    qtbot.keyClicks(desk.window.composer.edit, question)
    qtbot.keyClick(desk.window.composer.edit, Qt.Key.Key_Return)


def settle(desk: Desk, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY, timeout=10_000)


def test_start_chat_switch_stop_restart_all_intact(qtbot: QtBot) -> None:
    keep_settings({})
    desk = open_desk(SCRIPTED)
    settle(desk, qtbot)
    ask(desk, qtbot, "First question")
    qtbot.waitUntil(lambda: desk.window.text != "")
    settle(desk, qtbot)
    desk.window.composer.modes.cycle()
    mode = desk.controller.conversations.mode
    ask(desk, qtbot, "Second question")
    settle(desk, qtbot)
    before, rows = desk.messages(), desk.store.conversations()
    desk.close()

    story = "Once upon a time. " * 20
    assert [view.text.strip() for view in before] == ["First question", story.strip(), "Second question", story.strip()]
    assert before[1].stats is not None
    assert before[3].stats is not None
    assert before[1].stats.mode is Mode.AUTO
    assert before[3].stats.mode is mode
    assert mode is not Mode.AUTO

    again = open_desk(SCRIPTED)
    settle(again, qtbot)
    assert again.messages() == before
    assert again.store.conversations() == rows
    assert again.window.shown[-1] == ("First question", before)
    assert again.window.mode is mode
    again.close()


def test_stop_by_escape_keeps_what_came(qtbot: QtBot) -> None:
    keep_settings({})
    desk = open_desk(ENDLESS)
    settle(desk, qtbot)
    ask(desk, qtbot, "Go on")
    qtbot.waitUntil(lambda: len(desk.window.text) > 50)
    qtbot.keyClick(desk.window, Qt.Key.Key_Escape)
    settle(desk, qtbot)
    view = desk.messages()[-1]
    assert view.state is MessageState.STOPPED
    assert view.text == desk.window.text
    desk.close()


def test_closing_in_the_middle_of_an_answer_keeps_it_as_interrupted(qtbot: QtBot) -> None:
    keep_settings({})
    desk = open_desk(ENDLESS)
    settle(desk, qtbot)
    ask(desk, qtbot, "Go on")
    qtbot.waitUntil(lambda: len(desk.window.text) > 50)
    shown = desk.window.text
    desk.close()
    again = open_desk(ENDLESS)
    view = again.messages()[-1]
    assert (view.text, view.state) == (shown, MessageState.INTERRUPTED)
    assert view.notice == "", "its state says it already, in the language of the window"
    again.close()


def test_several_chats_rename_delete_and_their_modes(qtbot: QtBot) -> None:
    keep_settings({})
    desk = open_desk(SCRIPTED)
    settle(desk, qtbot)
    ask(desk, qtbot, "First chat")
    settle(desk, qtbot)
    first = desk.controller.conversations.current_id
    desk.window.new_chat_requested.emit()
    desk.window.mode_changed.emit(Mode.OFF)
    ask(desk, qtbot, "Second chat")
    settle(desk, qtbot)
    second = desk.controller.conversations.current_id
    desk.window.conversation_rename_requested.emit(second, "  Plain one ")
    assert desk.rows() == ["Plain one", "First chat"]
    assert desk.window.header.title.text() == "Plain one"
    desk.window.conversation_selected.emit(first)
    assert desk.window.mode is Mode.AUTO
    desk.window.conversation_selected.emit(second)
    assert desk.window.mode is Mode.OFF
    desk.window.conversation_delete_requested.emit(second)
    assert desk.rows() == ["First chat"]
    assert desk.window.shown[-1] == ("", ())
    desk.close()


def test_the_layout_comes_back(qtbot: QtBot) -> None:
    keep_settings({})
    desk = open_desk(SCRIPTED)
    desk.window.resize(1000, 700)
    desk.window.layout_state.toggle_sidebar()
    desk.close()
    again = open_desk(SCRIPTED)
    # The offscreen platform's screen is narrower than the window, so only the height says something.
    assert again.window.height() == 700
    assert again.window.sidebar.isHidden()
    again.close()


def test_what_is_marked_in_answers_is_remembered(qtbot: QtBot) -> None:
    keep_settings({})
    desk = open_desk(SCRIPTED)
    assert desk.window.stats.now.marks == ()
    desk.window.stats.now.sources[Source.DRAFT].click()
    desk.window.stats.now.sources[Source.BONUS].click()
    desk.window.stats.now.refused.click()
    desk.close()
    again = open_desk(SCRIPTED)
    now, page = again.window.stats.now, again.window.transcript
    assert {source for source, row in now.sources.items() if row.isChecked()} == {Source.DRAFT, Source.BONUS}
    assert (page._marked, page._shows_refused) == ({Source.DRAFT, Source.BONUS}, True)
    now.sources[Source.BONUS].click()
    now.refused.click()
    again.close()
    last = open_desk(SCRIPTED)
    assert last.window.stats.now.marks == (Source.DRAFT.value,)
    last.close()


def test_broken_files_are_told_and_the_window_opens_all_the_same(qtbot: QtBot) -> None:
    paths = keep_settings({})
    paths.data.mkdir(parents=True)
    paths.settings_file.write_text("[broken", encoding="utf-8")
    paths.presets_file.write_text("[broken", encoding="utf-8")
    paths.layout_file.write_bytes(b"no layout")
    paths.chats_file.write_bytes(b"no database" * 1000)
    desk = open_desk(SCRIPTED)
    told = desk.window.problems[-1].message
    assert "The settings file is damaged" in told
    assert "The presets file is damaged" in told
    assert "The chats file was damaged" in told
    desk.close()
