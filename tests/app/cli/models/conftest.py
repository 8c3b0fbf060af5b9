"""Commands about models, which look for what they wait for more often than for a person."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this machine's own hub sends is here at once."""
    monkeypatch.setattr("app.cli.models.commands.LOOK_EVERY_S", 0.02)
