"""The window's layout is saved while the window is open, so that a kill does not lose it."""

import json
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.window import layout as layout_controller
from app.core.storage.window_state import write_layout
from engine.records import Source
from tests.app.fakes import AppHarness, open_app


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The written layouts."""
    written: list[bytes] = []
    monkeypatch.setattr(
        layout_controller, "write_layout", lambda path, data: written.append(data) or write_layout(path, data)
    )
    return written


def kept(harness: AppHarness) -> dict[str, Any]:
    """The layout that a start after a kill would restore."""
    file = harness.paths.layout_file
    return dict(json.loads(file.read_bytes())) if file.is_file() else {}


def test_a_kill_takes_neither_panes_nor_widths_nor_marks(harness: AppHarness, qtbot: QtBot) -> None:
    window = harness.window
    window.layout_state.toggle_sidebar()
    qtbot.waitUntil(lambda: kept(harness).get("sidebar") is False)
    window.layout_state.toggle_sidebar()
    qtbot.waitUntil(lambda: kept(harness)["sidebar"] is True)
    window.stats.now.sources[Source.DRAFT].click()
    qtbot.waitUntil(lambda: kept(harness)["marks"] == [Source.DRAFT.value])
    before = kept(harness)["sizes"]
    window.splitter.moveSplitter(before[0] + 40, 1)
    qtbot.waitUntil(lambda: kept(harness)["sizes"][0] == before[0] + 40)
    window.resize(window.width(), window.height() - 60)
    qtbot.waitUntil(lambda: kept(harness) == json.loads(window.layout_state.save()))
    left = harness.paths.layout_file.read_bytes()
    harness.close()
    harness.paths.layout_file.write_bytes(left)  # restores the file as if the app had been killed
    again = open_app()
    assert again.window.stats.now.marks == (Source.DRAFT.value,)
    assert again.window.height() == window.height()
    again.close()


@pytest.mark.parametrize("change", ["moved", "resized", "filled"])
def test_where_the_window_stands_is_kept(harness: AppHarness, qtbot: QtBot, change: str) -> None:
    window = harness.window
    qtbot.waitUntil(lambda: bool(kept(harness)))
    before = kept(harness)["geometry"]
    if change == "moved":
        window.move(window.x() + 33, window.y() + 21)
    elif change == "resized":
        window.resize(window.width(), window.height() - 50)
    else:
        window.showMaximized()
    qtbot.waitUntil(lambda: kept(harness)["geometry"] != before)
    qtbot.waitUntil(lambda: kept(harness) == json.loads(window.layout_state.save()))


def test_a_drag_is_not_written_pixel_by_pixel(harness: AppHarness, qtbot: QtBot, writes: list[bytes]) -> None:
    harness.controller.layout.save()
    writes.clear()
    place = harness.window.splitter.sizes()[0]
    for pixel in range(1, 60):
        harness.window.splitter.moveSplitter(place + pixel, 1)
    qtbot.waitUntil(lambda: kept(harness)["sizes"][0] == place + 59)
    assert len(writes) <= 2
    harness.controller.layout.save()
    assert len(writes) <= 2  # an unchanged layout is not written again


def test_a_file_that_cannot_be_written_disturbs_nothing_and_is_tried_again(harness: AppHarness, qtbot: QtBot) -> None:
    file = harness.paths.layout_file
    harness.controller.layout.save()
    file.unlink()
    file.mkdir()
    harness.window.layout_state.toggle_sidebar()
    harness.controller.layout.save()
    assert harness.window.problems == []
    file.rmdir()
    harness.controller.layout.save()
    assert kept(harness)["sidebar"] is False


def test_closing_keeps_what_was_changed_last_and_nothing_after(harness: AppHarness, writes: list[bytes]) -> None:
    harness.window.layout_state.toggle_sidebar()
    harness.window.close()
    assert json.loads(writes[-1])["sidebar"] is False
    harness.window.layout_state.toggle_sidebar()
    assert not harness.controller.layout._save_timer.isActive()
