"""Writes files atomically: the old file stays until the new one is complete, and a failure leaves nothing.

A *durable* write also survives a power loss: the bytes are on the disk before they get their name, and on POSIX the
name is on the disk before the call returns.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def write_atomically(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a small file that only one thread of one process writes at a time.

    Its temporary file always has the same name, so that the remains of a killed process are overwritten.

    Raises:
        OSError: the file cannot be written.
    """
    with _replacing(path, path.with_name(f"{path.name}.new"), "wb", durable=durable) as file:
        file.write(data)


@contextlib.contextmanager
def atomic_file(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` that replaces it at the end; durable, and safe with several writers.

    The permissions of a replaced file are kept; with ``private`` only the owner may read the new one. A link at
    ``path`` is replaced, not followed.

    Raises:
        OSError: the file cannot be written.
    """
    temporary = path.with_name(f"paceline-{os.urandom(6).hex()}.part")  # no other file or link has this name
    with _replacing(path, temporary, "xb", durable=True) as file:
        _set_permissions(file, path, private=private)
        yield file


@contextlib.contextmanager
def exported_file(path: Path) -> Iterator[IO[bytes]]:
    """As `atomic_file`, for a destination of the user: a link is followed, and stays a link.

    A pipe, a device or ``/dev/stdout`` is written directly: it must not be replaced.

    Raises:
        OSError: the file cannot be written.
        ValueError: the name is impossible.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
    else:
        with atomic_file(Path(os.path.realpath(path))) as file:
            yield file


def move_into_place(temporary: Path, path: Path) -> None:
    """Give a complete file its final name, durably.

    Raises:
        OSError: the disk refuses; the caller removes ``temporary``.
    """
    with temporary.open("r+b") as file:  # Windows syncs only files that are open for writing
        sync(file)
    temporary.replace(path)
    _sync_folder(path.parent)


def sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


@contextlib.contextmanager
def _replacing(path: Path, temporary: Path, mode: str, *, durable: bool) -> Iterator[IO[bytes]]:
    try:
        with temporary.open(mode) as file:
            yield file
            if durable:
                sync(file)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError, ValueError):
            temporary.unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(path.parent)


def _set_permissions(file: IO[bytes], replaced: Path, *, private: bool) -> None:
    if os.name != "posix":
        return
    if private:
        os.fchmod(file.fileno(), 0o600)
    elif replaced.is_file():
        os.fchmod(file.fileno(), stat.S_IMODE(replaced.stat().st_mode))


def _sync_folder(folder: Path) -> None:
    """Sync a new name to the disk, if the system can. The file is already in place, so an error is ignored."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
