"""Tests remote servers in the window: added by hand, used in a chat, marked, removed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.core.domain.engines import remote_model_id
from app.core.domain.messages import MessageState
from app.core.domain.thinking import split_thinking
from engine.records import Mode
from tests.app.controllers.models.test_picker import keys_of, take
from tests.app.core.hub.test_tokens import Memory, memory
from tests.app.core.remote.scripted_server import ScriptedServer, serving
from tests.app.core.remote.test_detection import SWITCH
from tests.app.fakes import AppHarness, keep_settings, open_app
from ui.models.remote_servers_page import RemoteServersPage
from ui.widgets.choice_list import Choice

__all__ = ["memory"]  # a fixture

KEY = "sk-" + "canaryCANARY0123456789"
WAIT_MS = 60_000
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with serving(kind="llama-server", key=KEY) as running:
        yield running


def page_of(harness: AppHarness) -> RemoteServersPage:
    harness.window.models.open("engines")
    return harness.window.models.panel.engines


def add(harness: AppHarness, url: str, key: str) -> RemoteServersPage:
    page = page_of(harness)
    QTest.keyClicks(page.form.address, url)
    QTest.keyClicks(page.form.key, key)
    QTest.mouseClick(page.form.add_button, LEFT)
    return page


def use(harness: AppHarness, server: ScriptedServer, qtbot: QtBot) -> None:
    """Add the server and start a chat with its model."""
    page = add(harness, server.url, KEY)
    qtbot.waitUntil(lambda: len(page.cards) == 1)
    QTest.mouseClick(page.cards[0].chat_button, LEFT)
    qtbot.waitUntil(lambda: bool(harness.window.engine.target and harness.window.engine.target.engine_url))


def ask(harness: AppHarness, text: str) -> None:
    harness.window.composer.set_text(text)
    harness.window.composer.submit()


def is_quiet(harness: AppHarness) -> bool:
    return harness.controller.state.answer is None


def test_added_chatted_with_marked_and_removed(
    harness: AppHarness,
    server: ScriptedServer,
    memory: Memory,
    qtbot: QtBot,
) -> None:
    window = harness.window
    assert window.composer.destination.isHidden()
    use(harness, server, qtbot)
    assert window.composer.destination.isVisible()  # before the first message
    assert server.url.removeprefix("http://") in window.composer.destination.text()
    assert set(window.engine.unavailable) == set(Mode) - {Mode.OFF}
    ask(harness, "Hi")
    qtbot.waitUntil(lambda: is_quiet(harness) and bool(window.finished))
    answer = harness.messages()[-1]
    assert (answer.text, answer.state) == ("Hello, world!", MessageState.COMPLETE)
    assert answer.stats is not None
    assert (answer.stats.proposed, answer.stats.accepted, answer.stats.tokens) == (4, 2, 4)
    assert answer.target == f"org/model @ {server.url.removeprefix('http://')}"
    assert harness.engine.requests == []  # the local engine had nothing to do
    assert [row.used_remote_server for row in harness.store.conversations()] == [False], (
        "the engine runs on this machine"
    )
    ask(harness, "And now?")
    qtbot.waitUntil(lambda: is_quiet(harness) and len(window.finished) == 2)
    assert [message["content"] for message in server.bodies[-1]["messages"]] == ["Hi", "Hello, world!", "And now?"]
    page = page_of(harness)
    QTest.mouseClick(page.cards[0].remove_button, LEFT)
    qtbot.waitUntil(lambda: page.cards == [] and memory.kept == {})


def test_its_models_are_in_the_headers_list_and_one_is_taken(
    harness: AppHarness, server: ScriptedServer, memory: Memory, qtbot: QtBot
) -> None:
    page = add(harness, server.url, KEY)
    qtbot.waitUntil(lambda: len(page.cards) == 1)
    harness.window.models.leave()
    harness.window.header.open_models()
    path = remote_model_id(server.url, "org/model")
    qtbot.waitUntil(lambda: f"target:{path}" in keys_of(harness))
    take(harness, f"target:{path}")
    qtbot.waitUntil(lambda: bool(harness.window.engine.target and harness.window.engine.target.path == path))
    assert not harness.window.header.draft_action.isEnabled()
    assert memory.kept


def test_an_engine_that_does_not_answer_is_marked_where_it_is_offered(
    harness: AppHarness, server: ScriptedServer, memory: Memory, qtbot: QtBot
) -> None:
    page = add(harness, server.url, KEY)
    qtbot.waitUntil(lambda: len(page.cards) == 1)
    harness.window.models.leave()

    def offered() -> Choice:
        return next(row for row in harness.window.header.picker.list.rows.rows if "org/model" in row.key)

    harness.window.header.open_models()
    place = [row.key for row in harness.window.header.picker.list.rows.rows].index(offered().key)
    assert offered().icon == "server"
    server.script.key = "another"
    harness.window.header.picker.close()
    harness.window.header.open_models()
    qtbot.waitUntil(lambda: offered().icon == "triangle-alert")
    assert "not reachable" in offered().lines[0]
    assert harness.window.header.picker.list.rows.rows[place] == offered(), "it moves nothing"
    assert page_of(harness).cards[0].silence.isVisible()
    server.script.key = KEY
    harness.window.models.leave()
    harness.window.header.picker.close()
    harness.window.header.open_models()
    qtbot.waitUntil(lambda: offered().icon == "server")
    assert memory.kept


def test_a_break_keeps_what_came_and_says_why(
    harness: AppHarness,
    server: ScriptedServer,
    memory: Memory,
    qtbot: QtBot,
) -> None:
    use(harness, server, qtbot)
    server.script.cut_after = 2
    ask(harness, "Hi")
    qtbot.waitUntil(lambda: bool(harness.window.finished))
    answer = harness.messages()[-1]
    assert (answer.text, answer.state, answer.can_continue) == ("Hello, ", MessageState.FAILED, True)
    assert "Continue" in answer.notice, "with what can be done"
    server.script.cut_after, server.script.key = None, "another"
    ask(harness, "Again")
    qtbot.waitUntil(lambda: is_quiet(harness) and len(harness.window.finished) == 2)
    assert "does not accept the key" in harness.messages()[-1].notice
    assert harness.window.problems == [], "it is told once, where the answer would be"
    assert memory.kept


def test_a_wrong_key_stays_in_the_form_and_nothing_is_added(
    harness: AppHarness,
    server: ScriptedServer,
    memory: Memory,
    qtbot: QtBot,
) -> None:
    page = add(harness, server.url, "wrong")
    qtbot.waitUntil(page.form.failure.isVisible)
    assert "does not accept the key" in page.form.failure.text.text()
    assert (page.cards, memory.kept) == ([], {})
    assert page.form.trust.isHidden()
    page.form.address.setText("http://192.0.2.1:8000")
    assert page.form.trust.isVisible()


def test_no_file_has_the_key(
    harness: AppHarness,
    server: ScriptedServer,
    memory: Memory,
    qtbot: QtBot,
    paceline_home: Path,
) -> None:
    use(harness, server, qtbot)
    ask(harness, "Hi")
    qtbot.waitUntil(lambda: is_quiet(harness) and len(harness.window.finished) == 1)
    server.script.status, server.script.error = 400, {"message": f"Incorrect API key provided: {KEY}."}  # as some do
    ask(harness, "Again")
    qtbot.waitUntil(lambda: is_quiet(harness) and len(harness.window.finished) == 2)
    assert "[key]" in harness.messages()[-1].notice
    assert KEY not in harness.messages()[-1].notice
    harness.close()
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
    first = open_app()
    first.engine.ready()
    qtbot.waitUntil(lambda: first.window.engine.target is not None)
    use(first, server, qtbot)
    first.close()
    second = open_app()
    try:
        qtbot.waitUntil(lambda: second.window.engine.target is not None)
        assert second.window.engine.target is not None
        assert second.window.engine.target.path == remote_model_id(server.url, "org/model")
        assert second.engine.loads == []
        assert memory.kept
    finally:
        second.close()


def test_thinking_is_switched_for_a_model_of_an_engine(
    harness: AppHarness, server: ScriptedServer, memory: Memory, qtbot: QtBot
) -> None:
    server.script.template, server.script.reasoning = SWITCH, ("I think.",)
    use(harness, server, qtbot)
    button = harness.window.composer.thinking
    assert (button.isVisible(), button.option) == (True, "on")
    QTest.mouseClick(button, LEFT)
    QTest.keyClick(button.popup.list, Qt.Key.Key_Down)
    QTest.keyClick(button.popup.list, Qt.Key.Key_Return)
    assert button.option == "off"
    ask(harness, "Hi")
    qtbot.waitUntil(lambda: is_quiet(harness) and bool(harness.window.finished))
    assert server.bodies[-1]["chat_template_kwargs"] == {"enable_thinking": False}
    answer = harness.messages()[-1]
    split = split_thinking(answer.text)
    assert (split.reasoning(answer.text).strip(), split.answer(answer.text).strip()) == ("I think.", "Hello, world!")
    assert memory.kept
