"""The app on its desk, with an engine that the test plays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from tests.app.fakes import Desk, keep_settings, open_desk


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    """The app with a loaded pair."""
    keep_settings({})
    opened = open_desk()
    opened.engine.ready()
    qtbot.waitUntil(lambda: opened.window.engine.target is not None)
    yield opened
    opened.close()
