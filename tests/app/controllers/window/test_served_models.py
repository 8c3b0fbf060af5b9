"""A program requests another model of the library: if permitted it is loaded, and then the chat's model again."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from pytestqt.qtbot import QtBot

from app.core.domain.local_server import ServerState
from app.core.hub.library.library import open_library
from app.core.paths import builtin_target
from engine.session.session import Session
from engine.session.worker import EngineWorker
from tests.app.controllers.window.test_local_server import Reply, Served, free_port
from tests.app.core.server.scripted_session import ScriptedSession
from tests.app.fakes import keep_settings, open_app
from ui.transcript.cards.answer_card import AnswerCard

OTHER = builtin_target().stem


@pytest.fixture
def served(qtbot: QtBot) -> Iterator[Served]:
    session, port = ScriptedSession(echo=True), free_port()
    keep_settings({"server": True, "server_port": port})
    harness = open_app(lambda on_event: EngineWorker(on_event, lambda: cast("Session", session)))
    open_library(harness.paths).add(builtin_target())
    found = Served(harness, session, port, qtbot)
    found.until(lambda: found.is_in(ServerState.ON) and harness.window.engine.target is not None)
    harness.window.models.leave()
    yield found
    session.gate.set()
    harness.close()


def ask(served: Served, words: str, model: str) -> Reply:
    return served.wait(served.ask(words, model=model))


def test_another_model_is_not_loaded_until_somebody_allows_it(served: Served) -> None:
    own = list(served.session.loads)
    assert ask(served, "hello", OTHER).status == 200, "the loaded one answers, as before"
    assert served.session.loads == own


def test_a_programs_model_is_replaced_by_the_chats_with_its_next_message(served: Served) -> None:
    served.harness.window.dialogs.saved.emit({"server_loads": True})
    own = served.session.loads[-1]
    assert ask(served, "hello", OTHER).text == "hello"
    assert served.session.loads[-1] == OTHER
    window = served.harness.window
    served.until(lambda: window.local_server.view.guest == OTHER)
    assert "Your model comes back with your next message" in window.local_server.button.accessibleDescription()
    assert window.engine_view.target is not None
    assert Path(window.engine_view.target.path).stem == own, "the chat keeps its model"
    served.chat("mine")
    served.until(lambda: [card.text for card in window.findChildren(AnswerCard)] == ["mine"])
    assert served.session.loads[-1] == own
    served.until(lambda: window.local_server.view.guest == "")


def test_a_request_without_a_name_has_the_chats_own(served: Served) -> None:
    served.harness.window.dialogs.saved.emit({"server_loads": True})
    own = served.session.loads[-1]
    assert ask(served, "a", OTHER).status == 200
    assert served.wait(served.ask("b")).status == 200
    assert served.session.loads[-1] == own
    served.until(lambda: served.harness.window.local_server.view.guest == "")


def test_what_is_switched_off_again_is_not_loaded_any_more(served: Served) -> None:
    window = served.harness.window
    window.dialogs.saved.emit({"server_loads": True})
    own = served.session.loads[-1]
    assert ask(served, "a", OTHER).status == 200
    window.dialogs.saved.emit({"server_loads": False})
    assert ask(served, "b", OTHER).status == 200
    assert served.session.loads[-1] == own
