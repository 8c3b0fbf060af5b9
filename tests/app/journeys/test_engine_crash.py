"""SIGABRT of the engine's process during an answer of a real model: the window survives, the text is kept.

The long form ends it fifty times, at random moments.
"""

import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import cast

import pytest
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.local_server import ServerState
from app.core.domain.messages import MessageState
from app.core.domain.speed.races import LaneChoice, RaceSetup
from app.core.paths import builtin_target, find_paths
from engine.process.client import EngineClient
from engine.records import ChatRequest, Event, Mode
from engine.requests import OnEvent, Request
from engine.session.worker import probing_session
from tests.app.controllers.window.test_local_server import Served, free_port
from tests.app.core.server.scripted_session import ScriptedSession
from tests.app.fakes import AppHarness, keep_settings, open_app
from tests.long_form import rounds

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="SIGABRT for another process is a word of POSIX"),
    pytest.mark.usefixtures("tried"),
]
WAIT_MS = 60_000
NUM_CRASHES = rounds(2, 50)
LATEST_CRASH_MS = rounds(0, 1500)  # after the first text


class EndlessEngine(EngineClient):
    """The real engine; its answers continue until the context is full."""

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        super().__init__(on_event, partial(probing_session, find_paths().cache, builtin_target()))
        self.is_endless = True

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        if isinstance(request, ChatRequest):
            request = replace(request, ignore_eos=self.is_endless)
        super().submit(request, on_event)


@pytest.fixture
def harness(qtbot: QtBot) -> Iterator[AppHarness]:
    keep_settings({"target_path": "", "draft_path": "", "mode": "draft"})
    opened = open_app(EndlessEngine)
    wait_until_ready(opened, qtbot)
    yield opened
    opened.close()
    assert opened.engine.pid is None


def wait_until_ready(harness: AppHarness, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY, timeout=WAIT_MS)


def test_a_crash_in_an_answer_costs_the_rest_of_that_answer(harness: AppHarness, qtbot: QtBot) -> None:
    window = harness.window
    pids = set()
    moments = random.Random(1)  # noqa: S311 (no secret)
    for number in range(NUM_CRASHES):
        harness.engine.is_endless = True
        window.sidebar.new_chat.emit()
        window.composer.submitted.emit(f"Tell me story {number}.")
        qtbot.waitUntil(lambda: bool(window.text), timeout=WAIT_MS)
        window.composer.edit.setPlainText("not sent yet")
        pids.add(harness.engine.pid)
        qtbot.wait(round(moments.uniform(0.0, LATEST_CRASH_MS)))
        os.kill(harness.engine.pid, signal.SIGABRT)
        qtbot.waitUntil(lambda: not harness.controller.state.answers, timeout=WAIT_MS)
        view = harness.messages()[-1]
        assert view.state is MessageState.INTERRUPTED
        assert view.text == window.text != ""
        # Python's crash report reads the stacks of running threads, and may itself crash.
        assert view.notice in [f"The engine ended unexpectedly (signal {name})." for name in ("SIGABRT", "SIGSEGV")]
        assert window.composer.text == "not sent yet"
        assert window.isVisible()
        harness.engine.is_endless = False
        window.composer.submitted.emit("Hello")  # before the model is loaded
        qtbot.waitUntil(lambda: harness.messages()[-1].state is MessageState.COMPLETE, timeout=WAIT_MS)
        assert harness.messages()[-1].text
        wait_until_ready(harness, qtbot)
    assert len(pids | {harness.engine.pid}) == NUM_CRASHES + 1
    assert {problem.title for problem in window.problems} == {"The engine ended unexpectedly"}


def test_a_crash_is_told_in_each_chat_that_is_answered_or_waits(harness: AppHarness, qtbot: QtBot) -> None:
    window = harness.window
    window.composer.submitted.emit("Tell me a story.")
    first = harness.controller.state.chat_id
    qtbot.waitUntil(lambda: bool(window.text), timeout=WAIT_MS)
    window.sidebar.new_chat.emit()
    window.composer.submitted.emit("And another one.")
    second = harness.controller.state.chat_id
    assert first is not None
    assert second is not None
    os.kill(harness.engine.pid, signal.SIGABRT)
    qtbot.waitUntil(lambda: not harness.controller.state.answers, timeout=WAIT_MS)
    for number in (first, second):
        view = harness.store.messages(number)[-1]
        assert view.state is MessageState.INTERRUPTED
        assert view.notice.startswith("The engine ended unexpectedly")
    assert harness.store.messages(first)[-1].text
    harness.engine.is_endless = False
    for number in (first, second):
        window.sidebar.list.chosen.emit(number)
        window.composer.submitted.emit("Hello")  # the second question while the first is answered, or waits
    qtbot.waitUntil(lambda: not harness.controller.state.answers, timeout=WAIT_MS)
    assert [harness.store.messages(number)[-1].state for number in (first, second)] == [MessageState.COMPLETE] * 2
    wait_until_ready(harness, qtbot)


def test_a_crash_of_the_engine_ends_a_race_with_a_sentence(harness: AppHarness, qtbot: QtBot) -> None:
    window = harness.window
    window.race.opened_empty.emit()
    setup = RaceSetup("Say hello.", (LaneChoice(Mode.OFF), LaneChoice(Mode.DRAFT)), rounds=1, max_tokens=8)
    harness.controller.races.start(setup)
    qtbot.waitUntil(lambda: not harness.controller.state.is_racing, timeout=WAIT_MS)
    harness.controller.races.start(replace(setup, rounds=None, max_tokens=300))
    assert harness.controller.state.is_racing
    os.kill(harness.engine.pid, signal.SIGABRT)
    qtbot.waitUntil(lambda: not harness.controller.state.is_racing, timeout=WAIT_MS)
    told = window.race.page.problem.message.text()
    assert "SIGABRT" in told or "SIGSEGV" in told  # see above
    wait_until_ready(harness, qtbot)


def test_programs_are_answered_again_after_a_crash_of_the_engine(qtbot: QtBot) -> None:
    keep_settings({"target_path": "", "draft_path": "", "server": True, "server_port": (port := free_port())})
    harness = open_app(EndlessEngine)
    served = Served(harness, cast("ScriptedSession", None), port, qtbot)
    served.until(lambda: served.is_in(ServerState.ON))
    wait_until_ready(harness, qtbot)
    reply = served.wait(served.ask("Hello", max_tokens=8))
    assert (reply.status, bool(reply.text)) == (200, True)
    served.until(lambda: harness.window.local_server.view.activity.num_answered == 1)  # the job ends after its text
    pid = harness.engine.pid
    os.kill(pid, signal.SIGSTOP)  # so that it does not answer before it is killed
    cut = served.ask("Hello", max_tokens=8)
    served.until(lambda: served.running() == (0, 1))
    os.kill(pid, signal.SIGABRT)
    os.kill(pid, signal.SIGCONT)
    assert served.wait(cut).status == 500
    wait_until_ready(harness, qtbot)
    again = served.wait(served.ask("Hello", max_tokens=8))
    assert (again.status, bool(again.text)) == (200, True)
    harness.close()
