"""Journeys through the whole app with the real window and a scripted engine."""

import functools

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.messages import MessageState
from engine.records import Source
from tests.app.fakes import AppHarness, keep_settings, open_app
from tests.fake_model import Script, ScriptedWorker

SCRIPTED = functools.partial(ScriptedWorker, script=Script("Once upon a time. " * 20, tokens_per_second=400.0))
ENDLESS = functools.partial(ScriptedWorker, script=Script("and on " * 10_000, tokens_per_second=400.0))


def ask(harness: AppHarness, qtbot: QtBot, question: str) -> None:
    """Type a question and press Enter."""
    qtbot.keyClicks(harness.window.composer.edit, question)
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)


def settle(harness: AppHarness, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)


def test_stop_by_escape_keeps_what_came(qtbot: QtBot) -> None:
    keep_settings({})
    harness = open_app(ENDLESS)
    settle(harness, qtbot)
    ask(harness, qtbot, "Go on")
    qtbot.waitUntil(lambda: len(harness.window.text) > 50)
    qtbot.keyClick(harness.window, Qt.Key.Key_Escape)
    settle(harness, qtbot)
    view = harness.messages()[-1]
    assert view.state is MessageState.STOPPED
    assert view.text == harness.window.text
    harness.close()


def test_closing_in_the_middle_of_an_answer_keeps_it_as_interrupted(qtbot: QtBot) -> None:
    keep_settings({})
    harness = open_app(ENDLESS)
    settle(harness, qtbot)
    ask(harness, qtbot, "Go on")
    qtbot.waitUntil(lambda: len(harness.window.text) > 50)
    shown = harness.window.text
    harness.close()
    again = open_app(ENDLESS)
    view = again.messages()[-1]
    assert (view.text, view.state) == (shown, MessageState.INTERRUPTED)
    assert view.notice == "", "its state says it already, in the language of the window"
    again.close()


def test_what_is_marked_in_answers_is_remembered(qtbot: QtBot) -> None:
    keep_settings({})
    harness = open_app(SCRIPTED)
    assert harness.window.stats.now.marks == ()
    harness.window.stats.now.sources[Source.DRAFT].click()
    harness.window.stats.now.sources[Source.BONUS].click()
    harness.close()
    again = open_app(SCRIPTED)
    now, page = again.window.stats.now, again.window.transcript
    assert {source for source, row in now.sources.items() if row.isChecked()} == {Source.DRAFT, Source.BONUS}
    assert page._marked == {Source.DRAFT, Source.BONUS}
    now.sources[Source.BONUS].click()
    again.close()
    last = open_app(SCRIPTED)
    assert last.window.stats.now.marks == (Source.DRAFT.value,)
    last.close()


def test_broken_files_are_reported_and_the_window_opens_all_the_same(qtbot: QtBot) -> None:
    paths = keep_settings({})
    paths.data.mkdir(parents=True)
    paths.settings_file.write_text("[broken", encoding="utf-8")
    paths.presets_file.write_text("[broken", encoding="utf-8")
    paths.layout_file.write_bytes(b"no layout")
    paths.chats_file.write_bytes(b"no database" * 1000)
    harness = open_app(SCRIPTED)
    told = harness.window.problems[-1].message
    assert "The settings file is damaged" in told
    assert "The presets file is damaged" in told
    assert "The chats file was damaged" in told
    harness.close()
