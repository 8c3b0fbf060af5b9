"""Tests downloads in the Models panel with a real loopback hub and real clicks."""

import hashlib
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.core.domain.models import DownloadStatus
from app.core.domain.projects import EMBEDDERS
from app.core.paths import builtin_draft
from tests.app.controllers.models.place_steps import (
    DRAFT_FILE,
    LEFT,
    click_page,
    place_of,
    search_and_open,
)
from tests.app.core.hub.conftest import filled, harness, hub
from tests.app.core.hub.loopback import LoopbackHub
from tests.app.fakes import AppHarness
from tests.engine.embedding_factory import TinyBert
from ui.projects.page import ProjectPage

__all__ = ["filled", "harness", "hub"]  # fixtures


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
