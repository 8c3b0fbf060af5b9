"""A nearly full disk is reported before saving fails, without blocking, and the notice disappears by itself."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.controllers.window import disk_space
from app.controllers.window.disk_space import ENOUGH_BYTES, LOW_BYTES
from app.core.domain.errors import StorageFullError
from app.core.domain.messages import MessageState
from tests.app.fakes import AppHarness, keep_settings, open_app
from ui.widgets.banner import Banner


class Disk:
    """The free space that the test sets."""

    def __init__(self) -> None:
        self.free: int | OSError = 10 * ENOUGH_BYTES
        self.asked: list[Path] = []

    def free_bytes(self, folder: Path) -> int:
        self.asked.append(folder)
        if isinstance(self.free, OSError):
            raise self.free
        return self.free


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    made = Disk()
    monkeypatch.setattr(disk_space, "free_bytes", made.free_bytes)
    return made


@pytest.fixture
def harness(disk: Disk, qtbot: QtBot) -> Iterator[AppHarness]:
    keep_settings({})
    opened = open_app()
    opened.engine.ready()
    qtbot.waitUntil(lambda: bool(disk.asked))
    yield opened
    opened.close()


def banner(harness: AppHarness) -> Banner:
    return harness.window.space_banner


def chat(harness: AppHarness, qtbot: QtBot, words: str) -> None:
    before = len(harness.window.finished)
    qtbot.waitUntil(harness.window.composer.edit.isEnabled)
    qtbot.keyClicks(harness.window.composer.edit, words)
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(harness.engine.requests) == before + 1)
    harness.engine.say("an answer")
    harness.engine.finish()
    qtbot.waitUntil(lambda: len(harness.window.finished) == before + 1)


def test_a_nearly_full_disk_is_reported_at_the_start_and_stops_nothing(disk: Disk, qtbot: QtBot) -> None:
    disk.free = LOW_BYTES - 1
    keep_settings({})
    harness = open_app()
    harness.engine.ready()
    qtbot.waitUntil(lambda: banner(harness).isVisible())
    said = banner(harness).message.text()
    assert said.startswith(f"The disk with {harness.paths.data} is nearly full.")
    assert said.endswith("Free some space, or Paceline will soon be unable to save anything.")
    assert set(disk.asked) == {harness.paths.data}
    assert harness.window.problem_banner.isHidden()
    chat(harness, qtbot, "still here?")
    assert [view.state for view in harness.messages()] == [MessageState.COMPLETE] * 2
    assert banner(harness).isVisible()
    harness.close()


def test_it_is_told_when_a_conversation_is_written_and_goes_by_itself(
    harness: AppHarness, disk: Disk, qtbot: QtBot
) -> None:
    chat(harness, qtbot, "first")
    assert banner(harness).isHidden()
    disk.free = LOW_BYTES - 1
    chat(harness, qtbot, "second")
    qtbot.waitUntil(lambda: banner(harness).isVisible())
    disk.free = ENOUGH_BYTES
    chat(harness, qtbot, "third")
    qtbot.waitUntil(lambda: banner(harness).isHidden())


def test_what_was_dismissed_is_reported_again_only_after_there_was_space(harness: AppHarness, disk: Disk) -> None:
    shown = []
    for free in (0, 0, ENOUGH_BYTES, 0):
        disk.free = free
        harness.controller.space._measure()
        shown.append(banner(harness).isVisible())
        banner(harness).close_button.click()
    assert shown == [True, False, False, True]


def test_one_sentence_is_enough_while_saving_fails(harness: AppHarness, disk: Disk, qtbot: QtBot) -> None:
    disk.free = 0
    chat(harness, qtbot, "first")
    qtbot.waitUntil(lambda: banner(harness).isVisible())
    harness.controller.on_save_state(StorageFullError("There is no space left.").problem)
    assert harness.window.problem_banner.isVisible()
    assert banner(harness).isHidden()
    harness.controller.on_save_state(None)
    assert banner(harness).isVisible()


def test_nothing_changes_between_the_bounds_or_for_unknown_space(harness: AppHarness, disk: Disk) -> None:
    shown = []
    for free in (LOW_BYTES, LOW_BYTES - 1, ENOUGH_BYTES - 1, OSError("gone"), LOW_BYTES, ENOUGH_BYTES, LOW_BYTES):
        disk.free = free
        harness.controller.space._measure()
        shown.append(banner(harness).isVisible())
    assert shown == [False, True, True, True, True, False, False]


def test_the_real_disk_can_be_asked(tmp_path: Path) -> None:
    assert 0 < disk_space.free_bytes(tmp_path) <= shutil.disk_usage(tmp_path).total
    with pytest.raises(OSError, match="missing"):
        disk_space.free_bytes(tmp_path / "missing")
