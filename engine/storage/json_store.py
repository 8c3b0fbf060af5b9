"""A small JSON file of entries by key: written atomically, and treated as missing if damaged."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from engine.storage.atomic import write_atomically

WAIT_S = 1.0  # seconds; a write takes milliseconds, so a process that holds the lock longer is probably suspended
log = logging.getLogger(__name__)
_MAX_BYTES = 2_000_000
Entry = TypeVar("Entry")


class JsonStore(Generic[Entry]):
    """Entries under the key ``content_name`` of a file, oldest first; without a folder, or if writing fails, in memory.

    A file with another ``format_number`` counts as empty. Only the newest ``max_entries`` are kept.
    """

    max_entries = 64

    def __init__(
        self,
        folder: Path | None,
        file_name: str,
        content_name: str,
        format_number: int,
        entry_of: Callable[[Any], Entry],
        to_json: Callable[[Entry], object] = lambda entry: entry,
    ) -> None:
        """``entry_of`` parses an entry of the file, and raises an error if it is invalid."""
        self._file = folder / file_name if folder is not None else None
        self._content_name, self._format = content_name, format_number
        self._entry_of, self._to_json = entry_of, to_json
        self._in_memory: dict[str, Entry] = {}

    def read(self) -> dict[str, Entry]:
        """All entries; an empty result if the file is invalid."""
        if self._file is None:
            return dict(self._in_memory)
        try:
            with self._file.open("rb") as file:
                saved = json.loads(file.read(_MAX_BYTES))  # truncates a larger file, which makes it invalid
            entries = saved[self._content_name] if saved["format"] == self._format else {}
            return {str(key): self._entry_of(entry) for key, entry in entries.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            log.info("%s is not used: %r", self._file.name, error)
            return {}

    def get(self, key: str) -> Entry | None:
        return self.read().get(key)

    def put(self, key: str, entry: Entry) -> None:
        """Store an entry as the newest; the oldest entries are dropped. Other processes' entries stay."""
        with self.locked():
            entries = self.read()
            entries.pop(key, None)
            self.write({**entries, key: entry})

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock out other processes while entries are read and written; without the lock, the last writer wins."""
        with ExitStack() as stack:
            if self._file is not None:
                from filelock import FileLock  # noqa: PLC0415  (startup time)

                try:
                    self._file.parent.mkdir(parents=True, exist_ok=True)
                    stack.enter_context(FileLock(self._file.with_name(f"{self._file.name}.lock"), timeout=WAIT_S))
                except OSError as error:
                    log.info("%s cannot be locked: %s", self._file.name, error)
            yield

    def write(self, entries: Mapping[str, Entry]) -> None:
        """Replace all entries by the newest of ``entries``; a failure is only logged."""
        kept = dict(list(entries.items())[-self.max_entries :])
        if self._file is not None:
            data = {key: self._to_json(entry) for key, entry in kept.items()}
            text = json.dumps({"format": self._format, self._content_name: data})
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(self._file, text.encode())
            except OSError as error:
                log.info("%s could not be written: %s", self._file.name, error)
                self._file = None
        self._in_memory = kept
