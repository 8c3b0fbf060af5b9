"""The latest requests of a running server: program, path and result, never the content; in memory only."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from app.core.domain.local_server import GONE, LoggedRequest, RequestState
from app.core.server.errors import ApiError
from app.core.server.scheduler import JobEvent
from engine.records import Finished, PrefillProgress, TextChunk

MAX_ROWS = 200
MAX_PROGRAM_CHARS, MAX_PATH_CHARS = 40, 60


class RequestLog:
    """Holds the latest requests. Thread-safe. ``on_change`` is called often, on any thread."""

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self._on_change = on_change
        self._lock = threading.Lock()
        self._num_requests = 0
        self._entries: deque[RequestEntry] = deque(maxlen=MAX_ROWS)

    def begin(self, path: str, user_agent: str) -> RequestEntry:
        with self._lock:
            self._num_requests += 1
            program = _printable(user_agent.partition("(")[0], MAX_PROGRAM_CHARS)  # for example ``OpenAI/Python 1.109``
            first = LoggedRequest(self._num_requests, time.time(), program, _printable(path, MAX_PATH_CHARS))
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
        self._lock = threading.RLock()
        self._decode_s = 0.0
        self._is_awaited = False  # True while the engine's result is awaited

    def set_queued(self, model: str) -> None:
        """The request was queued for this model."""
        self._is_awaited = True
        self._change(model=_printable(model, MAX_PATH_CHARS), state=RequestState.WAITING)

    def set_begun(self) -> None:
        self._change(state=RequestState.RUNNING)

    def count_event(self, event: JobEvent) -> None:
        if self.row.state is RequestState.DONE:
            return  # the client has disconnected
        if not isinstance(event, TextChunk | PrefillProgress):
            self._is_awaited = False
        if isinstance(event, Finished):
            self._decode_s += event.stats.generation_s
            total = (self.row.tokens or 0) + event.stats.tokens
            self._change(tokens=total, tokens_per_second=total / self._decode_s if self._decode_s > 0 else None)
        elif isinstance(event, ApiError):
            self._change(status=event.status)

    def set_status(self, status: int) -> None:
        with self._lock:
            self._change(status=self.row.status or status)

    def end(self) -> None:
        """The response was sent, or the client has disconnected."""
        with self._lock:
            self._change(status=GONE if self._is_awaited else self.row.status, state=RequestState.DONE)

    def _change(self, **changes: Any) -> None:  # noqa: ANN401  (fields of the row)
        with self._lock:
            self.row = replace(self.row, **changes)
        self._on_change()


def _printable(text: str, max_chars: int) -> str:
    """Make an untrusted text safe for display, with at most ``max_chars`` characters."""
    printable = "".join(char if char.isprintable() else " " for char in text).strip()
    return printable if len(printable) <= max_chars else f"{printable[: max_chars - 1]}…"
