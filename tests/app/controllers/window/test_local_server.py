"""Tests the window's server over real sockets: switched by settings, with the window's engine, beside its chat."""

import http.client
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.local_server import ServerState
from app.core.domain.messages import MessageState
from engine.session.session import Session
from engine.session.worker import EngineWorker
from tests.app.controllers.window import stormy_clients
from tests.app.core.server.scripted_session import ScriptedSession
from tests.app.fakes import AppHarness, keep_settings, open_app
from ui.transcript.cards.answer_card import AnswerCard

PATIENCE_S = 60.0
NUM_CLIENTS, NUM_REQUESTS, NUM_CHATS = 8, 150, 5


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@dataclass
class Reply:
    """The reply to a program, received on a separate thread."""

    status: int = 0
    text: str = ""
    code: str | None = None
    done: threading.Event = field(default_factory=threading.Event)


@dataclass
class Served:
    """A window with a scripted engine, and programs that send requests."""

    harness: AppHarness
    session: ScriptedSession
    port: int
    qtbot: QtBot

    @property
    def key(self) -> str:
        return self.harness.paths.api_key_file.read_text("utf-8").strip()

    def is_in(self, state: ServerState) -> bool:
        return self.harness.window.local_server.view.state is state

    def ask(self, words: str, key: str | None = None, **fields: object) -> Reply:
        reply = Reply()
        thread = threading.Thread(target=self._ask, args=(reply, words, key or self.key, fields), daemon=True)
        thread.start()
        return reply

    def _ask(self, reply: Reply, words: str, key: str, fields: dict[str, object]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        body = json.dumps({"messages": [{"role": "user", "content": words}], **fields})
        try:
            connection.request("POST", "/v1/chat/completions", body, {"Authorization": f"Bearer {key}"})
            response = connection.getresponse()
            answer = json.loads(response.read())
            reply.status = response.status
            reply.text = (
                answer["choices"][0]["message"]["content"] if reply.status == 200 else answer["error"]["message"]
            )
            reply.code = answer.get("error", {}).get("code")
        except OSError as error:
            reply.text = str(error)
        finally:
            connection.close()
            reply.done.set()

    def wait(self, reply: Reply) -> Reply:
        self.qtbot.waitUntil(reply.done.is_set)
        return reply

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition)

    def chat(self, words: str) -> None:
        window = self.harness.window
        window.composer.edit.setPlainText(words)
        self.qtbot.mouseClick(window.composer.send_button, Qt.MouseButton.LeftButton)

    def running(self) -> tuple[int, int]:
        activity = self.harness.window.local_server.view.activity
        return activity.num_running, activity.num_waiting


@pytest.fixture
def served(qtbot: QtBot) -> Iterator[Served]:
    session, port = ScriptedSession(echo=True), free_port()
    keep_settings({"server": True, "server_port": port})
    harness = open_app(lambda on_event: EngineWorker(on_event, lambda: cast("Session", session)))
    found = Served(harness, session, port, qtbot)
    found.until(lambda: found.is_in(ServerState.ON) and harness.window.engine.target is not None)
    harness.window.models.leave()
    yield found
    session.gate.set()
    harness.close()


def test_it_is_off_until_somebody_turns_it_on(qtbot: QtBot) -> None:
    keep_settings({})
    harness = open_app()
    qtbot.wait(50)
    assert harness.window.local_server.view.state is ServerState.OFF
    assert not harness.window.local_server.button.isVisible()
    assert not harness.paths.api_key_file.exists()
    harness.close()


def test_programs_and_the_window_share_the_engine_and_nothing_is_mixed_up(served: Served) -> None:
    served.session.gate.clear()
    first = served.ask("first of a program")
    served.until(lambda: served.running() == (1, 0))
    second = served.ask("second of a program")
    served.until(lambda: served.running() == (1, 1))
    served.chat("mine")
    assert served.harness.window.local_server.view.window_waits or served.running() == (1, 1)
    (card,) = served.harness.window.findChildren(AnswerCard)
    served.until(lambda: card.progress_label.text() == "Another program's request is being answered; yours is next.")
    assert "answering, 1 waiting" in served.harness.window.local_server.button.accessibleName()
    served.session.gate.set()
    served.until(lambda: bool(served.harness.window.finished))
    assert (served.wait(first).text, served.wait(second).text) == ("first of a program", "second of a program")
    assert served.harness.messages()[-1].text == "mine"
    asked = [request.messages[-1].content for request in served.session.requests]
    assert asked == ["first of a program", "mine", "second of a program"]


