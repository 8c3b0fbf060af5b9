"""Writes a file whole or not at all: what was there stays until the new one is on the disk. Knows no contents."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def whole_file(file: Path) -> Iterator[IO[bytes]]:
    """Give a file to write to, which takes the name of ``file`` at the end; nothing half-made is left of a failure.

    A link goes on leading where it led. What is no ordinary file, such as a pipe or ``/dev/stdout``, is written as it
    stands: putting a file in its place would be the end of it.

    Raises:
        OSError: the folder or the disk does not take it.
        ValueError: no file can have this name.
    """
    if file.exists() and not file.is_file():
        with file.open("wb") as handle:
            yield handle
        return
    place = Path(os.path.realpath(file))
    part = place.with_name(f"paceline-{secrets.token_hex(6)}.part")  # of our own: no file and no link has this name
    try:
        with part.open("xb") as handle:
            _keep_rights(place, handle)
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        part.replace(place)
    except BaseException:
        with contextlib.suppress(OSError, ValueError):
            part.unlink(missing_ok=True)
        raise


def _keep_rights(place: Path, handle: IO[bytes]) -> None:
    """Let who may read the file stay as it was: an export that only its owner may read, say."""
    if os.name == "posix" and place.is_file():
        os.fchmod(handle.fileno(), stat.S_IMODE(place.stat().st_mode))


def write_atomically(path: Path, data: bytes) -> None:
    """Write a small file so that after a crash there is the old one or the new one."""
    new = path.with_name(path.name + ".new")
    with new.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
