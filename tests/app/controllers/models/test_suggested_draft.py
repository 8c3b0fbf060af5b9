"""A target that is opened without a draft: one of the library that matches is suggested, once, with a button."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.paths import builtin_draft, builtin_target, find_paths
from tests.app.fakes import AppHarness
from tests.app.hub.pairs.test_outlooks import keep_passes
from tests.engine.gguf_factory import tiny_llama

WAIT_MS = 60_000


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A model of somebody's own, with the built-in vocabulary."""
    return Path(shutil.copy(builtin_target(), tmp_path / "mine.gguf"))


def opened(harness: AppHarness, target: Path, draft: str | None = None) -> None:
    harness.window.model_file_chosen.emit(str(target), "target")
    harness.engine.ready(str(target), draft)


def jobs_done(harness: AppHarness, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not harness.controller.hub.jobs._threads, timeout=WAIT_MS)
    qtbot.wait(50)


def test_a_draft_of_the_library_is_suggested_with_what_it_gains(
    harness: AppHarness, qtbot: QtBot, target: Path, tmp_path: Path
) -> None:
    draft = Path(shutil.copy(builtin_draft(), tmp_path / "small.gguf"))
    keep_passes(find_paths().cache, target, 4.0)
    keep_passes(find_paths().cache, draft, 0.2)
    harness.controller.hub.service.add(str(draft))
    opened(harness, target)
    banner = harness.window.notice_banner
    qtbot.waitUntil(lambda: not banner.action_button.isHidden(), timeout=WAIT_MS)
    assert "Paceline tiny draft" in banner.message.text()
    assert "× that with drafting" in banner.message.text()
    with qtbot.waitSignal(harness.window.model_file_chosen) as chosen:
        qtbot.mouseClick(banner.action_button, Qt.MouseButton.LeftButton)
    assert chosen.args == [str(draft), "draft"]
    assert banner.isHidden()


def test_it_is_suggested_once(harness: AppHarness, qtbot: QtBot, target: Path, tmp_path: Path) -> None:
    harness.controller.hub.service.add(shutil.copy(builtin_draft(), tmp_path / "small.gguf"))
    opened(harness, target)
    banner = harness.window.notice_banner
    qtbot.waitUntil(lambda: not banner.action_button.isHidden(), timeout=WAIT_MS)
    banner.hide()
    opened(harness, target)
    jobs_done(harness, qtbot)
    assert banner.action_button.isHidden() or banner.isHidden()


@pytest.mark.parametrize("library", ["empty", "another vocabulary"])
def test_nothing_is_said_where_nothing_matches(
    harness: AppHarness, qtbot: QtBot, target: Path, tmp_path: Path, library: str
) -> None:
    if library == "another vocabulary":
        harness.controller.hub.service.add(str(tiny_llama(n_ff=32).write(tmp_path / "other.gguf")))
    opened(harness, target)
    jobs_done(harness, qtbot)
    assert harness.window.notice_banner.action_button.isHidden()


def test_who_has_a_draft_needs_none(harness: AppHarness, qtbot: QtBot, target: Path, tmp_path: Path) -> None:
    draft = shutil.copy(builtin_draft(), tmp_path / "small.gguf")
    harness.controller.hub.service.add(draft)
    opened(harness, target, str(draft))
    jobs_done(harness, qtbot)
    assert harness.window.notice_banner.action_button.isHidden()
