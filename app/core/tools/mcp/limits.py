"""Limits for MCP servers: time, text, messages, tools."""

import asyncio
import time
from collections import deque
from dataclasses import dataclass

from app.core.tools.mcp.words import one_line

MESSAGE_BYTES = 16 * 2**20  # maximum size of a message; a longer one ends the connection
# Maximum values in a message. Parsing more would hold Python's GIL and block the window noticeably.
MESSAGE_VALUES = 20_000
RESULT_PARTS = 1_000
SCHEMAS_BYTES = 512 * 1024  # schemas of all tools of a server: serializing 4 MB of schemas blocked the window for 60 ms
LOG_LINES, LOG_LINE_CHARS = 200, 500
_UNIT_BYTES = 64 * 1024  # a larger message counts as several for the throttle


@dataclass(frozen=True)
class Limits:
    """The limits: seconds (``*_s``) and counts."""

    start_s: float = 60.0  # npx may have to download the server first
    call_s: float = 120.0  # maximum time without a progress message
    call_total_s: float = 3_600.0  # even with progress messages
    kill_after_s: float = 2.0  # between terminating and killing a server
    tools: int = 128
    tool_list_pages: int = 20  # maximum number of pages of the tool list
    calls_at_once: int = 8
    burst: int = 2_000  # messages
    messages_per_s: float = 200.0  # messages a second after the burst
    result_chars: int = 256 * 1024


class RateLimiter:
    """A token bucket: allows a burst of messages, then a fixed rate."""

    def __init__(self, burst: int, per_s: float) -> None:
        self._burst, self._per_s = float(burst), per_s
        self._left, self._seen_s = self._burst, time.monotonic()

    async def take(self, num_bytes: int) -> None:
        """Wait until a message of this size may be read."""
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._seen_s) * self._per_s)
        self._seen_s = now
        self._left -= 1.0 + num_bytes / _UNIT_BYTES
        if self._left < 0:
            await asyncio.sleep(-self._left / self._per_s)


class JsonValueCounter:
    """Counts the values of streamed JSON by the commas outside strings."""

    def __init__(self) -> None:
        self.num_values = 0
        self._is_in_string = False
        self._rest = b""  # a backslash whose escaped character is in the next chunk

    def feed(self, piece: bytes) -> None:
        piece = (self._rest + piece).replace(b"\\\\", b"")
        self._rest = b"\\" if piece.endswith(b"\\") else b""
        parts = piece.replace(b'\\"', b"").split(b'"')
        self.num_values += sum(part.count(b",") for part in parts[1 if self._is_in_string else 0 :: 2])
        self._is_in_string ^= (len(parts) - 1) % 2 == 1


async def has_too_many_values(line: bytes) -> bool:
    """True if a message has more than `MESSAGE_VALUES` values; releases Python's GIL between chunks."""
    if line.count(b",") <= MESSAGE_VALUES:
        return False
    counter = JsonValueCounter()
    for start in range(0, len(line), _UNIT_BYTES):
        counter.feed(line[start : start + _UNIT_BYTES])
        await asyncio.sleep(0)
    return counter.num_values > MESSAGE_VALUES


class ServerLog:
    """The last lines of a server's stderr, cleaned. One thread writes, others read."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=LOG_LINES)

    def add(self, text: str) -> None:
        if line := one_line(text, LOG_LINE_CHARS):
            self._lines.append(line)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines, oldest first."""
        return tuple(self._lines)

    @property
    def last(self) -> str:
        """The last line; may be empty."""
        lines = self.lines
        return lines[-1] if lines else ""
