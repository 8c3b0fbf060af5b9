"""Writes files atomically: the old file stays until the new one is complete; a failure leaves no temporary file.

A write also survives a power loss: the bytes are on the disk before they get their name, and on POSIX the name is on
the disk before the call returns.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from app.core.domain.errors import AppError
from engine.sentences import Sentence, i18n
from engine.storage.atomic import replacing


def write_atomically(path: Path, data: bytes) -> None:
    """Write a small file. Only one thread of one process may write it at a time.

    The temporary file always has the same name, so that remains of a killed process are overwritten.

    Raises:
        OSError: the file cannot be written.
    """
    with _replacing(path, path.with_name(f"{path.name}.new"), "wb") as file:
        file.write(data)


@contextlib.contextmanager
def atomic_file(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces ``path`` at the end. Several writers are safe.

    The permissions of a replaced file are kept; with ``private`` only the owner may read a new file. A link at ``path``
    is replaced, not followed.

    Raises:
        OSError: the file cannot be written.
    """
    temporary = path.with_name(f"paceline-{os.urandom(6).hex()}.part")  # a random name: no file or link has it
    with _replacing(path, temporary, "xb") as file:
        _set_permissions(file, path, private=private)
        yield file


@contextlib.contextmanager
def exported_file(path: Path, failed: Callable[[Sentence], AppError]) -> Iterator[IO[bytes]]:
    """Like `atomic_file`, for a file that the user chose: a link is followed and stays.

    Pipes, devices and ``/dev/stdout`` are written directly, since they must not be replaced.

    Raises:
        AppError: made by ``failed``: the file cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
        else:
            with atomic_file(Path(os.path.realpath(path))) as file:
                yield file
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise failed(i18n("{file} cannot be written ({reason}).", file=path, reason=reason)) from error


def move_into_place(temporary: Path, path: Path) -> None:
    """Give a complete file its final name, durably.

    Raises:
        OSError: writing failed; the caller has to remove ``temporary``.
    """
    with temporary.open("r+b") as file:  # Windows syncs only files that are open for writing
        sync(file)
    temporary.replace(path)
    _sync_folder(path.parent)


def sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


@contextlib.contextmanager
def _replacing(path: Path, temporary: Path, mode: str) -> Iterator[IO[bytes]]:
    with replacing(path, temporary), temporary.open(mode) as file:
        yield file
        sync(file)
    _sync_folder(path.parent)


def _set_permissions(file: IO[bytes], replaced: Path, *, private: bool) -> None:
    if os.name != "posix":
        return
    if private:
        os.fchmod(file.fileno(), 0o600)
    elif replaced.is_file():
        os.fchmod(file.fileno(), stat.S_IMODE(replaced.stat().st_mode))


def _sync_folder(folder: Path) -> None:
    """Sync a folder, so that a new name is on the disk. Errors are ignored: the file is already in place."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
