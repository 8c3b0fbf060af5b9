"""Fixtures for the commands about models."""

import pytest


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poll often, since the loopback hub answers at once."""
    monkeypatch.setattr("app.cli.models.commands.POLL_S", 0.02)
