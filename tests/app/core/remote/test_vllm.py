"""Tests a real vLLM with drafting as a remote server in the window; `PACELINE_VLLM_URL` is its address.

`PACELINE_VLLM_KEY` is its key. SmolLM2 135M is enough, with ``--max-model-len 1024`` and
``--speculative-config '{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 3}'``.
"""

from __future__ import annotations

import os

import pytest
from pytestqt.qtbot import QtBot

from app.core.domain.engines import ServerKind
from app.core.domain.messages import MessageState
from app.core.remote.client import RemoteClient
from app.core.remote.detection import detect as ask_engine
from tests.app.controllers.models.test_engines import add, ask, is_quiet, page_of
from tests.app.core.hub.test_tokens import memory
from tests.app.fakes import AppHarness

__all__ = ["memory"]  # a fixture
URL = os.environ.get("PACELINE_VLLM_URL", "")
KEY = os.environ.get("PACELINE_VLLM_KEY", "")
pytestmark = pytest.mark.skipif(not URL, reason="PACELINE_VLLM_URL names no vLLM")
WAIT_MS = 120_000
REPEATING = "Repeat this three times: one two three four five six seven eight."


def test_it_is_known_and_says_that_it_drafts() -> None:
    facts = ask_engine(RemoteClient(URL, KEY))
    assert (facts.kind, facts.drafting) == (ServerKind.VLLM, "spec_decode")
    assert facts.models[0].n_ctx


@pytest.mark.usefixtures("memory")
def test_chat_acceptance_stop_and_a_conversation_that_outgrows_it(harness: AppHarness, qtbot: QtBot) -> None:
    page = add(harness, URL, KEY)
    qtbot.waitUntil(lambda: len(page.cards) == 1, timeout=WAIT_MS)
    page_of(harness).cards[0].chat_button.click()
    qtbot.waitUntil(
        lambda: bool(harness.window.engine.target and harness.window.engine.target.engine_url), timeout=WAIT_MS
    )
    target = harness.window.engine.target
    assert target is not None
    harness.window.dialogs.saved.emit({"temperature": 0.0, "max_tokens": 40})
    ask(harness, REPEATING)
    qtbot.waitUntil(lambda: is_quiet(harness) and len(harness.window.finished) == 1, timeout=WAIT_MS)
    answer = harness.messages()[-1]
    assert answer.state is MessageState.COMPLETE, harness.window.problems
    stats = answer.stats
    assert stats is not None
    assert 0 < stats.tokens <= 40
    assert stats.tokens_per_second
    assert stats.time_to_first_token_s
    harness.window.dialogs.saved.emit({"max_tokens": 300})
    ask(harness, "Count from one to a hundred.")
    qtbot.waitUntil(lambda: bool(harness.messages()[-1].text) or not is_quiet(harness), timeout=WAIT_MS)
    harness.window.composer.stop_requested.emit()
    qtbot.waitUntil(lambda: is_quiet(harness) and len(harness.window.finished) == 2, timeout=WAIT_MS)
    assert harness.messages()[-1].state is MessageState.STOPPED
    harness.window.dialogs.saved.emit({"max_tokens": 8})
    long_text = "Bread, apples, milk. " * (target.n_ctx // 8)  # about 5 tokens each: two texts do not fit
    for number in (3, 4):
        ask(harness, long_text)
        qtbot.waitUntil(lambda n=number: is_quiet(harness) and len(harness.window.finished) == n, timeout=WAIT_MS)
    answer = harness.messages()[-1]
    assert answer.state is MessageState.COMPLETE, harness.window.problems
    assert answer.stats is not None
    assert answer.stats.left_out > 0
    assert "oldest messages were left out" in answer.notice
