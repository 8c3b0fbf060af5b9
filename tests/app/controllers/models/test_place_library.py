"""Tests the library in the Models panel: files are added in place, and removed."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.paths import builtin_target
from tests.app.controllers.models.place_steps import LEFT, WAIT_MS, click_page, place_of, texts_of
from tests.app.core.hub.conftest import filled, harness, hub
from tests.app.fakes import AppHarness
from ui.widgets.dialogs import ConfirmDialog

__all__ = ["filled", "harness", "hub"]  # fixtures


def test_a_gguf_from_the_disk_is_added_where_it_lies(harness: AppHarness, qtbot: QtBot) -> None:
    place = place_of(harness)
    qtbot.keyClick(harness.window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    click_page(place, 3, qtbot)
    place.requests.add_requested.emit(str(builtin_target()))
    qtbot.waitUntil(lambda: len(place.library.lines) == 1, timeout=WAIT_MS)
    assert place.library.lines[0].row.in_place
    place.library.lines[0].remove_action.trigger()
    question = harness.window.findChild(ConfirmDialog)
    assert question is not None
    assert "No file is deleted" in " ".join(texts_of(question))
    qtbot.mouseClick(question.accept_button, LEFT)
    qtbot.waitUntil(lambda: not place.library.lines, timeout=WAIT_MS)
    assert builtin_target().exists()
