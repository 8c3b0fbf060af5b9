"""Messages between the window's process and the engine's: pickled, over pipes, many at a time.

Both ends are this program, so what comes is trusted as far as the program itself.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import struct
import threading
from collections.abc import Callable
from typing import IO, Any

from engine.records import LoadProgress, PrefillProgress, StatsUpdate, SummaryUpdate, TextChunk, TokenSpan
from engine.requests import PassTraced

SWITCH_S = 0.0005  # of Python's threads: the engine's must not wait 5 ms for one that reads a command or paints
_SIZE = struct.Struct("<Q")
_PROGRESS = (PrefillProgress, SummaryUpdate, LoadProgress)


def _span(span: TokenSpan) -> tuple[object, ...]:
    return TokenSpan, (span.num_chars, span.source, span.rejected, span.probabilities)


def _chunk(chunk: TextChunk) -> tuple[object, ...]:
    return TextChunk, (chunk.request_id, chunk.text, chunk.spans, chunk.logprobs, chunk.opened_tag)


# Frozen dataclasses with slots are pickled slowly; those of which there is one a token are told how.
_HOW: dict[type, Callable[[Any], Any]] = {**copyreg.dispatch_table, TokenSpan: _span, TextChunk: _chunk}


def packed(message: object) -> bytes:
    """Give a message with its size in front.

    Raises:
        Exception: it cannot be pickled.
    """
    buffer = io.BytesIO()
    buffer.write(_SIZE.pack(0))
    pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _HOW
    pickler.dump(message)
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


class PulledSender:
    """Sends messages in their order, as lists: text in the making when it is pulled, the rest at once.

    All methods may be called from any thread.
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        """``write`` raises an OSError where the other side is gone; then nothing is sent any more."""
        self._write = write
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._waiting: list[object] = []
        self._is_pulled = True  # and nothing was sent for it yet
        self._has_text = False  # of the answer in the making

    def post(self, message: object) -> None:
        """Send this at once or, where it may come every few milliseconds, at the next `pull`.

        The first text of an answer goes at once, and so does all that somebody may wait for.
        """
        with self._lock:
            self._waiting.append(message)
            is_due = self._is_urgent(message)
            if not is_due and self._is_pulled:
                is_due, self._is_pulled = True, False
        if is_due:
            self.flush()

    def post_now(self, message: object) -> None:
        """Send this for somebody who does not pull; a `PassTraced` with what follows it."""
        with self._lock:
            self._waiting.append(message)
        if not isinstance(message, PassTraced):
            self.flush()

    def pull(self) -> None:
        """Send what waits, or else the next message at once."""
        with self._lock:
            self._is_pulled = not self._waiting
        self.flush()

    def _is_urgent(self, message: object) -> bool:
        if isinstance(message, TextChunk):  # the first must not wait because progress was told just before
            is_first, self._has_text = not self._has_text, True
            return is_first
        if isinstance(message, StatsUpdate):
            return False
        self._has_text = False
        return not isinstance(message, _PROGRESS)

    def flush(self) -> None:
        """Send what waits."""
        with self._sending:
            with self._lock:
                messages, self._waiting = self._waiting, []
            if messages:
                try:
                    self._write(packed(messages))
                except OSError:  # who reads the requests notices, too
                    self._write = lambda _data: None
