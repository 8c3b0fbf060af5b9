"""The beginning of a remote file, fetched in growing blocks as far as its header reaches.

Whoever can give a range of bytes (a hub, another machine, a test) passes a function; this decides which ranges.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.errors import ModelHeaderError
from engine.gguf.source import broken

MAX_FETCHED_BYTES = 32 * 2**20  # the largest real headers, with 260,000 tokens and 500,000 merges, have about 20 MB
FIRST_BLOCK_BYTES = 512 * 1024
LARGEST_BLOCK_BYTES = 4 * 2**20

FetchRange = Callable[[int, int], bytes]  # (start, end) -> the bytes from start to before end, or the first of them


class CancelledReadError(ModelHeaderError):
    """Whoever asked for the header wants it no more."""

    title = "Cancelled"
    default_advice = "Ask again if you need it."


class RangeSource:
    """A source for `parse_header`: keeps what it has, asks for more where the parser goes beyond.

    Every byte is fetched once, in order; a block is as long as what is here already, within bounds. So a header of n
    bytes costs at most 2 n, and never more than n and the largest block.
    """

    def __init__(
        self,
        fetch: FetchRange,
        file_size: int,
        max_bytes: int = MAX_FETCHED_BYTES,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._fetch = fetch
        self._file_size = file_size
        self._max_bytes = max_bytes
        self._should_stop = should_stop
        self._prefix = bytearray()

    @property
    def num_fetched(self) -> int:
        """Bytes fetched so far."""
        return len(self._prefix)

    def read_at(self, offset: int, num_bytes: int) -> bytes:
        """Return bytes as `ReadAt` does. Never asks for more than the file, or the limit, has.

        Raises:
            ModelHeaderError: the limit is reached, or the far side has fewer bytes than it said.
            CancelledReadError: it was asked to stop.
        """
        end = min(offset + num_bytes, self._file_size)
        while len(self._prefix) < end:
            if self._should_stop():
                raise CancelledReadError("Reading the header was cancelled.")
            have = len(self._prefix)
            if have >= self._max_bytes:
                raise broken("its header is longer than {max_bytes} MB", max_bytes=self._max_bytes // 2**20)
            block = min(max(have, FIRST_BLOCK_BYTES), LARGEST_BLOCK_BYTES)
            data = self._fetch(have, min(have + block, self._file_size, self._max_bytes))
            if not data:
                raise broken("it ends after {have:,} of {file_size:,} bytes", have=have, file_size=self._file_size)
            self._prefix += data[:block]
        return bytes(self._prefix[offset:end])
