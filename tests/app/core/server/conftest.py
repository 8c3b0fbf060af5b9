"""A server with a scripted engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.core.server.scripted_session import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that answers "Good day"."""
    opened = ScriptedServer()
    yield opened
    opened.close()
