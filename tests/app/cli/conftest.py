"""Commands that look at models in child processes, which begin quickly."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _quick_helpers(warm_helpers: None) -> None:
    """Other tests cover the start of helpers."""
