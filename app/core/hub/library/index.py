"""The library's index on the disk: JSON, written atomically, one writer at a time over all processes.

Every field that is read is checked.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from app.core.domain.model_name import printable
from app.core.hub.errors import LibraryError
from app.core.storage.atomic import write_atomically
from engine.sentences import said

LOCK_WAIT_S = 20.0
MAX_INDEX_BYTES = 16 << 20
MAX_FILES = 1000
MAX_SIZE_BYTES = 1 << 50
_TEXTS = ("repo_id", "licence", "draft", "added", "last_used", "source")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What is remembered of one model. ``files``: relative to the library folder where downloaded, else absolute."""

    name: str
    files: tuple[str, ...]
    is_downloaded: bool
    repo_id: str = ""
    licence: str = ""
    draft: str = ""
    size_bytes: int = 0  # when it was last seen
    added: str = ""  # ISO 8601
    last_used: str = ""
    source: str = ""  # where the bytes came from, where that is not the repository


@dataclass(frozen=True, slots=True)
class Index:
    """All entries by name."""

    entries: dict[str, IndexEntry] = field(default_factory=dict)

    def with_entry(self, entry: IndexEntry) -> Index:
        """The index with this entry added or replaced."""
        return Index({**self.entries, entry.name: entry})

    def without(self, name: str) -> Index:
        """The index without this entry, and without pairs that need it."""
        kept = {other: entry for other, entry in self.entries.items() if other != name}
        return Index({key: replace(entry, draft="") if entry.draft == name else entry for key, entry in kept.items()})


class IndexFile:
    """The index and its lock."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Index:
        """What is on the disk now; empty where there is nothing usable."""
        try:
            with self._path.open("rb") as file:
                return _index_of(json.loads(file.read(MAX_INDEX_BYTES)))
        except FileNotFoundError:
            return Index()
        except (OSError, ValueError, RecursionError) as error:
            log.warning("The library's index cannot be read, so it is built anew: %s", type(error).__name__)
            return Index()

    def change(self, change: Callable[[Index], Index]) -> Index:
        """Read, change and write, with no other process in between. An index that cannot be read is kept aside.

        Raises:
            LibraryError: it cannot be written.
        """
        import filelock  # noqa: PLC0415 (startup time)

        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(self._path.with_name(self._path.name + ".lock"), timeout=LOCK_WAIT_S):
                before = self.read()
                self._keep_aside(before)
                after = change(before)
                if after != before:
                    content = {"version": 1, "models": [asdict(entry) for entry in after.entries.values()]}
                    write_atomically(self._path, json.dumps(content, indent=1).encode())
                return after
        except filelock.Timeout as error:
            raise LibraryError("Another Paceline is using the library's index.", "Try again in a moment.") from error
        except OSError as error:
            raise LibraryError(
                said("{path} could not be written: {reason}.", path=self._path, reason=error.strerror or error)
            ) from error

    def _keep_aside(self, read: Index) -> None:
        if read.entries or not self._path.exists() or self._path.stat().st_size == 0:
            return
        with self._path.open("rb") as file:
            text = file.read(MAX_INDEX_BYTES)
        try:
            is_empty_on_purpose = json.loads(text).get("models") == []
        except (ValueError, RecursionError, AttributeError):
            is_empty_on_purpose = False
        if not is_empty_on_purpose:
            self._path.replace(self._path.with_name(self._path.name + ".damaged"))


def _index_of(content: object) -> Index:
    models = content.get("models") if isinstance(content, dict) else None
    entries = (_entry_of(facts) for facts in models if isinstance(facts, dict)) if isinstance(models, list) else ()
    return Index({entry.name: entry for entry in entries if entry is not None})


def _entry_of(facts: dict[str, Any]) -> IndexEntry | None:
    files = facts.get("files")
    if not isinstance(files, list) or not 0 < len(files) <= MAX_FILES:
        return None
    good_files = tuple(file for file in files if isinstance(file, str) and file and "\0" not in file)
    name, is_downloaded, size = facts.get("name"), facts.get("is_downloaded"), facts.get("size_bytes")
    if len(good_files) != len(files) or not isinstance(name, str) or not name or not isinstance(is_downloaded, bool):
        return None
    texts = {key: facts[key] for key in _TEXTS if isinstance(facts.get(key), str)}
    good_size = size if isinstance(size, int) and 0 <= size <= MAX_SIZE_BYTES else 0
    texts["draft"] = printable(texts.get("draft", ""))
    return IndexEntry(printable(name), good_files, is_downloaded, size_bytes=good_size, **texts)
