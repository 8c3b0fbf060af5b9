"""Measures how fast this machine reads memory: a plain pass reads all weights, so this limits its speed.

The measurement takes a third of a second, once for an installation and number of cores.
"""

import logging
import threading
from pathlib import Path
from time import perf_counter

import numpy as np

from engine.llama.library import physical_cores
from engine.pacing.measuring import ForeignCpuLoad
from engine.storage.json_store import JsonStore

log = logging.getLogger(__name__)

_FILE, _FORMAT = "read-speed.json", 1
_SLOWEST, _FASTEST = 1e8, 1e14  # bytes a second
_BLOCK_BYTES = 64 << 20  # per thread: larger than a thread's share of the processor's cache
_BUDGET_S = 0.3


class ReadSpeed:
    """The speed of main memory. Thread-safe; ``cache``: folder of stored measurements."""

    def __init__(self, cache: Path) -> None:
        self._store = JsonStore(cache, _FILE, "speeds", _FORMAT, _speed)
        self._lock = threading.Lock()
        self._bytes_per_s: float | None = None

    def bytes_per_s(self) -> float | None:
        """Bytes per second that all cores read together; None if it cannot be measured.

        A measurement that other programs disturbed is only a lower bound, so the next start repeats it.
        """
        cores = physical_cores()
        with self._lock:
            self._bytes_per_s = self._bytes_per_s or self._store.get(str(cores))
            if self._bytes_per_s is None:
                others = ForeignCpuLoad()
                try:
                    self._bytes_per_s = measure_read_speed(cores)
                except (MemoryError, RuntimeError) as error:
                    log.info("the memory's speed could not be measured: %s", error)
                else:
                    if others.is_low:
                        self._store.put(str(cores), self._bytes_per_s)
            return self._bytes_per_s


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


def _speed(entry: object) -> float:
    if isinstance(entry, bool) or not isinstance(entry, int | float) or not _SLOWEST < entry < _FASTEST:
        raise ValueError("this is no speed of a memory")
    return float(entry)
