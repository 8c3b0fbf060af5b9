"""What is typed while the first chat opens, or a model loads, stands in the message: no letter is lost on the way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.domain.engine_view import EngineState, EngineView
from app.domain.models import ModelRef
from app.paths import builtin_draft, builtin_target
from tests.app.fakes import Desk, PuppetWorker, open_desk
from tests.app.hub.conftest import filled, hub
from tests.app.hub.loopback import LoopbackHub

__all__ = ["filled", "hub"]  # fixtures

LEFT = Qt.MouseButton.LeftButton
WAIT_MS = 30_000
BUILTIN = str(builtin_target())


def type_letters(qtbot: QtBot, desk: Desk, text: str) -> None:
    """Press keys where the system would send them: at what has the focus, else at the window."""
    for letter in text:
        QApplication.processEvents()
        focused: QWidget = QApplication.focusWidget() or desk.window
        qtbot.keyClicks(focused, letter)


@pytest.fixture
def desk(hub: LoopbackHub, qtbot: QtBot) -> Iterator[Desk]:
    opened = open_desk(PuppetWorker)
    qtbot.waitUntil(lambda: opened.window.hub.is_open)
    opened.engine.ready(BUILTIN, str(builtin_draft()))
    yield opened
    opened.close()


def test_what_is_typed_after_choosing_the_built_in_pair_is_kept(desk: Desk, qtbot: QtBot) -> None:
    qtbot.mouseClick(desk.window.hub.place.welcome.builtin_button, LEFT)
    type_letters(qtbot, desk, "while it loads")
    desk.engine.ready(BUILTIN, str(builtin_draft()))
    type_letters(qtbot, desk, " and after")
    assert desk.window.composer.text == "while it loads and after"


def test_what_is_typed_before_a_chosen_model_is_found_is_kept(desk: Desk, qtbot: QtBot) -> None:
    num_loads = len(desk.engine.loads)
    desk.window.hub.place.wants.chat_wanted.emit(ModelRef(path=BUILTIN), None)
    type_letters(qtbot, desk, "before")
    qtbot.waitUntil(lambda: len(desk.engine.loads) > num_loads, timeout=WAIT_MS)
    type_letters(qtbot, desk, " while")
    desk.engine.ready(BUILTIN, None)
    type_letters(qtbot, desk, " after")
    assert desk.window.composer.text == "before while after"


def test_a_chat_that_begins_in_the_models_place_has_the_caret(desk: Desk, qtbot: QtBot) -> None:
    """Whatever had the focus when the place was opened: what is typed then is the message."""
    window = desk.window
    window.hub.leave()
    window.focus_search()
    window.hub.open("welcome")
    qtbot.mouseClick(window.hub.place.welcome.builtin_button, LEFT)
    type_letters(qtbot, desk, "hello")
    assert (window.composer.text, window.sidebar.search.text()) == ("hello", "")


def test_a_new_chat_for_a_model_keeps_what_another_chat_had_unsent(desk: Desk, qtbot: QtBot) -> None:
    window = desk.window
    window.hub.leave()
    window.message_submitted.emit("A question")
    qtbot.waitUntil(lambda: desk.controller.conversations.current_id is not None)
    first = desk.controller.conversations.current_id
    assert first is not None
    window.composer.set_text("unsent")
    num_loads = len(desk.engine.loads)
    window.hub.place.wants.chat_wanted.emit(ModelRef(path=BUILTIN), None)
    type_letters(qtbot, desk, "new")
    qtbot.waitUntil(lambda: len(desk.engine.loads) > num_loads, timeout=WAIT_MS)
    assert window.composer.text == "new"
    window.conversation_selected.emit(first)
    assert window.composer.text == "unsent"


def test_the_button_of_an_empty_page_leaves_the_caret_in_the_message(desk: Desk, qtbot: QtBot) -> None:
    window = desk.window
    window.hub.leave()
    window.set_engine(EngineView())
    window.empty.builtin_button.setFocus()
    qtbot.mouseClick(window.empty.builtin_button, LEFT)
    window.set_engine(EngineView(EngineState.LOADING))
    assert window.composer.edit.hasFocus()
