"""A small JSON file of entries by key that a later start may find: written whole, and as good as none if damaged.

The caller reads and checks the entries.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from engine.storage.atomic import write_atomically
from engine.storage.file_lock import locked

log = logging.getLogger(__name__)

_MAX_BYTES = 2_000_000
Entry = TypeVar("Entry")


class JsonStore:
    """Entries under ``noun`` in one file, of a ``format``; another number forgets it all."""

    def __init__(self, file: Path, noun: str, format_number: int) -> None:
        self._file, self._noun, self._format = file, noun, format_number

    def read(self, entry_of: Callable[[Any], Entry]) -> dict[str, Entry]:
        """All entries, each as ``entry_of`` understands it; none where it raises one of the usual errors."""
        try:
            with self._file.open("rb") as file:
                saved = json.loads(file.read(_MAX_BYTES))  # a larger one is cut, and so cannot be read
            entries = saved[self._noun] if saved["format"] == self._format else {}
            return {str(key): entry_of(entry) for key, entry in entries.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            log.info("%s is not used: %r", self._file.name, error)
            return {}

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing, for who reads what is there now and adds to it."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
        except OSError:  # writing will say so
            yield
            return
        with locked(self._file.with_name(f"{self._file.name}.lock")):
            yield

    def write(self, entries: Mapping[str, object]) -> None:
        """Replace the file; a folder that cannot be written is only logged."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._file, json.dumps({"format": self._format, self._noun: entries}).encode())
        except OSError as error:
            log.info("%s could not be written: %s", self._file.name, error)


def with_latest(
    known: Mapping[str, Entry], there: Mapping[str, Entry], key: str, entry: Entry, most: int
) -> dict[str, Entry]:
    """All entries, the oldest first, of which the first go where there are more than ``most``.

    Args:
        known: here, of an earlier look at the file, and put since.
        there: in the file now: where both have one, another process may have put it since.
        key: of the latest.
        entry: the latest.
        most: entries.
    """
    entries = {known_key: one for known_key, one in known.items() if known_key not in there} | dict(there)
    entries.pop(key, None)
    entries[key] = entry
    return dict(list(entries.items())[-most:])