def test_stopping_a_chat_and_stopping_a_program_are_separate(served: Served) -> None:
    served.session.gate.clear()
    program = served.ask("a program's")
    served.until(lambda: served.running() == (1, 0))
    served.chat("mine")
    served.until(lambda: served.harness.window.composer.is_busy)
    served.harness.window.composer.stop_requested.emit()
    served.session.release_piece()
    served.until(lambda: bool(served.harness.window.finished))
    assert served.harness.messages()[-1].state is MessageState.STOPPED
    assert served.running() == (1, 0), "the program's goes on"

    served.chat("mine again")
    served.harness.window.local_server.button.click()
    served.harness.window.server.page.stop_button.click()
    served.harness.window.server.leave()
    stopped = served.wait(program)
    assert (stopped.status, stopped.code) == (503, "stopped")
    served.session.gate.set()
    served.until(lambda: served.harness.messages()[-1].text == "mine\n\nmine again")


def test_another_model_is_served_once_the_window_has_it(served: Served) -> None:
    served.session.gate.clear()
    running = served.ask("running")
    served.until(lambda: served.running() == (1, 0))
    waiting = served.ask("waiting")
    served.until(lambda: served.running() == (1, 1))
    served.harness.window.dialogs.file_chosen.emit("models/other.gguf", "target")
    assert served.harness.window.notices[-1] == "This happens when the answer to another program is finished."
    refused = served.wait(served.ask("too early"))
    assert (refused.status, refused.code) == (503, "no_model")
    served.session.gate.set()
    assert served.wait(running).text == "running"
    assert (served.wait(waiting).status, waiting.code) == (503, "model_changed"), "it was asked of the other model"
    served.until(
        lambda: (
            served.harness.window.engine.target is not None and served.harness.controller.state.models.ready is not None
        )
    )
    assert served.wait(served.ask("late", model="other")).text == "late"
    assert served.wait(served.ask("late", model="target")).status == 200  # by the loaded model


def test_requests_begin_with_the_settings_and_keep_nothing_of_the_chats(served: Served) -> None:
    served.harness.window.dialogs.saved.emit({"temperature": 0.3, "system_prompt": "Be brief.", "learn_past": True})
    served.wait(served.ask("one"))
    request = served.session.requests[-1]
    assert request.sampling.temperature == 0.3
    assert request.messages[0].content == "Be brief."
    assert not request.use_past
    assert request.conversation_id < 0, "a guest's: its cache never reaches the disk"


def test_a_port_that_is_taken_is_one_sentence_and_another_one_helps(qtbot: QtBot) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = int(other.getsockname()[1])
        keep_settings({"server": True, "server_port": taken})
        harness = open_app()
        window = harness.window
        qtbot.waitUntil(lambda: window.local_server.view.state is ServerState.FAILED)
        (problem,) = window.problems
        assert problem.message == f"Another program uses port {taken}."
        assert "Server off" in window.local_server.button.accessibleName()
        window.dialogs.saved.emit({"server_port": free_port()})
        qtbot.waitUntil(lambda: window.local_server.view.state is ServerState.ON)
        assert not window.problem_banner.isVisible()
        window.dialogs.saved.emit({"server": False})
        qtbot.waitUntil(lambda: window.local_server.view.state is ServerState.OFF)
        assert not window.local_server.button.isVisible()
        harness.close()


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (PermissionError(13, "Permission denied"), "The system does not allow the server to use port {port}."),
        (RuntimeError("surprise"), "Something unexpected went wrong; the log has the details."),
    ],
)
def test_a_port_that_cannot_be_had_is_one_sentence_and_another_try_helps(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, failure: Exception, words: str
) -> None:
    def refuse(*_arguments: object, **_more: object) -> None:
        raise failure

    port = free_port()
    keep_settings({"server": True, "server_port": port})
    with monkeypatch.context() as patched:
        patched.setattr(socket, "create_server", refuse)
        harness = open_app()
        window = harness.window
        qtbot.waitUntil(lambda: window.local_server.view.state is ServerState.FAILED)
    assert window.problems[-1].message == words.format(port=port)
    window.local_server.retry_requested.emit()
    qtbot.waitUntil(lambda: window.local_server.view.state is ServerState.ON)
    assert not window.problem_banner.isVisible()
    harness.close()


@pytest.mark.skipif(os.name != "posix", reason="who may read a file is not told this way there")
def test_a_key_that_others_may_read_is_not_used_and_another_one_helps(qtbot: QtBot) -> None:
    paths = keep_settings({"server": True, "server_port": free_port()})
    paths.api_key_file.parent.mkdir(parents=True, exist_ok=True)
    paths.api_key_file.write_text("everybody-knows-this-key\n", "utf-8")
    paths.api_key_file.chmod(0o644)
    harness = open_app()
    window = harness.window
    qtbot.waitUntil(lambda: window.local_server.view.state is ServerState.FAILED)
    told = f"The key in {paths.api_key_file} cannot be used, or other users may read it."
    assert window.problems[-1].message == told
    window.local_server.button.click()
    access = window.server.page.access
    assert access.key.text() == ""
    qtbot.mouseClick(access.renew_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.local_server.view.state is ServerState.ON)
    assert access.key.text() == paths.api_key_file.read_text("utf-8").strip() != "everybody-knows-this-key"
    assert paths.api_key_file.stat().st_mode & 0o077 == 0
    paths.api_key_file.unlink()
    paths.api_key_file.mkdir()  # a folder, so that no key can be written
    qtbot.mouseClick(access.renew_button, Qt.MouseButton.LeftButton)
    assert access.key.text() == ""
    harness.close()


