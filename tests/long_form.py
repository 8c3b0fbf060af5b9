"""The long form of tests that try many cases: `make test-long`, before releases.

Tests of exactness, safety and the user's data are complete even in the short form.
"""

import os

import pytest

LONG = bool(os.environ.get("PACELINE_LONG"))
only_long = pytest.mark.skipif(not LONG, reason="make test-long tries it")


def rounds(short: int, long: int) -> int:
    """The number of repetitions."""
    return long if LONG else short
