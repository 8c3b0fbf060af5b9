"""Asks Linux to back large blocks of memory with huge pages, before llama.cpp fills them with weights.

A pass reads all weights once. In pages of 4 KiB every one of them is looked up anew and stops the processor's
prefetching; in pages of 2 MiB the same pass took 5 to 6% less time. Many systems give huge pages to those only who ask
(https://docs.kernel.org/admin-guide/mm/transhuge.html). On other systems nothing is done.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

LEAST_BYTES = 16 << 20  # smaller blocks are read from the processor's own memory anyway
_HUGE = 2 << 20
_MADV_HUGEPAGE = 14  # <sys/mman.h>
_SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_MAPS = Path("/proc/self/maps")


def advise() -> int:
    """Ask for huge pages for all large blocks of this process that belong to no file; the number of bytes asked for.

    What was written before stays as it is, until the system finds the time. Never fails: without them all is slower,
    not wrong.
    """
    if not sys.platform.startswith("linux"):
        return 0
    try:
        if "[madvise]" not in _SETTING.read_text():
            return 0
        # Names of files may be no text, and may hold what Python takes for the end of a line.
        lines = _MAPS.read_bytes().decode("ascii", "replace").rstrip("\n").split("\n")
    except OSError:
        return 0
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return sum(end - begin for begin, end in large_blocks(lines) if madvise(begin, end - begin, _MADV_HUGEPAGE) == 0)


def large_blocks(lines: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Begin and end of the private, writable blocks of no file in ``/proc/self/maps``, cut to whole huge pages."""
    for line in lines:
        span, rights, _offset, _device, inode, *name = line.split(maxsplit=5)
        if rights != "rw-p" or inode != "0" or name:
            continue
        begin, end = (int(edge, 16) for edge in span.split("-"))
        begin, end = -(-begin // _HUGE) * _HUGE, end // _HUGE * _HUGE
        if end - begin >= LEAST_BYTES:
            yield begin, end
