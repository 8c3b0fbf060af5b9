"""Tests models from other apps, a folder or a link in the whole app with clicks and keys."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.paths import builtin_target
from tests.app.controllers.models.place_steps import LEFT, click, click_page, place_of
from tests.app.core.hub.conftest import filled, harness, hub
from tests.app.core.hub.library.test_other_programs import manifest, model
from tests.app.core.hub.link_server import LinkServer, file
from tests.app.fakes import AppHarness
from ui.models.parts import WELCOME
from ui.models.search_page import LinkDialog

__all__ = ["filled", "harness", "hub"]  # fixtures
BYTES = builtin_target().read_bytes()


def open_library(harness: AppHarness, qtbot: QtBot) -> None:
    qtbot.keyClick(harness.window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    click_page(place_of(harness), 2, qtbot)


def test_the_first_steps_offer_what_ollama_keeps_and_chat_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harness: AppHarness, qtbot: QtBot
) -> None:
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "ollama"))
    model(tmp_path / "ollama", "registry.ollama.ai/library/tiny/8m", BYTES)
    manifest(tmp_path / "ollama", "registry.ollama.ai/library/broken/1b", "{")
    place = place_of(harness)
    harness.window.models.open(WELCOME)
    click(place.welcome, "Chat with tiny:8m", qtbot)
    blob = max((tmp_path / "ollama" / "blobs").iterdir(), key=lambda path: path.stat().st_size)
    qtbot.waitUntil(lambda: str(blob) in [one.target for one in harness.engine.loads])
    open_library(harness, qtbot)
    qtbot.waitUntil(lambda: [line.row.key for line in place.library.lines] == ["tiny:8m"])


def test_a_folder_is_searched_and_what_it_has_can_be_added(tmp_path: Path, harness: AppHarness, qtbot: QtBot) -> None:
    (tmp_path / "mine" / "deep").mkdir(parents=True)
    (tmp_path / "mine" / "deep" / "own-Q8_0.gguf").write_bytes(BYTES)
    place = place_of(harness)
    open_library(harness, qtbot)
    chosen = place.library.ways.ask_folder()
    chosen.fileSelected.emit(str(tmp_path / "mine"))
    chosen.reject()
    click(place.library, "Add own-Q8_0", qtbot)
    qtbot.waitUntil(lambda: len(place.library.lines) == 1)
    assert f"Searched {tmp_path / 'mine'}: 1 model" in place.notice.message.text()
    assert place.library.offer_cards == []
    place.requests.scan_requested.emit(str(tmp_path / "nothing"))
    qtbot.waitUntil(place.problem.isVisible)


def test_a_link_is_fetched_and_chatted_with(harness: AppHarness, qtbot: QtBot) -> None:
    place = place_of(harness)
    with LinkServer() as server:
        server.answers["/a/tiny-Q8_0.gguf"] = file(BYTES)
        open_library(harness, qtbot)
        qtbot.mouseClick(place.library.ways.link_button, LEFT)
        (dialog,) = place.window().findChildren(LinkDialog)
        qtbot.waitUntil(dialog.address.hasFocus)
        qtbot.keyClicks(dialog.address, server.url("/a/tiny-Q8_0.gguf"))
        qtbot.keyClick(dialog.address, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: any(one.target.endswith("tiny-Q8_0.gguf") for one in harness.engine.loads))
    open_library(harness, qtbot)
    qtbot.waitUntil(
        # an earlier scan of the folder does not know the server
        lambda: [line.row.source for line in place.library.lines] == ["127.0.0.1"],
    )
