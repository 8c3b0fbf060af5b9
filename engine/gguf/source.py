"""Reads the bytes of a GGUF header, from a local file or the beginning of a remote one, with bounds checks."""

import errno
import stat
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from engine.errors import ModelHeaderError, ModelNotFoundError
from engine.sentences import i18n, replace_field

MAX_STRING_BYTES = 16 * 2**20  # the longest real strings are chat templates of about 100 kB
MAX_HEADER_BYTES = 512 * 2**20  # about twenty times the largest real header
_CHUNK_BYTES = 256 * 1024
SUBJECT = i18n("The file")  # stands for the file's name until `named_error`

ReadAt = Callable[[int, int], bytes]  # (offset, num_bytes) -> bytes; fewer at the end of the file


def open_ordinary(path: Path) -> BinaryIO:
    """Open a regular file for reading; a pipe could block.

    Raises:
        OSError: not readable, or not a regular file.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # opening a folder raises a better error
        raise OSError(errno.EINVAL, i18n("it is not a regular file"))
    return path.open("rb")


@contextmanager
def open_for_reading(path: Path) -> Iterator[tuple[ReadAt, int]]:
    """Open a local file; yields its source and its size. Header errors in the block get the file's name.

    Raises:
        ModelNotFoundError: no such file, or not readable.
    """
    try:
        with open_ordinary(path) as file:

            def read_at(offset: int, num_bytes: int) -> bytes:
                file.seek(offset)
                return file.read(num_bytes)

            yield read_at, file.seek(0, 2)
    except ModelHeaderError as error:
        raise named_error(error, path.name) from None
    except OSError as error:
        raise ModelNotFoundError(
            i18n("{path} cannot be read: {reason}.", path=path, reason=error.strerror or error)
        ) from error


class Cursor:
    """Reads a file in chunks, never beyond its end or the limit of a header."""

    def __init__(self, read_at: ReadAt, file_size: int, position: int = 0) -> None:
        self._read_at = read_at
        self._file_size = file_size
        self._buffer = b""
        self._begin = 0
        self.position = position

    def take(self, num_bytes: int) -> bytes:
        self._ensure(num_bytes)
        begin = self.position - self._begin
        self.position += num_bytes
        return self._buffer[begin : begin + num_bytes]

    def number(self, letter: str) -> Any:  # noqa: ANN401
        """Read a number; ``letter`` is its type in `struct`."""
        code = struct.Struct("<" + letter)
        return code.unpack(self.take(code.size))[0]

    def text(self, max_bytes: int, what: str) -> str:
        """Read a string; invalid UTF-8 is replaced."""
        length = self.number("Q")
        check(length <= max_bytes, "{what} claims {length:,} bytes", what=what, length=length)
        return self.take(length).decode("utf-8", "replace")

    def skip(self, num_bytes: int) -> None:
        self._check_end(num_bytes)
        self.position += num_bytes

    def skip_strings(self, count: int) -> None:
        """Skip ``count`` strings, in a fast loop over the buffer: a header has half a million strings."""
        unpack = struct.Struct("<Q").unpack_from
        for _ in range(count):
            begin = self.position - self._begin
            if begin < 0 or begin + 8 > len(self._buffer):
                self._ensure(8)
                begin = self.position - self._begin
            (length,) = unpack(self._buffer, begin)
            if length > MAX_STRING_BYTES:
                raise damaged_error("a text in it claims {length:,} bytes", length=length)
            self.position += 8 + length
        self._check_end(0)

    def _check_end(self, num_bytes: int) -> None:
        end = self.position + num_bytes
        check(end <= self._file_size, "it ends in the middle of its header (an incomplete download?)")
        check(
            end <= MAX_HEADER_BYTES,
            "its header is longer than {max_header_bytes} MB",
            max_header_bytes=MAX_HEADER_BYTES // 2**20,
        )

    def _ensure(self, num_bytes: int) -> None:
        self._check_end(num_bytes)
        end = self.position + num_bytes
        if self._begin <= self.position and end <= self._begin + len(self._buffer):
            return
        wanted = min(max(num_bytes, _CHUNK_BYTES), self._file_size - self.position)
        self._buffer, self._begin = self._read_at(self.position, wanted), self.position
        is_whole = len(self._buffer) >= num_bytes
        check(is_whole, "it ends in the middle of its header (an incomplete download?)")


def check(good: bool, reason: str, /, **fields: object) -> None:
    """Raise `damaged_error` with the reason unless ``good``."""
    if not good:
        raise damaged_error(reason, **fields)


def named_error(error: ModelHeaderError, name: str) -> ModelHeaderError:
    """Copy an error, with ``name`` in place of "The file"."""
    return type(error)(replace_field(error.message, SUBJECT, name))


def damaged_error(reason: str, /, **fields: object) -> ModelHeaderError:
    """Make an error. ``reason`` is a template for ``fields``, and the end of a sentence about the file."""
    reported = i18n(reason, **fields)
    return ModelHeaderError(i18n("{subject} is damaged or not a model: {reason}.", subject=SUBJECT, reason=reported))
