"""How fast this machine reads its memory, measured within a third of a second: for who has not run a model yet."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

_BLOCK_BYTES = 64 << 20  # for each thread: more than its share of any usual cache
_BUDGET_S = 0.3


def measure_read_speed(threads: int, budget_s: float = _BUDGET_S, clock: Callable[[], float] = perf_counter) -> float:
    """Bytes a second that ``threads`` threads read together, the quickest of some tries within ``budget_s``.

    At least two tries are made, however long they take. NumPy lets other threads run while it adds up.

    Raises:
        MemoryError: there is no room for the blocks.
    """
    blocks = [np.ones(_BLOCK_BYTES // 8) for _ in range(threads)]
    ends, best, tries = clock() + budget_s, 0.0, 0
    while tries < 2 or clock() < ends:
        best = max(best, _BLOCK_BYTES * threads / _read_s(blocks, clock))
        tries += 1
    return best


def _read_s(blocks: list[NDArray[np.float64]], clock: Callable[[], float]) -> float:
    readers = [threading.Thread(target=np.max, args=(block,), name="read speed") for block in blocks]
    started = clock()
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return max(clock() - started, 1e-9)
