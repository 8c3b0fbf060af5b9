"""Commands about models, which poll more often than in normal use."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loopback hub answers at once."""
    monkeypatch.setattr("app.cli.models.commands.LOOK_EVERY_S", 0.02)
