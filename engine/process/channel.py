"""Messages between the window's process and the engine's: pickled, over pipes, many at a time.

Both ends are this program, so what comes is trusted as far as the program itself.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import struct
import threading
import time
from collections.abc import Callable
from typing import IO, Any, ClassVar

from engine.records import LoadProgress, PrefillProgress, StatsUpdate, SummaryUpdate, TextChunk, TokenSpan

# Events go over at most this often while there are many. The window shows them every 25 ms at the soonest; to take each
# token by itself would cost a pass a wake-up of another process.
EVERY_S = 0.02
_SIZE = struct.Struct("<Q")
_MANY = (TextChunk, StatsUpdate, PrefillProgress, SummaryUpdate, LoadProgress)  # the rest goes at once


def _span(span: TokenSpan) -> tuple[object, ...]:
    return TokenSpan, (span.num_chars, span.source, span.rejected, span.odds)


def _chunk(chunk: TextChunk) -> tuple[object, ...]:
    return TextChunk, (chunk.request_id, chunk.text, chunk.spans, chunk.logprobs)


class _Pickler(pickle.Pickler):
    """Frozen dataclasses with slots are pickled slowly; those of which there is one a token are told how."""

    dispatch_table: ClassVar[Any] = {**copyreg.dispatch_table, TokenSpan: _span, TextChunk: _chunk}


def packed(message: object) -> bytes:
    """Give a message with its size in front.

    Raises:
        Exception: it cannot be pickled.
    """
    buffer = io.BytesIO()
    buffer.write(_SIZE.pack(0))
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(message)
    size = buffer.tell() - _SIZE.size
    buffer.seek(0)
    buffer.write(_SIZE.pack(size))
    return buffer.getvalue()


def read_packed(stream: IO[bytes]) -> bytes:
    """Wait for the next message and give its bytes, for `pickle.loads`.

    Raises:
        EOFError: the other side is gone.
    """
    (size,) = _SIZE.unpack(_read(stream, _SIZE.size))
    return _read(stream, size)


def _read(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


class BatchingSender:
    """Sends messages in their order, as lists. `post` may be called from any thread.

    A first event after a pause or of another kind goes at once, and so does all that somebody may wait for.
    """

    def __init__(self, write: Callable[[bytes], object], every_s: float = EVERY_S) -> None:
        """``write`` raises an OSError where the other side is gone; then nothing is sent any more."""
        self._write = write
        self._every_s = every_s
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._waiting: list[object] = []
        self._sent_s = 0.0
        self._last_kind: type | None = None
        self._due = threading.Event()
        threading.Thread(target=self._send_late, name="engine-events", daemon=True).start()

    def post(self, message: object) -> None:
        """Send this, at once or with what follows within `EVERY_S`."""
        with self._lock:
            self._waiting.append(message)
            is_first = len(self._waiting) == 1
            is_another = type(message) is not self._last_kind
            self._last_kind = type(message)
        # The first text must not wait because the progress of its prompt was told just before.
        if is_another or not isinstance(message, _MANY) or time.monotonic() - self._sent_s >= self._every_s:
            self.flush()
        elif is_first:
            self._due.set()

    def flush(self) -> None:
        """Send what waits."""
        with self._sending:
            with self._lock:
                messages, self._waiting = self._waiting, []
            if messages:
                self._sent_s = time.monotonic()
                try:
                    self._write(packed(messages))
                except OSError:  # who reads the commands notices, too
                    self._write = lambda _data: None

    def _send_late(self) -> None:
        while True:
            self._due.wait()
            time.sleep(self._every_s)
            self._due.clear()
            self.flush()
