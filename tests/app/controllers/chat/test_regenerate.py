"""An answer is given again by another model of the library: chosen from its menu, loaded, then asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.domain.engine_view import EngineState
from engine.records import EngineFailed, Problem
from tests.app.fakes import TARGET, Desk, keep_settings, open_desk

OTHER = "models/other.gguf"


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    keep_settings({})
    result = open_desk()
    result.controller.regenerating._targets = lambda: [(OTHER, "other"), (TARGET, "target")]
    result.engine.ready()
    qtbot.waitUntil(lambda: result.window.engine.state is EngineState.READY)
    qtbot.keyClicks(result.window.composer.edit, "question")
    qtbot.keyClick(result.window.composer.edit, Qt.Key.Key_Return)
    result.engine.say("old")
    result.engine.finish()
    qtbot.waitUntil(lambda: bool(result.window.finished))
    yield result
    result.close()


def choose(desk: Desk, qtbot: QtBot, name: str) -> None:
    """Open the answer's menu with the mouse, walk to the model with the keys."""
    card = desk.window.transcript.last_answer()
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


def test_another_model_is_loaded_and_then_asked(desk: Desk, qtbot: QtBot) -> None:
    choose(desk, qtbot, "other")
    assert desk.engine.loads[-1].target == OTHER
    assert len(desk.engine.requests) == 1
    desk.engine.ready(OTHER)
    qtbot.waitUntil(lambda: len(desk.engine.requests) == 2)
    desk.engine.say("new")
    desk.engine.finish()
    qtbot.waitUntil(lambda: len(desk.window.finished) == 2)
    answer = desk.messages()[-1]
    assert (answer.text, answer.target, len(answer.versions)) == ("new", "other", 2)
    card = desk.window.transcript.last_answer()
    assert card is not None
    assert card.author.text() == "other"
    assert card.versions is not None
    qtbot.mouseClick(card.versions.back, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: desk.messages()[-1].text == "old")
    assert desk.messages()[-1].target == "target"


def test_the_model_in_use_is_asked_at_once(desk: Desk, qtbot: QtBot) -> None:
    choose(desk, qtbot, "target (in use)")
    assert len(desk.engine.requests) == 2
    assert len(desk.engine.loads) == 1


def test_a_model_that_cannot_be_loaded_leaves_the_answer(desk: Desk, qtbot: QtBot) -> None:
    choose(desk, qtbot, "other")
    desk.engine.tell(EngineFailed(Problem("Broken", "It is.", "Choose another.")))
    qtbot.waitUntil(lambda: bool(desk.window.problems))
    desk.engine.ready(OTHER)
    qtbot.waitUntil(lambda: desk.window.engine.target is not None and desk.window.engine.target.path == OTHER)
    assert len(desk.engine.requests) == 1
    assert [view.text for view in desk.messages()] == ["question", "old"]


def test_a_model_that_was_being_loaded_before_does_not_lose_the_answer(desk: Desk, qtbot: QtBot) -> None:
    desk.window.model_file_chosen.emit("models/third.gguf", "target")
    choose(desk, qtbot, "other")
    desk.engine.tell(EngineFailed(Problem("Cancelled", "It was.", ""), was_cancelled=True))
    desk.engine.ready(OTHER)
    qtbot.waitUntil(lambda: len(desk.engine.requests) == 2)
    assert desk.window.problems == []


def test_one_that_was_loaded_before_it_could_be_ended_does_not_either(desk: Desk, qtbot: QtBot) -> None:
    desk.window.model_file_chosen.emit("models/third.gguf", "target")
    choose(desk, qtbot, "other")
    desk.engine.ready("models/third.gguf")
    desk.engine.ready(OTHER)
    qtbot.waitUntil(lambda: len(desk.engine.requests) == 2)


def test_where_its_model_is_stopped_the_answer_waits_no_more(desk: Desk, qtbot: QtBot) -> None:
    choose(desk, qtbot, "other")
    desk.engine.tell(EngineFailed(Problem("Cancelled", "It was.", ""), was_cancelled=True))
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    desk.window.model_file_chosen.emit(OTHER, "target")
    desk.engine.ready(OTHER)
    qtbot.waitUntil(lambda: desk.window.engine.target is not None and desk.window.engine.target.path == OTHER)
    assert len(desk.engine.requests) == 1


def test_a_chat_that_was_left_meanwhile_is_left_alone(desk: Desk, qtbot: QtBot) -> None:
    choose(desk, qtbot, "other")
    desk.window.new_chat_requested.emit()
    desk.engine.ready(OTHER)
    qtbot.waitUntil(lambda: desk.window.engine.target is not None and desk.window.engine.target.path == OTHER)
    assert len(desk.engine.requests) == 1


def test_an_answer_that_was_deleted_meanwhile_is_not_given_again(desk: Desk, qtbot: QtBot) -> None:
    """It would stand beside nothing, as the beginning of another conversation."""
    before = desk.messages()
    choose(desk, qtbot, "other")
    desk.window.transcript.delete_requested.emit(before[-1].id)
    desk.engine.ready(OTHER)
    qtbot.waitUntil(lambda: desk.window.engine.target is not None and desk.window.engine.target.path == OTHER)
    assert len(desk.engine.requests) == 1
    assert [view.text for view in desk.messages()] == ["question"]
    qtbot.mouseClick(desk.window.undo_bar.undo_button, Qt.MouseButton.LeftButton)
    assert desk.messages() == before


def test_settings_that_change_while_it_is_loaded_do_not_bring_the_old_model_back(desk: Desk, qtbot: QtBot) -> None:
    choose(desk, qtbot, "other")
    desk.window.settings_changed.emit({"n_ctx": 2048})
    desk.engine.ready(OTHER)
    qtbot.waitUntil(lambda: len(desk.engine.requests) == 2)
    assert [load.target for load in desk.engine.loads] == [TARGET, OTHER, OTHER]
    assert desk.engine.loads[-1].n_ctx == 2048