def test_it_starts_anew_on_the_same_port_and_ctrl_shift_l_switches_it(served: Served) -> None:
    window = served.harness.window
    served.qtbot.keyClick(window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    served.until(lambda: served.is_in(ServerState.OFF))
    window.dialogs.saved.emit({"server": True})
    window.dialogs.saved.emit({"server": False})
    window.dialogs.saved.emit({"server": True})
    served.until(lambda: served.is_in(ServerState.ON))
    assert served.wait(served.ask("still here")).text == "still here"


def test_the_page_shows_the_key_and_a_new_key_replaces_it(served: Served) -> None:
    window, old = served.harness.window, served.key
    window.local_server.button.click()
    assert window.server.is_open
    access = window.server.page.access
    assert access.isVisible()
    assert access.url.text() == f"http://127.0.0.1:{served.port}/v1"
    served.until(lambda: access.model.text() == "target")
    assert access.key.text() == old
    assert old not in access.key.displayText()
    served.qtbot.keyClick(access.show_button, Qt.Key.Key_Space)
    assert access.key.displayText() == old
    served.qtbot.mouseClick(access.renew_button, Qt.MouseButton.LeftButton)
    assert access.key.text() == served.key != old
    served.until(lambda: served.is_in(ServerState.ON) and served.wait(served.ask("new key")).status == 200)
    assert served.wait(served.ask("old key", key=old)).status == 401


def test_the_page_follows_the_requests_and_switches_the_server(served: Served) -> None:
    window = served.harness.window
    window.sidebar.server_button.click()
    page = window.server.page
    served.session.gate.clear()
    first = served.ask("words that nobody sees")
    served.until(lambda: served.running() == (1, 0))
    second = served.ask("nor these")
    served.until(lambda: page.queue.text() == "1 running, 1 waiting")
    served.qtbot.mouseClick(page.stop_button, Qt.MouseButton.LeftButton)
    assert served.wait(first).code == "stopped"
    served.session.gate.set()
    assert served.wait(second).status == 200
    served.qtbot.keyClick(page.switches["server"].control, Qt.Key.Key_Space)
    served.until(lambda: served.is_in(ServerState.OFF))
    assert page.state.text.text() == "The server is off."
    window.on_escape()
    assert window.shows_chat


def test_a_key_is_required_unless_declined_and_names_are_allowed(served: Served) -> None:
    change = served.harness.window.dialogs.saved

    def status(key: str, host: str = "127.0.0.1") -> int:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE_S)
        headers = {"Host": host, **({"Authorization": f"Bearer {key}"} if key else {})}
        try:
            connection.request("GET", "/v1/models", headers=headers)
            return connection.getresponse().status
        except OSError:  # the server restarts
            return 0
        finally:
            connection.close()

    assert [status(""), status(served.key), status(served.key, "box.lan")] == [401, 200, 403]
    change.emit({"server_key": False, "server_names": "host.docker.internal, Box.lan"})
    served.until(lambda: status("") == 200)
    assert [status("", "box.lan"), status("wrong", "host.docker.internal"), status("", "evil.example")] == [
        200, 200, 403,
    ]  # fmt: skip
    change.emit({"server_key": True, "server_names": ""})
    served.until(lambda: status("") == 401)
    assert [status(served.key), status(served.key, "box.lan")] == [200, 403]


def test_closing_the_window_ends_the_answers_and_frees_the_port(served: Served) -> None:
    served.session.gate.clear()
    reply = served.ask("unfinished")
    served.until(lambda: served.running() == (1, 0))
    served.harness.window.close()
    assert served.harness.controller.close(), "everything ended well"
    assert reply.done.wait(PATIENCE_S)
    assert reply.status in (0, 503)
    with socket.create_server(("127.0.0.1", served.port)):
        pass


def test_a_short_storm_leaves_every_answer_its_own(served: Served) -> None:
    tally, over = stormy_clients.Tally(), threading.Event()
    asked = [stormy_clients.Question(words, (words,)) for words in stormy_clients.questions(1)]
    where = stormy_clients.Where(served.port, served.key)
    threads = [
        stormy_clients.StormyClient(where, asked, tally, seed, lambda: not over.is_set()) for seed in range(NUM_CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for number in range(NUM_CHATS):
        served.harness.window.sidebar.new_chat.emit()
        served.chat(f"chat {number}")
        served.until(lambda: len(served.harness.window.finished) > number)  # noqa: B023
        assert served.harness.messages()[-1].text == f"chat {number}"
    served.until(lambda: sum(tally.kinds.values()) >= NUM_REQUESTS)
    over.set()
    served.until(lambda: not any(thread.is_alive() for thread in threads))
    assert tally.faults == []
    assert tally.num_other == 0
    assert tally.num_right > NUM_REQUESTS / 4
