"""A small JSON file of entries by key: written atomically, and treated as missing if damaged.

The caller checks the entries.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from engine.storage.atomic import write_atomically

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


WAIT_S = 1.0  # seconds; a write takes milliseconds, so a process that holds the lock longer is probably suspended
_POLL_S = 0.005
log = logging.getLogger(__name__)
_MAX_BYTES = 2_000_000
Entry = TypeVar("Entry")


# A lock between processes for a read-modify-write of a file. The system releases it when a process ends.


@contextmanager
def locked(file: Path) -> Iterator[bool]:
    """Lock ``file``; False if the lock is not available: then the last writer wins."""
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        log.info("%s cannot be locked: %s", file.name, error)
        yield False
        return
    try:
        yield _wait_for(handle, file)
    finally:
        os.close(handle)  # releases the lock


def _wait_for(handle: int, file: Path) -> bool:
    gives_up = time.monotonic() + WAIT_S
    while True:
        try:
            _take(handle)
        except OSError as error:
            if time.monotonic() >= gives_up:
                log.info("%s is held: %s", file.name, error)
                return False
            time.sleep(_POLL_S)
        else:
            return True


class JsonStore:
    """Entries under the key ``noun`` of a file. A file with another ``format_number`` counts as empty."""

    def __init__(self, file: Path, noun: str, format_number: int) -> None:
        self._file, self._content_name, self._format = file, noun, format_number

    def read(self, entry_of: Callable[[Any], Entry]) -> dict[str, Entry]:
        """All entries, parsed by ``entry_of``; an empty result if the file is invalid."""
        try:
            with self._file.open("rb") as file:
                saved = json.loads(file.read(_MAX_BYTES))  # truncates a larger file, which makes it invalid
            entries = saved[self._content_name] if saved["format"] == self._format else {}
            return {str(key): entry_of(entry) for key, entry in entries.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            log.info("%s is not used: %r", self._file.name, error)
            return {}

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock out other processes while entries are read and added."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
        except OSError:  # the write will fail and report it
            yield
            return
        with locked(self._file.with_name(f"{self._file.name}.lock")):
            yield

    def write(self, entries: Mapping[str, object]) -> None:
        """Replace the file; a failure is only logged."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._file, json.dumps({"format": self._format, self._content_name: entries}).encode())
        except OSError as error:
            log.info("%s could not be written: %s", self._file.name, error)


def merge_latest(
    known: Mapping[str, Entry], there: Mapping[str, Entry], key: str, entry: Entry, most: int
) -> dict[str, Entry]:
    """Merge entries, oldest first, and keep the last ``most``.

    Args:
        known: entries read from the file earlier, or put since.
        there: entries now in the file; they take precedence, since another process may have put them.
        key: key of the latest entry.
        entry: the latest entry.
        most: maximum number of entries.
    """
    entries = {known_key: one for known_key, one in known.items() if known_key not in there} | dict(there)
    entries.pop(key, None)
    entries[key] = entry
    return dict(list(entries.items())[-most:])
