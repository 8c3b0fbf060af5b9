"""Messages between the window's process and the engine's: pickled, over pipes, in batches.

Both processes run this program, so unpickling messages is safe.
"""

from __future__ import annotations

import logging
import pickle
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from engine.records import (
    EngineFailed,
    EngineReady,
    Finished,
    LoadProgress,
    PrefillProgress,
    StatsUpdate,
    SummaryUpdate,
    TextChunk,
)
from engine.requests import JobEnded
from engine.session.worker import UNEXPECTED

if TYPE_CHECKING:
    from engine.session.session import Session

log = logging.getLogger(__name__)

# Events are sent at most this often. The window shows them every 25 ms at the soonest; sending each token alone would
# wake another process in every pass.
SWITCH_S = 0.0005  # switch interval of Python's threads: the engine must not wait 5 ms for another thread
EVERY_S = 0.02
_SIZE = struct.Struct("<Q")
_LAST_EVENTS = (Finished, EngineReady, JobEnded, EngineFailed)
_PROGRESS = (PrefillProgress, SummaryUpdate, LoadProgress)


@dataclass(frozen=True, slots=True)
class Setup:
    """The first message to a new process.

    ``formatter`` formats exceptions in the process, since log records are sent as text.
    """

    make_session: Callable[[], Session]
    formatter: logging.Formatter
    log_level: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """To the engine: `engine.requests.Engine.cancel`, or `skip_summary` if ``only_summary``."""

    number: int
    only_summary: bool = False


@dataclass(frozen=True, slots=True)
class Close:
    """To the engine, the last message: `engine.requests.Engine.close`."""

    timeout_s: float


@dataclass(frozen=True, slots=True)
class Logged:
    """From the engine: a log record."""

    name: str
    level: int
    message: str
    thread: str


def pack(message: object) -> bytes:
    """Pickle a message, with its size as prefix.

    Raises:
        Exception: it cannot be pickled.
    """
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _SIZE.pack(len(data)) + data


def read_packed(stream: IO[bytes]) -> bytes:
    """Wait for the next message; return its pickled bytes.

    Raises:
        EOFError: the other process is gone.
    """
    (size,) = _SIZE.unpack(_read(stream, _SIZE.size))
    return _read(stream, size)


def _read(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


class BatchingSender:
    """Sends messages in order, as lists. `post` is thread-safe.

    The first event after a pause, the first text of an answer and the last event of a request are sent at once.
    """

    def __init__(self, write: Callable[[bytes], object], every_s: float = EVERY_S) -> None:
        """``write`` raises an OSError if the other process is gone; nothing is sent after that."""
        self._write = write
        self._every_s = every_s
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._waiting: list[object] = []
        self._sent_s = 0.0
        self._has_text = False  # whether a text of the current answer was sent
        self._due = threading.Event()
        threading.Thread(target=self._send_late, name="engine-events", daemon=True).start()

    def post(self, message: object) -> None:
        """Send a message at once, or with later ones within `EVERY_S`."""
        with self._lock:
            self._waiting.append(message)
            is_first = len(self._waiting) == 1
            is_urgent = self._is_urgent(message)
        if is_urgent or time.monotonic() - self._sent_s >= self._every_s:
            self.flush()
        elif is_first:
            self._due.set()

    def _is_urgent(self, message: object) -> bool:
        if isinstance(message, TextChunk):  # the first text must not wait, even right after progress
            is_first, self._has_text = not self._has_text, True
            return is_first
        if isinstance(message, StatsUpdate):
            return False
        self._has_text = False
        return not isinstance(message, _PROGRESS)

    def flush(self) -> None:
        with self._sending:
            with self._lock:
                messages, self._waiting = self._waiting, []
            if messages:
                self._sent_s = time.monotonic()
                try:
                    self._write(_packed_list(messages))
                except OSError:  # the thread that reads commands handles this
                    self._write = lambda _data: None

    def _send_late(self) -> None:
        while True:
            self._due.wait()
            time.sleep(self._every_s)
            self._due.clear()
            self.flush()


def _packed_list(messages: list[object]) -> bytes:
    try:
        return pack(messages)
    except Exception:  # noqa: BLE001  (whatever pickling calls)
        return pack([sent for message in messages if (sent := _sendable(message)) is not None])


def _sendable(message: object) -> object:
    """Return the message if it can be pickled, else the failure of its request."""
    try:
        pack(message)
    except Exception:
        log.exception("%s could not be sent", type(message).__name__)
        return EngineFailed(UNEXPECTED, message.request_id) if isinstance(message, _LAST_EVENTS) else None
    return message
