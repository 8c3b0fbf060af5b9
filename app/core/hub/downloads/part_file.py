"""Partial files: NAME.part, and NAME.part.json, which identifies the complete file.

Bytes are written unbuffered, so that a later attempt can resume at the length of the partial file.
"""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from app.core.hub.errors import ChecksumError, DiskFullError, DownloadError
from app.core.hub.file_names import short
from app.core.storage.atomic import move_into_place, write_atomically
from engine.sentences import i18n, size_of

RESERVE_BYTES = 64 << 20  # kept free for chats, logs and the system
HASH_BLOCK_BYTES = 1 << 20
MAX_LABEL_BYTES = 4096

_FULL = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True, slots=True)
class PartLabel:
    """Identifies the complete file of a partial file. ``source_etag``: the sending server's ETag."""

    etag: str
    size_bytes: int
    source_etag: str = ""


class PartFile:
    """The partial file of one destination. The caller holds the destination's lock."""

    def __init__(self, destination: Path) -> None:
        self.destination = destination
        self.path = destination.with_name(destination.name + ".part")
        self._label_path = destination.with_name(destination.name + ".part.json")
        self._file: int | None = None
        self.size_bytes = 0
        self.label: PartLabel | None = None

    def open(self, etag: str, size_bytes: int) -> None:
        """Open for appending; a partial file of another version is deleted.

        Raises:
            DownloadError: the folder is not writable.
        """
        with disk_errors(self.path):
            self.destination.parent.mkdir(parents=True, exist_ok=True)
            label = self._read_label()
            fits = (
                label is not None
                and (label.etag, label.size_bytes) == (etag, size_bytes)
                and self.path.is_file()
                and not self.path.is_symlink()
                and self.path.stat().st_size <= size_bytes
            )
            if not fits:
                self.path.unlink(missing_ok=True)
            self.label = label if fits and label is not None else PartLabel(etag, size_bytes)
            if not fits:
                self._write_label(self.label)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
            self._file = os.open(self.path, flags, 0o644)
            self.size_bytes = os.fstat(self._file).st_size

    def start_over(self) -> None:
        """Delete the contents; an open file stays open."""
        if self._file is None:
            self.discard()
            return
        with disk_errors(self.path):
            os.ftruncate(self._file, 0)
            self.size_bytes = 0

    def set_source_etag(self, source_etag: str) -> None:
        """Record the sending server's ETag before the first byte."""
        if self.label is not None and self.label.source_etag != source_etag:
            self.label = PartLabel(self.label.etag, self.label.size_bytes, source_etag)
            with disk_errors(self.path):
                self._write_label(self.label)

    def append(self, data: bytes) -> None:
        """Write all of ``data``.

        Raises:
            DiskFullError: the disk is full; what was written stays.
        """
        view = memoryview(data)
        with disk_errors(self.path):
            while view:
                if self._file is None:
                    raise DownloadError(i18n("{path} is not open.", path=short(self.path.name)))
                written = os.write(self._file, view)
                self.size_bytes += written
                view = view[written:]

    def close(self) -> None:
        """Flush to the disk, and close."""
        if self._file is not None:
            descriptor, self._file = self._file, None
            try:
                with disk_errors(self.path):
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def finish(
        self, checksum: str, on_checked: Callable[[int], None], judge: Callable[[Path], None] | None = None
    ) -> None:
        """Check the bytes and give the file its final name. ``checksum``: see `matches`.

        ``on_checked`` may raise to stop. ``judge`` checks the complete file and raises to reject it.

        Raises:
            ChecksumError: the checksum is wrong; the partial file is deleted.
            DownloadError: ``judge`` rejected the file; the partial file is deleted.
        """
        self.close()
        if self.label is None:
            raise DownloadError(i18n("The download of {path} was never started.", path=short(self.path.name)))
        if not matches(self.path, checksum, self.label.size_bytes, on_checked):
            self.discard()
            name = short(self.destination.name)
            raise ChecksumError(i18n("{name} does not match its checksum and was discarded.", name=name))
        if judge is not None:
            try:
                judge(self.path)
            except DownloadError:
                self.discard()
                raise
        with disk_errors(self.path):
            move_into_place(self.path, self.destination)
            self._label_path.unlink(missing_ok=True)

    def discard(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        self.size_bytes = 0
        with disk_errors(self.path):
            self.path.unlink(missing_ok=True)
            self._label_path.unlink(missing_ok=True)

    def _read_label(self) -> PartLabel | None:
        try:
            with self._label_path.open("rb") as file:
                facts = json.loads(file.read(MAX_LABEL_BYTES))
        except (OSError, ValueError, RecursionError):
            return None  # without its label a partial file cannot be resumed
        if not isinstance(facts, dict):
            return None
        etag, size, source = facts.get("etag"), facts.get("size_bytes"), facts.get("source_etag")
        if isinstance(etag, str) and isinstance(size, int) and isinstance(source, str) and source.isprintable():
            return PartLabel(etag, size, source)
        return None

    def _write_label(self, label: PartLabel) -> None:
        write_atomically(self._label_path, json.dumps(asdict(label)).encode())


def bytes_on_disk(destination: Path) -> int:
    """The size of a finished or partial file on the disk."""
    part = PartFile(destination).path
    found = destination if destination.is_file() else part
    return found.stat().st_size if found.is_file() else 0


def check_space(folder: Path, needed_bytes: int) -> None:
    """Check the free space.

    Raises:
        DiskFullError: less than ``needed_bytes`` + `RESERVE_BYTES` is free.
    """
    free = shutil.disk_usage(folder).free
    if free < needed_bytes + RESERVE_BYTES:
        raise DiskFullError(
            i18n(
                "{needed_bytes} are still needed, but {free} are free in {folder}, of which {reserve_bytes} "
                "are reserved for the system.",
                needed_bytes=size_of(needed_bytes),
                free=size_of(free),
                folder=folder,
                reserve_bytes=size_of(RESERVE_BYTES),
            )
        )


def matches(path: Path, checksum: str, size_bytes: int, on_checked: Callable[[int], None]) -> bool:
    """Compare a file with a checksum: SHA-256 (64 hex digits), or git's own hash (40).

    For an empty checksum only the length is compared. ``on_checked`` gets the number of checked bytes after each block,
    and may raise to stop.
    """
    if not checksum:
        with disk_errors(path):
            return path.stat().st_size == size_bytes
    if len(checksum) == 64:
        digest = hashlib.sha256()
    else:
        digest = hashlib.sha1(f"blob {size_bytes}\0".encode(), usedforsecurity=False)
    seen = 0
    with disk_errors(path), path.open("rb", buffering=0) as file:
        while block := file.read(HASH_BLOCK_BYTES):
            digest.update(block)
            seen += len(block)
            on_checked(seen)
    return seen == size_bytes and digest.hexdigest() == checksum


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Convert disk errors into errors with messages for the user."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFullError(i18n("The disk of {folder} is full.", folder=path.parent)) from error
        if error.errno == errno.EFBIG:
            message = i18n("The disk of {folder} cannot hold a file this big.", folder=path.parent)
            raise DiskFullError(message, "Choose a library folder on another disk.") from error
        raise DownloadError(
            i18n("{path} could not be written: {reason}.", path=path, reason=error.strerror or error),
            "Check the folder's permissions.",
        ) from error
