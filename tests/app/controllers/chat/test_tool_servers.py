"""Tests tool servers in the whole app: the first question waits for them, the window never does."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread

import keyring
import pytest
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.messages import MessageState
from app.core.domain.tools.calls import CallStatus
from app.core.domain.tools.servers import Phase
from app.core.tools.turn import RESULT_CHARS
from engine.records import EngineReady, ToolFormat
from tests.app.core.hub.test_tokens import Memory
from tests.app.core.tools.mcp.oauth_server import OAuthServer
from tests.app.core.tools.mcp.test_sign_in import fetched
from tests.app.fakes import AppHarness, info, keep_settings, open_app
from tests.app.journeys.test_responsiveness import MAX_CALLS, Heartbeat
from ui.transcript.cards.tool_card import ToolCard

SERVER = Path(__file__).parents[2] / "core" / "tools" / "mcp" / "hostile_server.py"
WAIT_MS = 60_000


@pytest.fixture
def app(qtbot: QtBot, request: pytest.FixtureRequest) -> Iterator[AppHarness]:
    """The app with one enabled server of this kind, all its tools allowed, and no loaded model."""
    names = ("echo", "tool000", "remote", "b_tool_b_red_name")
    allowed = ", ".join(f"x/{name}" for name in names)
    keep_settings({"tools": True, "built_in_tools": "calculate", "allowed_tools": allowed})
    harness = open_app()
    entry = {"command": sys.executable, "args": [str(SERVER), request.param, str(file_of(harness))], "enabled": True}
    harness.paths.tool_servers_file.write_text(json.dumps({"mcpServers": {"x": entry}}))
    yield harness
    harness.close()


def file_of(harness: AppHarness) -> Path:
    """The file that the server `waits for a file` waits for."""
    return harness.paths.tool_servers_file.with_name("begin")


def load(harness: AppHarness, qtbot: QtBot) -> None:
    harness.engine.is_loaded = True
    harness.engine.tell(EngineReady(replace(info("models/target.gguf"), tool_format=ToolFormat.HERMES)))
    qtbot.waitUntil(lambda: harness.window.engine.target is not None)


def names(harness: AppHarness) -> list[object]:
    return [tool["function"]["name"] for tool in harness.engine.requests[-1].tools]  # type: ignore[index]


@pytest.mark.parametrize("app", ["waits for a file"], indirect=True)
def test_the_first_question_waits_for_a_server_that_starts(app: AppHarness, qtbot: QtBot) -> None:
    load(app, qtbot)  # starts the server
    app.window.composer.submitted.emit("What is there?")
    card = app.window.transcript.last_answer()
    assert card is not None
    assert app.engine.requests == []
    assert card.progress_label.text() == "Starting the tool servers"
    file_of(app).touch()
    qtbot.waitUntil(lambda: len(app.engine.requests) == 1)
    assert names(app) == ["calculate", "echo", "second"]
    app.engine.say("Two tools.")
    app.engine.finish()
    qtbot.waitUntil(lambda: app.window.engine.state is EngineState.READY)
    app.window.composer.submitted.emit("And now?")
    assert names(app) == ["calculate", "echo", "second"]  # immediately, and with the same result
    assert app.engine.requests[0].tools == app.engine.requests[1].tools


@pytest.mark.parametrize("app", ["never starts"], indirect=True)
def test_stop_ends_the_wait_for_a_server(app: AppHarness, qtbot: QtBot) -> None:
    load(app, qtbot)
    app.window.composer.submitted.emit("What is there?")
    app.window.composer.stop_requested.emit()
    assert app.engine.requests == []
    assert app.messages()[-1].state is MessageState.STOPPED
    assert app.window.engine.state is EngineState.READY


@pytest.mark.parametrize("app", ["ends at once"], indirect=True)
def test_a_server_that_fails_is_told_and_the_question_is_sent(app: AppHarness, qtbot: QtBot) -> None:
    load(app, qtbot)
    app.window.composer.submitted.emit("What is there?")
    qtbot.waitUntil(lambda: len(app.engine.requests) == 1)
    assert names(app) == ["calculate"]
    assert "“x”" in app.window.notices[-1]
    app.engine.say("One tool.")
    app.engine.finish()
    qtbot.waitUntil(lambda: app.window.engine.state is EngineState.READY)
    num_told = len(app.window.notices)
    app.window.composer.submitted.emit("And now?")  # its failure was reported before the question
    qtbot.waitUntil(lambda: len(app.engine.requests) == 2)
    assert len(app.window.notices) == num_told


@pytest.mark.parametrize("app", ["ends at once"], indirect=True)
def test_a_server_that_failed_before_the_question_is_told_with_it(app: AppHarness, qtbot: QtBot) -> None:
    load(app, qtbot)
    providers = app.controller.answers.tools.providers
    providers.start_servers()
    qtbot.waitUntil(lambda: bool(providers.failures(())))
    app.window.composer.submitted.emit("What is there?")
    qtbot.waitUntil(lambda: len(app.engine.requests) == 1)
    assert "“x”" in app.window.notices[-1]


@pytest.mark.parametrize("app", ["good"], indirect=True)
def test_definitions_are_counted_before_anything_is_sent(app: AppHarness, qtbot: QtBot) -> None:
    load(app, qtbot)
    meter = app.controller.context.meter
    qtbot.waitUntil(lambda: '"second"' in app.controller.state.tools_text)
    qtbot.waitUntil(lambda: meter.parts.has_tools and meter.parts.system > 20)
    counted = meter.parts.system
    app.window.composer.edit.setPlainText("Hello there")
    qtbot.waitUntil(lambda: app.window.composer._sum is not None and app.window.composer._sum.total > counted)
    app.window.dialogs.saved.emit({"tools": False})
    qtbot.waitUntil(lambda: not meter.parts.has_tools and meter.parts.system < counted)


@pytest.mark.parametrize(
    ("app", "tool", "status"),
    [
        ("many tools", "tool000", CallStatus.DONE),
        ("schema bombs", "remote", CallStatus.DONE),
        ("nasty names", "b_tool_b_red_name", CallStatus.DONE),
        ("huge result", "echo", CallStatus.DONE),
        ("nasty result", "echo", CallStatus.DONE),
        ("many parts", "echo", CallStatus.DONE),
        ("many values", "echo", CallStatus.FAILED),
        ("dies", "echo", CallStatus.FAILED),
        ("no line end", "echo", CallStatus.FAILED),
    ],
    indirect=["app"],
)
def test_a_hostile_server_does_not_hold_the_window_up(
    app: AppHarness, tool: str, status: CallStatus, qtbot: QtBot
) -> None:
    load(app, qtbot)
    app.window.composer.submitted.emit("Go")
    heartbeat = Heartbeat()
    qtbot.waitUntil(lambda: len(app.engine.requests) == 1)
    assert tool in names(app)
    assert len(names(app)) <= 130
    app.engine.say(f'<tool_call>\n{{"name": "{tool}", "arguments": {{}}}}\n</tool_call>')
    app.engine.finish()
    qtbot.waitUntil(lambda: len(app.engine.requests) == 2)
    qtbot.wait(100)
    heartbeat.stop()
    view = next(view for view in app.messages() if view.call is not None)
    assert view.call is not None
    assert view.call.status is status
    assert len(view.text) <= RESULT_CHARS
    (card,) = [card for card in app.window.transcript.cards if isinstance(card, ToolCard)]
    shown = (card.author.text(), card.server.text(), card.preview.text(), card.accessibleName())
    assert not any(ord(char) < 32 and char != "\n" for text in shown for char in text)
    result = app.engine.requests[-1].messages[-1]
    assert (result.role, result.content.split("\n[")[0]) == ("tool", view.text.split("\n[")[0])  # sent to no other one
    sys.stderr.write(heartbeat.told)
    assert heartbeat.most_calls < MAX_CALLS


def test_a_sign_in_is_kept_in_the_keyring_and_in_no_file(qtbot: QtBot) -> None:
    before, memory = keyring.get_keyring(), Memory()
    keyring.set_keyring(memory)
    server = OAuthServer()
    harness = open_app()
    harness.paths.tool_servers_file.write_text(json.dumps({"mcpServers": {"x": {"url": server.url, "enabled": True}}}))
    requests, words = harness.window.tool_servers, list[str]()
    requests.sign_in_page.connect(lambda _name, page: Thread(target=lambda: words.append(fetched(page))).start())
    try:
        qtbot.waitUntil(lambda: requests.read()[0].sign_in == "wanted")
        assert not memory.kept
        requests.sign_in_requested.emit("x")
        qtbot.waitUntil(lambda: requests.read()[0].phase is Phase.READY)
        qtbot.waitUntil(lambda: words == ["You can close this page now, and go back to Paceline."])
        assert requests.read()[0].sign_in == "done"
        assert list(memory.kept) == [("paceline tools", server.url)]
        (token,) = server.tokens.access
        written = b"".join(path.read_bytes() for path in harness.paths.config.parent.rglob("*") if path.is_file())
        assert server.url.encode() in written
        assert token.encode() not in written
        assert next(iter(memory.kept.values())).encode() not in written
        requests.remove_requested.emit("x")
        qtbot.waitUntil(lambda: not memory.kept)
        assert requests.read() == ()
    finally:
        harness.close()
        server.close()
        keyring.set_keyring(before)
