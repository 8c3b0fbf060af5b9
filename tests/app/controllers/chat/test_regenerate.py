"""Tests regenerating an answer with another model: chosen from its menu, loaded, then asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from engine.records import EngineFailed, Problem
from tests.app.fakes import TARGET, AppHarness, keep_settings, open_app
from ui.text import model_titles

OTHER = "models/other.gguf"


@pytest.fixture
def harness(qtbot: QtBot) -> Iterator[AppHarness]:
    keep_settings({})
    model_titles._TITLES.clear()  # titles of other tests
    result = open_app()
    result.controller.versions._lists.targets = lambda: [(OTHER, "other"), (TARGET, "target")]  # type: ignore[method-assign]
    result.engine.ready()
    qtbot.waitUntil(lambda: result.window.engine.state is EngineState.READY)
    qtbot.keyClicks(result.window.composer.edit, "question")
    qtbot.keyClick(result.window.composer.edit, Qt.Key.Key_Return)
    result.engine.say("old")
    result.engine.finish()
    qtbot.waitUntil(lambda: bool(result.window.finished))
    yield result
    result.close()


def choose(harness: AppHarness, qtbot: QtBot, name: str) -> None:
    """Open the answer's menu with the mouse, and choose the model with keys."""
    card = harness.window.transcript.last_answer()
    assert card is not None
    qtbot.mouseClick(card.more_button, Qt.MouseButton.LeftButton)
    menu = card.findChild(QMenu)
    assert menu is not None
    action = next(each for each in menu.actions() if each.text() == "Regenerate with model")
    menu.setActiveAction(action)
    qtbot.keyClick(menu, Qt.Key.Key_Right)
    models = action.menu()
    assert isinstance(models, QMenu)
    qtbot.waitUntil(models.isVisible)
    wanted = next(each for each in models.actions() if each.text() == name)
    qtbot.mouseClick(models, Qt.MouseButton.LeftButton, pos=models.actionGeometry(wanted).center())
    while QApplication.activePopupWidget() is not None:
        QApplication.activePopupWidget().close()


def test_another_model_is_loaded_and_then_asked(harness: AppHarness, qtbot: QtBot) -> None:
    choose(harness, qtbot, "other")
    assert harness.engine.loads[-1].target == OTHER
    assert len(harness.engine.requests) == 1
    harness.engine.ready(OTHER)
    qtbot.waitUntil(lambda: len(harness.engine.requests) == 2)
    harness.engine.say("new")
    harness.engine.finish()
    qtbot.waitUntil(lambda: len(harness.window.finished) == 2)
    answer = harness.messages()[-1]
    assert (answer.text, answer.target, len(answer.versions)) == ("new", "other", 2)
    card = harness.window.transcript.last_answer()
    assert card is not None
    assert card.author.text() == "puppet", "the title of the model"
    assert card.versions is not None
    qtbot.mouseClick(card.versions.back, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: harness.messages()[-1].text == "old")
    assert harness.messages()[-1].target == "target"


def test_the_model_in_use_is_asked_at_once(harness: AppHarness, qtbot: QtBot) -> None:
    choose(harness, qtbot, "puppet (in use)")  # by its title, as in the header
    assert len(harness.engine.requests) == 2
    assert len(harness.engine.loads) == 1


def test_a_model_that_cannot_be_loaded_leaves_the_answer(harness: AppHarness, qtbot: QtBot) -> None:
    choose(harness, qtbot, "other")
    harness.engine.tell(EngineFailed(Problem("Broken", "It is.", "Choose another.")))
    qtbot.waitUntil(lambda: bool(harness.window.problems))
    harness.engine.ready(OTHER)
    qtbot.waitUntil(lambda: harness.window.engine.target is not None and harness.window.engine.target.path == OTHER)
    assert len(harness.engine.requests) == 1
    assert [view.text for view in harness.messages()] == ["question", "old"]


def test_a_model_that_was_being_loaded_before_does_not_lose_the_answer(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.dialogs.file_chosen.emit("models/third.gguf", "target")
    choose(harness, qtbot, "other")
    harness.engine.tell(EngineFailed(Problem("Cancelled", "It was.", ""), was_cancelled=True))
    harness.engine.ready(OTHER)
    qtbot.waitUntil(lambda: len(harness.engine.requests) == 2)
    assert harness.window.problems == []


def test_one_that_was_loaded_before_it_could_be_ended_does_not_either(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.dialogs.file_chosen.emit("models/third.gguf", "target")
    choose(harness, qtbot, "other")
    harness.engine.ready("models/third.gguf")
    harness.engine.ready(OTHER)
    qtbot.waitUntil(lambda: len(harness.engine.requests) == 2)


def test_where_its_model_is_stopped_the_answer_waits_no_more(harness: AppHarness, qtbot: QtBot) -> None:
    choose(harness, qtbot, "other")
    harness.engine.tell(EngineFailed(Problem("Cancelled", "It was.", ""), was_cancelled=True))
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    harness.window.dialogs.file_chosen.emit(OTHER, "target")
    harness.engine.ready(OTHER)
    qtbot.waitUntil(lambda: harness.window.engine.target is not None and harness.window.engine.target.path == OTHER)
    assert len(harness.engine.requests) == 1


def test_a_chat_that_was_left_meanwhile_is_left_alone(harness: AppHarness, qtbot: QtBot) -> None:
    choose(harness, qtbot, "other")
    harness.window.sidebar.new_chat.emit()
    harness.engine.ready(OTHER)
    qtbot.waitUntil(lambda: harness.window.engine.target is not None and harness.window.engine.target.path == OTHER)
    assert len(harness.engine.requests) == 1


def test_an_answer_that_was_deleted_meanwhile_is_not_given_again(harness: AppHarness, qtbot: QtBot) -> None:
    """Otherwise it would become the beginning of another conversation."""
    before = harness.messages()
    choose(harness, qtbot, "other")
    harness.window.transcript.delete_requested.emit(before[-1].id)
    harness.engine.ready(OTHER)
    qtbot.waitUntil(lambda: harness.window.engine.target is not None and harness.window.engine.target.path == OTHER)
    assert len(harness.engine.requests) == 1
    assert [view.text for view in harness.messages()] == ["question"]
    qtbot.mouseClick(harness.window.undo_bar.action_button, Qt.MouseButton.LeftButton)
    assert harness.messages() == before


def test_settings_changed_while_loading_do_not_reload_the_old_model(harness: AppHarness, qtbot: QtBot) -> None:
    choose(harness, qtbot, "other")
    harness.window.dialogs.saved.emit({"n_ctx": 2048})
    harness.engine.ready(OTHER)
    qtbot.waitUntil(lambda: len(harness.engine.requests) == 2)
    assert [load.target for load in harness.engine.loads] == [TARGET, OTHER, OTHER]
    assert harness.engine.loads[-1].n_ctx == 2048
