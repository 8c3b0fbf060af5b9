"""The long form of tests that try many things: `make test-long`, before releases.

Tests of exactness, safety and the user's data are complete in the short form, too.
"""

from __future__ import annotations

import os

import pytest

LONG = bool(os.environ.get("PACELINE_LONG"))
only_long = pytest.mark.skipif(not LONG, reason="make test-long tries it")


def rounds(short: int, long: int) -> int:
    """How often something is tried."""
    return long if LONG else short
