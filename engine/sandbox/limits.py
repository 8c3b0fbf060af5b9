"""Limits that a helper process sets for itself: it ends with its parent, crashes quietly, and bounds its memory.

Imports only psutil, so that the limits hold before anything else is imported.
"""

import os
import sys
import threading
from contextlib import suppress

import psutil

# In addition to the files: stacks and arenas of threads, tables of the tokenizer, and repacked weights.
_SPARE_BYTES = 2 * 2**30


def end_with_parent() -> None:
    """End this process when the parent ends, which closes standard input."""

    def watch() -> None:
        os.read(0, 1)  # not sys.stdin, whose lock would block the interpreter's exit
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def quiet_crashes() -> None:
    """Prevent core files and dialogs after a crash, which is expected in helpers."""
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415

        ctypes.windll.kernel32.SetErrorMode(0x0001 | 0x0002 | 0x8000)
        return
    import resource  # noqa: PLC0415  (Unix only)

    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory(needed_bytes: int, spare_bytes: int = _SPARE_BYTES) -> None:
    """Limit the address space to the files' needs, so that absurd allocations fail (Linux only)."""
    if not sys.platform.startswith("linux"):
        return
    import resource  # noqa: PLC0415

    limit = psutil.Process().memory_info().vms + needed_bytes + spare_bytes
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def limit_time(seconds: int) -> None:
    """End this process after ``seconds`` of CPU time (Unix; elsewhere only the parent's time limit applies)."""
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
