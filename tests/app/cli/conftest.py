"""Fixtures for commands that read models in child processes; these start quickly."""

import pytest


@pytest.fixture(autouse=True)
def _quick_helpers(warm_helpers: None) -> None:
    """Start helper processes as forks; other tests cover their real start."""
