"""How long tests wait: as long as a machine with much else to do may need. What comes at once takes no longer."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 60.0


def wait_for(condition: Callable[[], object]) -> None:
    """Look every few milliseconds until it holds."""
    end_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end_s, "waited for a minute"
        time.sleep(0.005)
