"""A real model answers two chats of the window in parallel, while a third waits."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.messages import MessageState
from tests.app.controllers.chat.test_parallel import click, send_anew, shown, text_of, told
from tests.app.fakes import keep_settings, open_app
from tests.app.journeys.test_engine_crash import EndlessEngine

WAIT_MS = 60_000


@pytest.mark.usefixtures("tried")
def test_both_go_on_one_is_stopped_and_a_third_takes_its_place(qtbot: QtBot) -> None:
    keep_settings({"target_path": "", "draft_path": "", "parallel": 2, "n_ctx": 4096, "mode": "off"})
    harness = open_app(EndlessEngine)
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY, timeout=WAIT_MS)
    assert harness.controller.state.models.num_parallel == 2
    first = send_anew(harness, qtbot, "Tell me a story.")
    qtbot.waitUntil(lambda: bool(shown(harness)), timeout=WAIT_MS)
    second = send_anew(harness, qtbot, "And another one.")
    qtbot.waitUntil(lambda: bool(shown(harness)), timeout=WAIT_MS)
    before = text_of(harness, first), text_of(harness, second)
    qtbot.waitUntil(lambda: len(text_of(harness, first)) > len(before[0]), timeout=WAIT_MS)
    qtbot.waitUntil(lambda: len(text_of(harness, second)) > len(before[1]), timeout=WAIT_MS)
    assert harness.controller.state.answering == {first, second}
    third = send_anew(harness, qtbot, "And a third one.")
    assert told(harness) == "Waiting for the answers in 2 other chats"
    click(harness, qtbot, "Tell me a story.")
    qtbot.mouseClick(harness.window.composer.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: harness.controller.state.answering == {second, third}, timeout=WAIT_MS)
    assert harness.store.messages(first)[-1].state is MessageState.STOPPED
    qtbot.waitUntil(lambda: bool(text_of(harness, third)), timeout=WAIT_MS)
    assert harness.store.messages(second)[-1].state is MessageState.STREAMING, "beside it"
    harness.close()
    assert harness.engine.pid is None
