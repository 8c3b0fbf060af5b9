"""Writes files atomically: the old file stays until the new one is complete, and a failure leaves no partial file.

There is no fsync, since the engine can measure or compute the stored data again.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a small file; of concurrent writers the last wins. Raises `OSError`."""
    with replacing(path, path.with_name(f"{path.name}.{os.getpid()}.part")) as part:
        part.write_bytes(data)


@contextlib.contextmanager
def replacing(path: Path, part: Path) -> Iterator[Path]:
    """Rename ``part``, which the block writes, to ``path``, or delete it after a failure; raises `OSError`."""
    try:
        yield part
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
