"""Writes files atomically: the old file stays until the new one is complete, and a failure leaves no partial file.

Without fsync: the engine can measure or compute again what it stores.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a small file, which other processes may write at the same time: the last one wins; raises `OSError`."""
    with replacing(path, path.with_name(f"{path.name}.{os.getpid()}.part")) as part:
        part.write_bytes(data)


@contextlib.contextmanager
def replacing(path: Path, part: Path) -> Iterator[Path]:
    """Let the block write ``part``; at its end it becomes ``path``, after a failure it is deleted; raises `OSError`."""
    try:
        yield part
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
