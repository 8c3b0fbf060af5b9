"""A small JSON file of entries by key that a later start may find: written whole, and as good as none if damaged.

Knows not what the entries mean: whoever keeps them reads and checks them.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

log = logging.getLogger(__name__)

_MAX_BYTES = 2_000_000
Entry = TypeVar("Entry")


class KeptFile:
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

    def write(self, entries: Mapping[str, object]) -> None:
        """Replace the file; a folder that cannot be written is only logged."""
        part = self._file.with_name(f"{self._file.name}.{os.getpid()}.part")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps({"format": self._format, self._noun: entries}), "utf-8")
            part.replace(self._file)
        except OSError as error:
            log.info("%s could not be written: %s", self._file.name, error)
