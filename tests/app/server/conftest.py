"""A server whose engine the test plays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.server.scripted_session import Bench


@pytest.fixture
def bench() -> Iterator[Bench]:
    """One that answers "Good day"."""
    opened = Bench()
    yield opened
    opened.close()
