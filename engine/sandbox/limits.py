"""Limits that a helper process sets for itself first: it ends with its parent, crashes quietly, and has bounded memory.

Loads no other library than psutil, so that a helper has these bounds before anything else is imported.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

import psutil

# Beyond what is to be opened: threads' stacks and arenas, the tokenizer's tables, repacked copies of the weights.
_SPARE_BYTES = 2 * 2**30


def end_with_parent() -> None:
    """End when the parent does: it holds the other end of our standard input, and nobody else waits for an answer."""

    def watch() -> None:
        os.read(0, 1)  # not sys.stdin: its lock would be held at the interpreter's end
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def quiet_crashes() -> None:
    """Leave no core file and no dialogue box for a crash that is expected here."""
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415

        ctypes.windll.kernel32.SetErrorMode(0x0001 | 0x0002 | 0x8000)
        return
    import resource  # noqa: PLC0415  (Unix only)

    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory(needed_bytes: int, spare_bytes: int = _SPARE_BYTES) -> None:
    """Let absurd sizes fail here: bound the address space by what the files can need (Linux; others cannot)."""
    if not sys.platform.startswith("linux"):
        return
    import resource  # noqa: PLC0415

    limit = psutil.Process().memory_info().vms + needed_bytes + spare_bytes
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def limit_time(seconds: int) -> None:
    """End this process after so many seconds of computing (Unix; elsewhere the parent's watch is the bound)."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415  (Unix only)

    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def write_no_files() -> None:
    """Let every write to a file fail (Unix)."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415  (Unix only)

    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
