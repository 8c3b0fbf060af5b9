"""The library in the Models place: what is added where it lies, and taken off again."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.paths import builtin_target
from tests.app.controllers.models.place_steps import LEFT, WAIT_MS, click_page, place_of, texts_of
from tests.app.fakes import Desk
from tests.app.hub.conftest import desk, filled, hub
from ui.widgets.dialogs import Question

__all__ = ["desk", "filled", "hub"]  # fixtures


def test_a_gguf_from_the_disk_is_added_where_it_lies(desk: Desk, qtbot: QtBot) -> None:
    place = place_of(desk)
    qtbot.keyClick(desk.window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    click_page(place, 3, qtbot)
    place.wants.add_wanted.emit(str(builtin_target()))
    qtbot.waitUntil(lambda: len(place.library.lines) == 1, timeout=WAIT_MS)
    assert place.library.lines[0].row.in_place
    place.library.lines[0].remove_action.trigger()
    question = desk.window.findChild(Question)
    assert question is not None
    assert "No file is deleted" in " ".join(texts_of(question))
    qtbot.mouseClick(question.deed_button, LEFT)
    qtbot.waitUntil(lambda: not place.library.lines, timeout=WAIT_MS)
    assert builtin_target().exists()
