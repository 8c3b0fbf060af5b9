"""Tests the first minutes with real models in the window: names, offers, the first answer, and its statistics.

The models are in the folder PACELINE_MODELS; missing ones are skipped.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.settings.layers import Layer
from app.core.domain.settings.table import COMPLETION_FORMAT
from app.core.paths import find_paths
from app.core.storage.pair_speeds import PairSpeeds
from app.startup.assembly import real_engine
from engine.records import Source
from tests.app.fakes import AppHarness, keep_settings, open_app
from tests.shared_files import real_model
from ui.window.empty_state import BUILTIN, CHAT

SMOL, GEMMA = "smollm2-135m-instruct-q4_1.gguf", "gemma-3-270m-q4_k_m.gguf"
QWEN, QWEN_DRAFT = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
WAIT_MS = 300_000
TOKENS = 24
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def harness(qapp: QApplication) -> Iterator[AppHarness]:
    paths = keep_settings({"target_path": "", "draft_path": "", "max_tokens": TOKENS, "seed": 1, "n_ctx": 2048})
    opened = open_app(real_engine(paths))
    yield opened
    opened.close()


def open_model(harness: AppHarness, qtbot: QtBot, path: Path) -> None:
    window = harness.window
    qtbot.waitUntil(lambda: window.engine.state is EngineState.READY, timeout=WAIT_MS)  # the built-in pair
    assert [text for _, _, text in window.empty.examples] == [text for _, _, text in BUILTIN]
    window.dialogs.file_chosen.emit(str(path), "target")
    qtbot.waitUntil(
        lambda: (
            window.engine.state is EngineState.READY
            and window.engine.target is not None
            and window.engine.target.path == str(path)
        ),
        timeout=WAIT_MS,
    )


def try_example(harness: AppHarness, qtbot: QtBot, number: int) -> None:
    window, before = harness.window, len(harness.window.finished)
    qtbot.mouseClick(window.empty.prompt_buttons[number], LEFT)
    qtbot.waitUntil(lambda: len(window.finished) > before, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: window.engine.state is EngineState.READY, timeout=WAIT_MS)


def offered(harness: AppHarness) -> list[str]:
    return [text for _, _, text in harness.window.empty.examples]


def test_a_small_chat_model(harness: AppHarness, qtbot: QtBot) -> None:
    path = real_model(SMOL)
    open_model(harness, qtbot, path)
    target = harness.window.engine.target
    assert target is not None
    assert target.name == "SmolLM2 135M Instruct"
    assert "SmolLM2 135M Instruct" in harness.window.header.model_button.text()
    assert offered(harness) == [text for _, _, text in CHAT]
    try_example(harness, qtbot, 0)
    answer = harness.messages()[-1]
    assert answer.text.strip()
    assert answer.stats is not None
    assert answer.stats.tokens == TOKENS
    harness.store.read(lambda _db: None)  # waits for earlier writes
    (kept,) = PairSpeeds(find_paths().pair_speeds_file).get(path.stem, "").answers
    assert kept.tokens == TOKENS


def test_a_pair_whose_draft_lies_in_the_library(harness: AppHarness, qtbot: QtBot) -> None:
    path, draft = real_model(QWEN), real_model(QWEN_DRAFT)
    harness.controller.hub.service.add(str(draft))
    open_model(harness, qtbot, path)
    assert offered(harness) == [text for _, _, text in CHAT]
    banner = harness.window.notice_banner
    qtbot.waitUntil(lambda: not banner.action_button.isHidden(), timeout=WAIT_MS)
    assert "can draft for this model" in banner.message.text()
    assert "Qwen2.5 Coder 0.5B Instruct" in banner.message.text()
    assert "per second" in banner.message.text() or "pay off" in banner.message.text()
    banner.action_button.click()
    qtbot.waitUntil(lambda: harness.window.engine.draft is not None, timeout=WAIT_MS)
    assert harness.window.engine.draft is not None
    assert harness.window.engine.draft.name == "Qwen2.5 Coder 0.5B Instruct"
    assert "AWQ" not in harness.window.header.model_button.toolTip().split("/")[0]
    try_example(harness, qtbot, 2)
    answer = harness.messages()[-1]
    assert answer.stats is not None
    assert answer.stats.tokens > 0
    assert sum(answer.stats.provenance.values()) == answer.stats.tokens
    assert set(answer.stats.provenance) <= set(Source)


def test_a_base_model_continues_texts(harness: AppHarness, qtbot: QtBot) -> None:
    path = real_model(GEMMA)
    open_model(harness, qtbot, path)
    target = harness.window.engine.target
    assert target is not None
    assert target.name == "Gemma 3 270M"
    assert not target.has_template
    assert "has no chat template" in harness.window.empty.text.text()
    harness.window.chat_settings.changed.emit(Layer.MODEL, {"prompt_format": COMPLETION_FORMAT})
    qtbot.waitUntil(lambda: offered(harness) == [])
    harness.window.composer.edit.setPlainText("Once upon a time, in a small village by the sea, there lived")
    before = len(harness.window.finished)
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(harness.window.finished) > before, timeout=WAIT_MS)
    answer = harness.messages()[-1]
    assert answer.text.strip()
    assert "User:" not in answer.text
    assert answer.stats is not None
    assert answer.stats.tokens > 0
