"""Measures how fast this machine reads memory: a plain pass reads all weights, so this limits its speed."""

import logging
import threading
from time import perf_counter

import numpy as np

from engine.llama.library import physical_cores

log = logging.getLogger(__name__)

_BLOCK_BYTES = 64 << 20  # per thread: larger than a thread's share of the processor's cache
_BUDGET_S = 0.3


def memory_read_speed() -> float | None:
    """Bytes per second that all cores read together; None if it cannot be measured."""
    try:
        return measure_read_speed(physical_cores())
    except (MemoryError, RuntimeError) as error:
        log.info("the memory's speed could not be measured: %s", error)
        return None


def measure_read_speed(threads: int) -> float:
    """Bytes per second that ``threads`` threads read together: the best of at least two runs within 0.3 seconds.

    NumPy releases the GIL while it reads.

    Raises:
        MemoryError: the blocks do not fit in memory.
    """
    blocks = [np.ones(_BLOCK_BYTES // 8) for _ in range(threads)]
    ends, times_s = perf_counter() + _BUDGET_S, list[float]()
    while len(times_s) < 2 or perf_counter() < ends:
        readers = [threading.Thread(target=np.max, args=(block,), name="read speed") for block in blocks]
        started = perf_counter()
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        times_s.append(perf_counter() - started)
    return _BLOCK_BYTES * threads / max(min(times_s), 1e-9)
