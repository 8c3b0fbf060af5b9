"""Tests real remote servers in the window: `PACELINE_LLAMA_SERVER` names the program of a llama-server to start.

`PACELINE_VLLM_URL` is the address of a vLLM with drafting, `PACELINE_VLLM_KEY` its key. SmolLM2 135M is enough, with
``--max-model-len 1024`` and
``--speculative-config '{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 3}'``.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.core.benchmark.peers import free_ports
from app.core.domain.engines import ServerKind
from app.core.domain.messages import MessageState
from app.core.paths import builtin_draft, builtin_target
from app.core.remote.client import RemoteClient
from app.core.remote.detection import detect
from app.core.remote.errors import RemoteError
from tests.app.controllers.models.test_engines import add, ask, is_quiet, page_of
from tests.app.core.hub.test_tokens import memory
from tests.app.fakes import AppHarness

__all__ = ["memory"]  # a fixture
PROGRAM, VLLM_URL = os.environ.get("PACELINE_LLAMA_SERVER", ""), os.environ.get("PACELINE_VLLM_URL", "")
LLAMA_KEY, VLLM_KEY = "sk-loopback", os.environ.get("PACELINE_VLLM_KEY", "")
WAIT_MS = 120_000


@pytest.fixture(scope="module")
def llama_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a llama-server with the built-in pair."""
    [port] = free_ports(1)
    command = [PROGRAM, "-m", str(builtin_target()), "-md", str(builtin_draft()), "-c", "1024", "-np", "1", "-t", "1"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--api-key", LLAMA_KEY]
    command += ["--spec-type", "draft-simple", "--spec-draft-n-max", "4"]
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file) as server:
        try:
            url, ends = f"http://127.0.0.1:{port}", time.monotonic() + 120
            while True:
                try:
                    detect(RemoteClient(url, LLAMA_KEY))
                    break
                except RemoteError:
                    assert server.poll() is None, log.read_text("utf-8", "replace")[-2000:]
                    assert time.monotonic() < ends
                    time.sleep(0.5)
            yield url
        finally:
            server.terminate()
            server.wait(20)


@pytest.mark.skipif(not PROGRAM, reason="PACELINE_LLAMA_SERVER names no llama-server")
@pytest.mark.usefixtures("memory")
def test_llama_server(harness: AppHarness, llama_url: str, qtbot: QtBot, tmp_path: Path) -> None:
    facts = detect(RemoteClient(llama_url, LLAMA_KEY))
    assert (facts.kind, facts.models[0].n_ctx) == (ServerKind.LLAMA_SERVER, 1024)
    use(harness, llama_url, LLAMA_KEY, qtbot)
    note = tmp_path / "note.txt"
    note.write_text("Once upon a time there was a small boat.", "utf-8")
    harness.window.composer.files_offered.emit([str(note)])
    qtbot.waitUntil(lambda: bool(harness.window.composer.tray.rows.chips), timeout=WAIT_MS)
    chat(harness, qtbot)
    stats = harness.messages()[-1].stats
    assert stats is not None
    assert 0 < stats.accepted <= stats.proposed
    assert stats.passes == stats.tokens - stats.accepted
    harness.controller.answers.edit(harness.messages()[0].id, "Tell another story.")
    qtbot.waitUntil(lambda: is_quiet(harness) and len(harness.window.finished) == 2, timeout=WAIT_MS)
    assert len(harness.messages()[0].versions) == 2
    stop(harness, qtbot)


@pytest.mark.skipif(not VLLM_URL, reason="PACELINE_VLLM_URL names no vLLM")
@pytest.mark.usefixtures("memory")
def test_vllm(harness: AppHarness, qtbot: QtBot) -> None:
    facts = detect(RemoteClient(VLLM_URL, VLLM_KEY))
    assert facts.kind is ServerKind.VLLM
    use(harness, VLLM_URL, VLLM_KEY, qtbot)
    chat(harness, qtbot)
    stop(harness, qtbot)
    harness.window.dialogs.saved.emit({"max_tokens": 8})
    long_text = "Bread, apples, milk. " * (facts.models[0].n_ctx // 8)  # about 5 tokens each: two texts do not fit
    for number in (3, 4):
        ask(harness, long_text)
        qtbot.waitUntil(lambda n=number: is_quiet(harness) and len(harness.window.finished) == n, timeout=WAIT_MS)
    assert harness.messages()[-1].state is MessageState.COMPLETE, harness.window.problems
    assert "oldest messages were left out" in harness.messages()[-1].notice


def use(harness: AppHarness, url: str, key: str, qtbot: QtBot) -> None:
    """Add the server, and choose its model for the chat."""
    page = add(harness, url, key)
    qtbot.waitUntil(lambda: len(page.cards) == 1, timeout=WAIT_MS)
    page_of(harness).cards[0].chat_button.click()
    qtbot.waitUntil(
        lambda: bool(harness.window.engine.target and harness.window.engine.target.engine_url), timeout=WAIT_MS
    )


def chat(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.dialogs.saved.emit({"temperature": 0.0, "max_tokens": 40})
    ask(harness, "Repeat this three times: one two three four five six seven eight.")
    qtbot.waitUntil(lambda: is_quiet(harness) and len(harness.window.finished) == 1, timeout=WAIT_MS)
    answer = harness.messages()[-1]
    assert (answer.state, answer.stats is None) == (MessageState.COMPLETE, False), harness.window.problems
    assert answer.stats is not None
    assert 0 < answer.stats.tokens <= 40
    assert answer.stats.tokens_per_second
    assert answer.stats.time_to_first_token_s


def stop(harness: AppHarness, qtbot: QtBot) -> None:
    """Stop a long answer, which keeps its text."""
    harness.window.dialogs.saved.emit({"max_tokens": 900})
    num_finished = len(harness.window.finished)
    ask(harness, "Count from one to a hundred.")
    qtbot.waitUntil(lambda: bool(harness.messages()[-1].text) or not is_quiet(harness), timeout=WAIT_MS)
    harness.window.composer.stop_requested.emit()
    qtbot.waitUntil(lambda: is_quiet(harness) and len(harness.window.finished) > num_finished, timeout=WAIT_MS)
    assert harness.messages()[-1].state in (MessageState.STOPPED, MessageState.COMPLETE)
