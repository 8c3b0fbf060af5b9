"""Engines of others in the window: added by hand, chatted with, marked, removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.domain.engine_view import EngineState
from app.domain.engines import remote_path
from app.domain.messages import MessageState
from engine.records import Mode
from tests.app.controllers.models.test_picker import keys_of, take
from tests.app.fakes import Desk, keep_settings, open_desk
from tests.app.hub.test_tokens import Memory, memory
from tests.app.remote.scripted_server import ScriptedServer, serving
from ui.models.engines_page import EnginesPage

__all__ = ["memory"]  # a fixture

KEY = "sk-" + "canaryCANARY0123456789"
WAIT_MS = 20_000
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with serving(kind="llama-server", key=KEY) as running:
        yield running


def page_of(desk: Desk) -> EnginesPage:
    desk.window.models.open("engines")
    return desk.window.models.panel.engines


def add(desk: Desk, url: str, key: str) -> EnginesPage:
    page = page_of(desk)
    QTest.keyClicks(page.form.address, url)
    QTest.keyClicks(page.form.key, key)
    QTest.mouseClick(page.form.add_button, LEFT)
    return page


def use(desk: Desk, server: ScriptedServer, qtbot: QtBot) -> None:
    """Add the server and begin to chat with its model."""
    page = add(desk, server.url, KEY)
    qtbot.waitUntil(lambda: len(page.cards) == 1, timeout=WAIT_MS)
    QTest.mouseClick(page.cards[0].chat_button, LEFT)
    qtbot.waitUntil(lambda: bool(desk.window.engine.target and desk.window.engine.target.engine_url), timeout=WAIT_MS)


def ask(desk: Desk, text: str) -> None:
    desk.window.composer.set_text(text)
    desk.window.composer.submit()


def is_quiet(desk: Desk) -> bool:
    return desk.controller.answers.state is None


def test_added_chatted_with_marked_and_removed(
    desk: Desk,
    server: ScriptedServer,
    memory: Memory,
    qtbot: QtBot,
) -> None:
    window = desk.window
    assert window.composer.destination.isHidden()
    use(desk, server, qtbot)
    assert window.composer.destination.isVisible()  # before the first message
    assert server.url.removeprefix("http://") in window.composer.destination.text()
    assert set(window.engine.unavailable) == set(Mode) - {Mode.OFF}
    ask(desk, "Hi")
    qtbot.waitUntil(lambda: is_quiet(desk) and bool(window.finished), timeout=WAIT_MS)
    answer = desk.messages()[-1]
    assert (answer.text, answer.state) == ("Hello, world!", MessageState.COMPLETE)
    assert answer.stats is not None
    assert (answer.stats.proposed, answer.stats.accepted, answer.stats.tokens) == (4, 2, 4)
    assert answer.target == f"org/model @ {server.url.removeprefix('http://')}"
    assert desk.engine.requests == []  # the engine here had nothing to do
    assert [row.left_machine for row in desk.store.conversations()] == [True]
    ask(desk, "And now?")
    qtbot.waitUntil(lambda: is_quiet(desk) and len(window.finished) == 2, timeout=WAIT_MS)
    assert [message["content"] for message in server.bodies[-1]["messages"]] == ["Hi", "Hello, world!", "And now?"]
    page = page_of(desk)
    QTest.mouseClick(page.cards[0].remove_button, LEFT)
    qtbot.waitUntil(lambda: page.cards == [] and memory.kept == {}, timeout=WAIT_MS)


def test_its_models_are_in_the_headers_list_and_one_is_taken(
    desk: Desk, server: ScriptedServer, memory: Memory, qtbot: QtBot
) -> None:
    page = add(desk, server.url, KEY)
    qtbot.waitUntil(lambda: len(page.cards) == 1, timeout=WAIT_MS)
    desk.window.models.leave()
    desk.window.header.open_models()
    path = remote_path(server.url, "org/model")
    qtbot.waitUntil(lambda: f"target:{path}" in keys_of(desk), timeout=WAIT_MS)
    take(desk, f"target:{path}")
    qtbot.waitUntil(lambda: bool(desk.window.engine.target and desk.window.engine.target.path == path), timeout=WAIT_MS)
    assert not desk.window.header.draft_action.isEnabled()
    assert memory.kept


def test_an_edit_makes_a_branch_and_a_stop_keeps_what_came(
    desk: Desk,
    server: ScriptedServer,
    memory: Memory,
    qtbot: QtBot,
) -> None:
    use(desk, server, qtbot)
    ask(desk, "Hi")
    qtbot.waitUntil(lambda: is_quiet(desk) and len(desk.messages()) == 2, timeout=WAIT_MS)
    desk.controller.answers.edit(desk.messages()[0].id, "Hello")
    qtbot.waitUntil(lambda: is_quiet(desk) and desk.messages()[0].text == "Hello", timeout=WAIT_MS)
    assert len(desk.messages()[0].versions) == 2
    assert [message["content"] for message in server.bodies[-1]["messages"]] == ["Hello"]
    server.script.pieces, server.script.pause_s = ("word ",) * 100, 0.1
    ask(desk, "Count")
    qtbot.waitUntil(lambda: desk.controller.answers.state is EngineState.ANSWERING, timeout=WAIT_MS)
    desk.window.stop_requested.emit()
    qtbot.waitUntil(lambda: is_quiet(desk), timeout=WAIT_MS)
    answer = desk.messages()[-1]
    assert answer.state is MessageState.STOPPED
    assert answer.text.startswith("word ")
    assert memory.kept


def test_a_break_keeps_what_came_and_says_why(
    desk: Desk,
    server: ScriptedServer,
    memory: Memory,
    qtbot: QtBot,
) -> None:
    use(desk, server, qtbot)
    server.script.cut_after = 2
    ask(desk, "Hi")
    qtbot.waitUntil(lambda: bool(desk.window.finished), timeout=WAIT_MS)
    answer = desk.messages()[-1]
    assert (answer.text, answer.state, answer.can_continue) == ("Hello, ", MessageState.FAILED, True)
    assert desk.window.problems[-1].title == "The answer was cut off"
    server.script.cut_after, server.script.key = None, "another"
    ask(desk, "Again")
    qtbot.waitUntil(lambda: is_quiet(desk) and len(desk.window.finished) == 2, timeout=WAIT_MS)
    assert desk.window.problems[-1].title == "The engine refused the key"
    assert memory.kept


def test_a_wrong_key_stays_in_the_form_and_nothing_is_added(
    desk: Desk,
    server: ScriptedServer,
    memory: Memory,
    qtbot: QtBot,
) -> None:
    page = add(desk, server.url, "wrong")
    qtbot.waitUntil(page.form.failure.isVisible, timeout=WAIT_MS)
    assert "does not accept the key" in page.form.failure.text.text()
    assert (page.cards, memory.kept) == ([], {})
    assert page.form.trust.isHidden()
    page.form.address.setText("http://192.0.2.1:8000")
    assert page.form.trust.isVisible()


def test_no_file_has_the_key(
    desk: Desk,
    server: ScriptedServer,
    memory: Memory,
    qtbot: QtBot,
    paceline_home: Path,
) -> None:
    use(desk, server, qtbot)
    ask(desk, "Hi")
    qtbot.waitUntil(lambda: bool(desk.window.finished), timeout=WAIT_MS)
    desk.close()
    files = [path for path in paceline_home.rglob("*") if path.is_file()]
    assert any(path.name == "engines.toml" for path in files)
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert list(memory.kept.values()) == [KEY]


def test_the_model_is_chosen_again_at_the_next_start(
    server: ScriptedServer,
    memory: Memory,
    qtbot: QtBot,
) -> None:
    keep_settings({})
    first = open_desk()
    first.engine.ready()
    qtbot.waitUntil(lambda: first.window.engine.target is not None)
    use(first, server, qtbot)
    first.close()
    second = open_desk()
    try:
        qtbot.waitUntil(lambda: second.window.engine.target is not None, timeout=WAIT_MS)
        assert second.window.engine.target is not None
        assert second.window.engine.target.path == remote_path(server.url, "org/model")
        assert second.engine.loads == []
        assert memory.kept
    finally:
        second.close()
