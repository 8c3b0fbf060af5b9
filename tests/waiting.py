"""Timeouts of tests, long enough for a busy machine. Conditions that hold at once do not wait longer."""

import time
from collections.abc import Callable

PATIENCE_S = 60.0


def wait_for(condition: Callable[[], object]) -> None:
    """Poll every few milliseconds until the condition holds."""
    end_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end_s, "waited for a minute"
        time.sleep(0.005)
