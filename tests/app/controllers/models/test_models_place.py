"""Tests the Models panel with a real loopback hub, real clicks and keys, and the real engine for the chat."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.messages import MessageState
from app.core.domain.models import DownloadStatus, ModelRef, RepoView
from app.core.paths import builtin_draft, builtin_target, find_paths
from engine.records import Event
from engine.session.worker import EngineWorker, probing_session
from tests.app.controllers.models.place_steps import (
    DRAFT_REPO,
    REPO,
    TARGET_FILE,
    WAIT_MS,
    click,
    click_page,
    place_of,
    search_and_open,
    texts_of,
)
from tests.app.controllers.models.test_recommendations import listed
from tests.app.core.hub.conftest import filled, harness, hub
from tests.app.core.hub.loopback import Fault, LoopbackHub
from tests.app.core.hub.test_tokens import memory
from tests.app.fakes import AppHarness, PuppetWorker, keep_settings, open_app

__all__ = ["filled", "harness", "hub", "memory"]  # fixtures


def real_engine(on_event: Callable[[Event], None]) -> EngineWorker:
    return EngineWorker(on_event, lambda: probing_session(find_paths().cache))


def _wait_for_jobs(harness: AppHarness, qtbot: QtBot) -> None:
    """Otherwise the app would be closed while requests are running."""
    hub = harness.controller.hub
    assert hub is not None
    qtbot.waitUntil(lambda: hub._jobs.is_idle)


def test_a_download_that_moves_on_leaves_what_is_being_opened(
    harness: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user downloads one model and opens the next while the hub is slow."""
    search_and_open(harness, qtbot, "tiny-GGUF")
    place, hub = place_of(harness), harness.controller.hub
    assert hub is not None
    asked, answered, answer = threading.Event(), threading.Event(), hub.service.repo

    def slow(repo: str) -> RepoView:
        asked.set()
        assert answered.wait(WAIT_MS / 1000)
        return answer(repo)

    monkeypatch.setattr(hub.service, "repo", slow)
    place.requests.repo_requested.emit(DRAFT_REPO)
    qtbot.waitUntil(asked.is_set)
    place.requests.pull_requested.emit((ModelRef(REPO, TARGET_FILE),), False)
    lines = place.downloads.lines
    qtbot.waitUntil(lambda: bool(lines) and all(line.status is DownloadStatus.DONE for line in lines.values()))
    answered.set()
    qtbot.waitUntil(lambda: place.search.pane.title.text() == "paceline-tiny-draft-GGUF")


def test_a_token_opens_the_model_that_asked_for_it_and_not_the_one_before(
    harness: AppHarness, filled: LoopbackHub, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    search_and_open(harness, qtbot, "tiny-GGUF")
    place, hub = place_of(harness), harness.controller.hub
    assert hub is not None
    monkeypatch.setattr(hub.service.client.tokens, "save", lambda _token: None)  # there is no keyring here
    filled.refusals.append(Fault(status=401, path_part=DRAFT_REPO))
    place.requests.repo_requested.emit(DRAFT_REPO)
    qtbot.waitUntil(lambda: "token" in " ".join(texts_of(place.search.pane)))
    place.requests.token_entered.emit("hf_0123456789")
    qtbot.waitUntil(lambda: place.search.pane.title.text() == "paceline-tiny-draft-GGUF")


def test_what_fails_without_a_network_is_told_where_it_was_asked(
    harness: AppHarness, filled: LoopbackHub, qtbot: QtBot
) -> None:
    place = place_of(harness)
    filled.close()
    place.requests.repo_requested.emit(REPO)
    qtbot.waitUntil(lambda: "reached" in " ".join(texts_of(place.search.pane.empty)))
    _wait_for_jobs(harness, qtbot)


def test_a_model_that_is_gone_is_told_by_its_name(harness: AppHarness, qtbot: QtBot) -> None:
    place_of(harness).requests.chat_requested.emit(ModelRef(REPO, TARGET_FILE), None)  # removed after it was shown
    qtbot.waitUntil(lambda: bool(harness.window.problems))
    assert harness.window.problems[-1].message == f"{TARGET_FILE} is missing."
    _wait_for_jobs(harness, qtbot)


def test_an_invalid_hub_address_is_reported_and_chats_still_work(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "huggingface")
    keep_settings({"target_path": "", "draft_path": ""})
    harness = open_app(PuppetWorker)
    assert harness.controller.hub is None
    harness.window.models.open("search")
    place = place_of(harness)
    assert place.problem.isVisible()
    assert "HF_ENDPOINT" in place.problem.title.text() + place.problem.message.text()
    harness.window.models.leave()
    harness.engine.ready()
    harness.window.composer.submitted.emit("Hello")
    assert len(harness.engine.requests) == 1
    harness.close()


def test_a_draft_of_the_library_is_taken_for_the_model_in_use(harness: AppHarness, qtbot: QtBot) -> None:
    harness.engine.ready()
    qtbot.waitUntil(lambda: harness.window.engine.target is not None)
    harness.window.models.open("library")
    place_of(harness).requests.draft_requested.emit(ModelRef(path="models/other-draft.gguf"))
    assert not harness.window.models.is_open
    assert harness.engine.drafts[-1] == "models/other-draft.gguf"
    assert harness.window.composer.edit.hasFocus()


def test_the_first_run_is_shown_once(filled: LoopbackHub, qtbot: QtBot) -> None:
    first = open_app(PuppetWorker)
    place = place_of(first)
    assert first.window.models.is_open
    assert place.page == "welcome"
    click(place.welcome, "Skip", qtbot)
    assert not first.window.models.is_open
    first.close()
    again = open_app(PuppetWorker)
    assert not again.window.models.is_open
    again.window.models.open("welcome")
    assert place_of(again).page == "welcome"
    again.close()


def test_recommended_pair_pull_and_chat(
    filled: LoopbackHub, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(tmp_path / "catalog.toml", target=builtin_target().stat().st_size, draft=builtin_draft().stat().st_size)
    monkeypatch.setattr("app.controllers.models.pairs.CATALOG_FILE", str(tmp_path / "catalog.toml"))
    keep_settings({"target_path": "", "draft_path": ""})
    harness = open_app(real_engine)
    place = place_of(harness)
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    qtbot.mouseClick(harness.window.sidebar.models_button, Qt.MouseButton.LeftButton)
    click_page(place, 0, qtbot)
    qtbot.waitUntil(lambda: place.recommended.card.verdict.text.text() == "The draft matches")
    assert place.recommended.card.fit.isVisible()
    click(place.recommended.card, "Download and chat", qtbot)
    qtbot.waitUntil(lambda: not harness.window.models.is_open)
    models = harness.paths.models
    qtbot.waitUntil(lambda: _is_loaded(harness, models))
    qtbot.keyClicks(harness.window.composer.edit, "What is speculative decoding?")
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(harness.window.finished))
    answer = harness.window.finished[-1]
    assert answer.state is MessageState.COMPLETE
    assert answer.text.strip()
    qtbot.keyClick(harness.window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    click_page(place, 2, qtbot)
    qtbot.waitUntil(lambda: {line.row.in_use for line in place.library.lines} == {"target", "draft"})
    harness.close()


def _is_loaded(harness: AppHarness, models: Path) -> bool:
    view = harness.window.engine
    both = view.target is not None and view.draft is not None and view.state is EngineState.READY
    return both and all(Path(one.path).is_relative_to(models) for one in (view.target, view.draft) if one)
