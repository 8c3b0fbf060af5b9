"""A server with a scripted engine."""

from collections.abc import Iterator

import pytest

from app.core.server.fields import clear_warnings
from tests.app.core.server.scripted_session import ScriptedServer


@pytest.fixture(autouse=True)
def no_warnings() -> None:
    """A request without warnings, for tests of the parsers."""
    clear_warnings()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that answers "Good day"."""
    opened = ScriptedServer()
    yield opened
    opened.close()
