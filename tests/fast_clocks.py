"""A plugin, `pytest -p tests.fast_clocks`: Python's clocks run four times as fast, as on a slower CPU.

Tests that fail only with this plugin depend on the machine's speed. `test_kill_app` is excluded: it compares the clocks
of two processes.
"""

import time
from collections.abc import Callable

TIMES = 4.0
CLOCKS = ("perf_counter", "monotonic", "thread_time")


def _fast(clock: Callable[[], float]) -> Callable[[], float]:
    begun = clock()
    return lambda: begun + TIMES * (clock() - begun)


for name in CLOCKS:
    setattr(time, name, _fast(getattr(time, name)))
