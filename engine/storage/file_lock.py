"""A lock between processes, by a file of its own: who reads a file, changes it and writes it, is alone meanwhile.

The system lets go of it where a process ends, however that happens.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


log = logging.getLogger(__name__)

WAIT_S = 1.0  # a write takes milliseconds: who holds it longer was stopped, and nobody waits for that
_LOOK_S = 0.005


@contextmanager
def locked(file: Path) -> Iterator[bool]:
    """Hold the lock that is ``file``; False where it could not be had: then whoever writes last wins."""
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        log.info("%s cannot be locked: %s", file.name, error)
        yield False
        return
    try:
        yield _wait_for(handle, file)
    finally:
        os.close(handle)  # and with it goes the lock


def _wait_for(handle: int, file: Path) -> bool:
    gives_up = time.monotonic() + WAIT_S
    while True:
        try:
            _take(handle)
        except OSError as error:
            if time.monotonic() >= gives_up:
                log.info("%s is held: %s", file.name, error)
                return False
            time.sleep(_LOOK_S)
        else:
            return True
