"""Tests a real llama-server as a remote server in the window: `PACELINE_LLAMA_SERVER` names the program."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.core.benchmark.peers.llama_server import free_ports
from app.core.domain.engines import ServerKind
from app.core.domain.messages import MessageState
from app.core.paths import builtin_draft, builtin_target
from app.core.remote.client import RemoteClient
from app.core.remote.detection import detect as ask_engine
from app.core.remote.errors import RemoteError
from tests.app.controllers.models.test_engines import add, ask, is_quiet, page_of
from tests.app.core.hub.test_tokens import memory
from tests.app.fakes import AppHarness

__all__ = ["memory"]  # a fixture
PROGRAM = os.environ.get("PACELINE_LLAMA_SERVER", "")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="PACELINE_LLAMA_SERVER names no llama-server")
KEY = "sk-loopback"
WAIT_MS = 120_000


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A running server with the built-in pair."""
    [port] = free_ports(1)
    words = [PROGRAM, "-m", str(builtin_target()), "-md", str(builtin_draft()), "-c", "1024", "-np", "1"]
    words += [
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--api-key",
        KEY,
        "--spec-type",
        "draft-simple",
        "--spec-draft-n-max",
        "4",
        "-t",
        "1",
    ]
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("wb") as file, subprocess.Popen(words, stdout=file, stderr=file) as server:
        try:
            found = f"http://127.0.0.1:{port}"
            ends = time.monotonic() + 120
            while True:
                try:
                    ask_engine(RemoteClient(found, KEY))
                    break
                except RemoteError:
                    assert server.poll() is None, log.read_text("utf-8", "replace")[-2000:]
                    assert time.monotonic() < ends
                    time.sleep(0.5)
            yield found
        finally:
            server.terminate()
            server.wait(20)


@pytest.mark.usefixtures("memory")
def test_chat_attachment_edit_stop_and_acceptance(harness: AppHarness, url: str, qtbot: QtBot, tmp_path: Path) -> None:
    page = add(harness, url, KEY)
    qtbot.waitUntil(lambda: len(page.cards) == 1, timeout=WAIT_MS)
    page_of(harness).cards[0].chat_button.click()
    qtbot.waitUntil(
        lambda: bool(harness.window.engine.target and harness.window.engine.target.engine_url), timeout=WAIT_MS
    )
    target = harness.window.engine.target
    assert target is not None
    assert target.n_ctx == 1024
    assert target.architecture.startswith("llama-server")
    harness.window.dialogs.saved.emit({"temperature": 0.0, "max_tokens": 60})
    note = tmp_path / "note.txt"
    note.write_text("Once upon a time there was a small boat.", "utf-8")
    harness.window.composer.files_offered.emit([str(note)])
    qtbot.waitUntil(lambda: bool(harness.controller.attachments.sums._attachments), timeout=WAIT_MS)
    ask(harness, "Tell a story.")
    qtbot.waitUntil(lambda: is_quiet(harness) and len(harness.window.finished) == 1, timeout=WAIT_MS)
    answer = harness.messages()[-1]
    assert answer.state is MessageState.COMPLETE, harness.window.problems
    assert answer.text
    stats = answer.stats
    assert stats is not None
    assert 0 < stats.accepted <= stats.proposed
    assert stats.passes == stats.tokens - stats.accepted
    assert stats.tokens_per_second
    assert stats.time_to_first_token_s
    assert harness.messages()[0].attachments
    harness.controller.answers.edit(harness.messages()[0].id, "Tell another story.")
    qtbot.waitUntil(lambda: is_quiet(harness) and len(harness.window.finished) == 2, timeout=WAIT_MS)
    assert len(harness.messages()[0].versions) == 2
    harness.window.dialogs.saved.emit({"max_tokens": 900})
    num_finished = len(harness.window.finished)
    ask(harness, "Tell a long story.")
    qtbot.waitUntil(lambda: bool(harness.messages()[-1].text) or not is_quiet(harness), timeout=WAIT_MS)
    harness.window.composer.stop_requested.emit()
    qtbot.waitUntil(lambda: is_quiet(harness) and len(harness.window.finished) > num_finished, timeout=WAIT_MS)
    assert harness.messages()[-1].state in (MessageState.STOPPED, MessageState.COMPLETE)
    assert harness.engine.requests == []


def test_the_program_is_known(url: str) -> None:
    facts = ask_engine(RemoteClient(url, KEY))
    assert facts.kind is ServerKind.LLAMA_SERVER
    assert facts.models
