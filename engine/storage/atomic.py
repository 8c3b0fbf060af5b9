"""Files written whole or not at all: until the new one is complete, the old one stays, and a failure leaves nothing.

Nothing waits for the disk: what the engine keeps between starts can be measured or computed again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a small file, which other processes may write at the same time: the last one that is done counts.

    Raises:
        OSError: the folder or the disk does not take it.
    """
    with replacing(path, path.with_name(f"{path.name}.{os.getpid()}.part")) as part:
        part.write_bytes(data)


@contextlib.contextmanager
def replacing(path: Path, part: Path) -> Iterator[Path]:
    """Let ``part`` be written in the block; at its end it becomes ``path``, after a failure it is gone.

    Raises:
        OSError: the folder or the disk does not take it.
    """
    try:
        yield part
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
