"""Tests the Models panel with a real loopback hub, real clicks and keys, and the real engine for the chat."""

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.messages import MessageState
from app.core.domain.models import DownloadStatus, ModelRef, RepoView
from app.core.domain.projects import EMBEDDERS
from app.core.paths import builtin_draft, builtin_target, find_paths
from engine.records import Event
from engine.session.worker import EngineWorker, probing_session
from tests.app.controllers.models.place_steps import (
    DRAFT_FILE,
    DRAFT_REPO,
    LEFT,
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
from tests.app.core.hub.library.test_other_programs import manifest, model
from tests.app.core.hub.link_server import LinkServer, file
from tests.app.core.hub.loopback import Fault, LoopbackHub
from tests.app.core.hub.test_tokens import memory
from tests.app.fakes import AppHarness, PuppetWorker, keep_settings, open_app
from tests.engine.embedding_factory import TinyBert
from ui.models.parts import WELCOME
from ui.models.search_page import LinkDialog
from ui.projects.page import ProjectPage

__all__ = ["filled", "harness", "hub", "memory"]  # fixtures


def real_engine(on_event: Callable[[Event], None]) -> EngineWorker:
    return EngineWorker(on_event, lambda: probing_session(find_paths().cache))


def _wait_for_jobs(harness: AppHarness, qtbot: QtBot) -> None:
    """Otherwise the app would be closed while requests are running."""
    hub = harness.controller.hub
    assert hub is not None
    qtbot.waitUntil(lambda: not hub._jobs._threads)


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


def test_a_download_arrives_in_the_library_and_can_be_removed(harness: AppHarness, qtbot: QtBot) -> None:
    place = place_of(harness)
    search_and_open(harness, qtbot, "tiny-draft")
    qtbot.mouseClick(place.search.pane.files.action_buttons[DRAFT_FILE], LEFT)
    click_page(place, 3, qtbot)
    lines = place.downloads.lines
    qtbot.waitUntil(lambda: bool(lines) and all(line.status is DownloadStatus.DONE for line in lines.values()))
    click_page(place, 2, qtbot)
    qtbot.waitUntil(lambda: len(place.library.lines) == 1)
    line = place.library.lines[0]
    file = Path(line.row.path)
    assert file.is_relative_to(harness.paths.models)
    assert hashlib.sha256(file.read_bytes()).digest() == hashlib.sha256(builtin_draft().read_bytes()).digest()
    assert line.row.architecture == "llama"
    question = line.ask_remove()
    qtbot.mouseClick(question.accept_button, LEFT)
    qtbot.waitUntil(lambda: not place.library.lines)
    assert not file.exists()
    assert "of disk space" in place.notice.message.text()


def test_a_project_fetches_its_embedding_model_and_uses_it(
    harness: AppHarness, filled: LoopbackHub, qtbot: QtBot
) -> None:
    offer = EMBEDDERS[1]
    filled.add_file(offer.ref.repo, offer.ref.file, TinyBert().file().to_bytes())
    folder = harness.store.library.create_folder("House")
    harness.controller.projects.open_page(folder)
    page = harness.window.findChild(ProjectPage)
    assert page is not None
    row = next(row for row in range(page.search.count()) if page.search.itemText(row).endswith("(146 MB)"))
    page.search.setCurrentIndex(row)
    page.search.activated.emit(row)
    assert page.search.currentText() == "By words"  # until the model is downloaded
    assert page.progress_words.text().startswith(f"{offer.name} is being downloaded")
    path = str(harness.paths.models / offer.ref.repo / offer.ref.file)
    qtbot.waitUntil(lambda: harness.controller.state.settings.text("embedding_path") == path)
    assert page.search.currentText() == Path(path).stem
    qtbot.waitUntil(lambda: harness.controller.projects.has_meaning)
    page.close()


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
