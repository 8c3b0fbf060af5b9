"""Text typed while the first chat opens or a model loads ends up in the message: no letter is lost."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.models import ModelRef
from app.core.paths import builtin_draft, builtin_target
from tests.app.core.hub.conftest import filled, hub
from tests.app.core.hub.loopback import LoopbackHub
from tests.app.fakes import AppHarness, PuppetWorker, open_app

__all__ = ["filled", "hub"]  # fixtures

LEFT = Qt.MouseButton.LeftButton
WAIT_MS = 30_000
BUILTIN = str(builtin_target())


def type_letters(qtbot: QtBot, harness: AppHarness, text: str) -> None:
    """Press keys like the system: in the focused widget, else in the window."""
    for letter in text:
        QApplication.processEvents()
        focused: QWidget = QApplication.focusWidget() or harness.window
        qtbot.keyClicks(focused, letter)


@pytest.fixture
def harness(hub: LoopbackHub, qtbot: QtBot) -> Iterator[AppHarness]:
    opened = open_app(PuppetWorker)
    qtbot.waitUntil(lambda: opened.window.models.is_open)
    opened.engine.ready(BUILTIN, str(builtin_draft()))
    yield opened
    opened.close()


def test_what_is_typed_after_choosing_the_built_in_pair_is_kept(harness: AppHarness, qtbot: QtBot) -> None:
    qtbot.mouseClick(harness.window.models.panel.welcome.builtin_button, LEFT)
    type_letters(qtbot, harness, "while it loads")
    harness.engine.ready(BUILTIN, str(builtin_draft()))
    type_letters(qtbot, harness, " and after")
    assert harness.window.composer.text == "while it loads and after"


def test_what_is_typed_before_a_chosen_model_is_found_is_kept(harness: AppHarness, qtbot: QtBot) -> None:
    num_loads = len(harness.engine.loads)
    harness.window.models.panel.requests.chat_requested.emit(ModelRef(path=BUILTIN), None)
    type_letters(qtbot, harness, "before")
    qtbot.waitUntil(lambda: len(harness.engine.loads) > num_loads)
    type_letters(qtbot, harness, " while")
    harness.engine.ready(BUILTIN, None)
    type_letters(qtbot, harness, " after")
    assert harness.window.composer.text == "before while after"
