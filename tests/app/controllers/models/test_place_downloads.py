"""Tests downloads in the Models panel with a real loopback hub and real clicks."""

import hashlib
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.core.domain.models import DownloadStatus
from app.core.paths import builtin_draft
from tests.app.controllers.models.place_steps import (
    DRAFT_FILE,
    LEFT,
    click_page,
    place_of,
    search_and_open,
)
from tests.app.core.hub.conftest import filled, harness, hub
from tests.app.fakes import AppHarness

__all__ = ["filled", "harness", "hub"]  # fixtures


def test_a_download_arrives_in_the_library_and_can_be_removed(harness: AppHarness, qtbot: QtBot) -> None:
    place = place_of(harness)
    search_and_open(harness, qtbot, "tiny-draft")
    qtbot.mouseClick(place.search.pane.files.action_buttons[DRAFT_FILE][-1], LEFT)
    click_page(place, 4, qtbot)
    lines = place.downloads.lines
    qtbot.waitUntil(lambda: bool(lines) and all(line.status is DownloadStatus.DONE for line in lines.values()))
    click_page(place, 3, qtbot)
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
