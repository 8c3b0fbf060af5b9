"""Records the latest requests for the user of this computer: program, path and result, never the content.

The log is in memory only.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from app.core.domain.local_server import GONE, LoggedRequest, RequestState
from app.core.server.errors import ApiError
from app.core.server.scheduler import JobEvent
from engine.records import Finished, PrefillProgress, TextChunk

MAX_ROWS = 200
MAX_PROGRAM_CHARS, MAX_PATH_CHARS = 40, 60


class RequestLog:
    """Holds the latest requests. Thread-safe. ``on_change`` is called often, on any thread."""

    def __init__(self, on_change: Callable[[], None] = lambda: None, clock: Callable[[], float] = time.time) -> None:
        self._on_change, self._clock = on_change, clock
        self._lock = threading.Lock()
        self._num_requests = 0
        self._entries: deque[RequestEntry] = deque(maxlen=MAX_ROWS)

    def begin(self, path: str, user_agent: str) -> RequestEntry:
        with self._lock:
            self._num_requests += 1
            program = _shown(user_agent.partition("(")[0], MAX_PROGRAM_CHARS)  # for example ``OpenAI/Python 1.109``
            first = LoggedRequest(self._num_requests, self._clock(), program, _shown(path, MAX_PATH_CHARS))
            entry = RequestEntry(first, self._on_change)
            self._entries.append(entry)
        self._on_change()
        return entry

    def rows(self) -> tuple[LoggedRequest, ...]:
        """The latest requests, newest first."""
        with self._lock:
            return tuple(entry.row for entry in reversed(self._entries))


class RequestEntry:
    """The log entry of a running request; ``row`` is its current state."""

    def __init__(self, row: LoggedRequest, on_change: Callable[[], None]) -> None:
        self.row = row
        self._on_change = on_change
        self._lock = threading.Lock()
        self._decode_s = 0.0
        self._is_awaited = False  # True while the engine's result is awaited

    def note_queued(self, model: str) -> None:
        """The request was queued for this model."""
        self._is_awaited = True
        self._change(lambda row: replace(row, model=_shown(model, MAX_PATH_CHARS), state=RequestState.WAITING))

    def note_turn(self) -> None:
        self._change(lambda row: replace(row, state=RequestState.RUNNING))

    def note_event(self, event: JobEvent) -> None:
        if self.row.state is RequestState.DONE:
            return  # the client has disconnected
        if not isinstance(event, TextChunk | PrefillProgress):
            self._is_awaited = False
        if isinstance(event, Finished):
            self._decode_s += event.stats.generation_s
            self._change(lambda row: self._with_tokens(row, event.stats.tokens))
        elif isinstance(event, ApiError):
            self._change(lambda row: replace(row, status=event.status))

    def _with_tokens(self, row: LoggedRequest, tokens: int) -> LoggedRequest:
        total = (row.tokens or 0) + tokens
        return replace(row, tokens=total, tokens_per_second=total / self._decode_s if self._decode_s > 0 else None)

    def note_status(self, status: int) -> None:
        self._change(lambda row: replace(row, status=row.status or status))

    def end(self) -> None:
        """The response was sent, or the client has disconnected."""
        status = GONE if self._is_awaited else self.row.status
        self._change(lambda row: replace(row, status=status, state=RequestState.DONE))

    def _change(self, change: Callable[[LoggedRequest], LoggedRequest]) -> None:
        with self._lock:
            self.row = change(self.row)
        self._on_change()


def line_of(row: LoggedRequest, method: str, seconds: float) -> str:
    """Format a finished request as a log line, without its content."""
    status = "gone" if row.status == GONE else row.status or "-"
    tokens = "" if row.tokens is None else f"{row.tokens:,} tokens"
    told = (f"{method} {row.path}", str(status), f"{seconds:.2f} s", tokens, row.model, row.program)
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(row.at))} {', '.join(filter(None, told))}"


def _shown(text: str, most: int) -> str:
    """Make an untrusted text safe for display, with at most ``most`` characters."""
    words = "".join(char if char.isprintable() else " " for char in text).strip()
    return words if len(words) <= most else f"{words[: most - 1]}…"
