"""The tools that come with Paceline: few, without a network, and none that writes.

Clock and calculator are on unless they are switched off; what reads attached files or past chats is off.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from app.core.domain.attachments import Attachment
from app.core.tools.calculator import CalculatorError, calculate
from app.core.tools.interface import ParsedToolCall, ToolDefinition, ToolResult
from app.core.tools.policy import BUILT_IN

log = logging.getLogger(__name__)

ON_BY_DEFAULT = ("current_time", "calculate")
PIECE_CHARS = 4_000  # of a file, at once
MAX_HITS, HIT_CHARS = 8, 600


@dataclass(frozen=True)
class ChatHit:
    """A place in a past chat: its title, a date as ISO 8601 has it, and the words around what was found."""

    title: str
    date: str
    text: str


@dataclass(frozen=True)
class BuiltInSources:
    """Where built-in tools look. Both are called on a thread of their own."""

    files: Callable[[], Sequence[Attachment]] = tuple
    search: Callable[[str, int], Sequence[ChatHit]] = lambda _words, _most: ()


class _WrongArgumentError(ValueError):
    """The sentence is for the model."""


Arguments = Mapping[str, object]


def _schema(required: tuple[str, ...] = (), **properties: tuple[str, str]) -> Mapping[str, object]:
    described = {name: {"type": kind, "description": text} for name, (kind, text) in properties.items()}
    return {"type": "object", "properties": described, "required": list(required)}


DEFINITIONS = (
    ToolDefinition(
        "current_time",
        "Tells the date, the time, the weekday and the time zone now.",
        _schema(time_zone=("string", "An IANA time zone such as Europe/Berlin; leave it out for the user's own.")),
        BUILT_IN,
        "Date and time",
    ),
    ToolDefinition(
        "calculate",
        "Calculates an arithmetic expression exactly, such as (17 * 23 + 4) / 5 or sqrt(2) ^ 3.",
        _schema(("expression",), expression=("string", "Numbers, + - * / // % ^, brackets, and functions like sqrt.")),
        BUILT_IN,
        "Calculator",
    ),
    ToolDefinition(
        "read_attachment",
        "Reads a piece of a file that is attached to this chat. Without a name it lists the files.",
        _schema(
            name=("string", "The file's name."),
            start=("integer", "The first character to read, from 0."),
            find=("string", "Read around the first place with these words instead."),
        ),
        BUILT_IN,
        "Attached files",
    ),
    ToolDefinition(
        "search_chats",
        "Searches the user's past chats for words, and gives the places that fit best.",
        _schema(("words",), words=("string", "A few words that must occur.")),
        BUILT_IN,
        "Past chats",
    ),
)
NAMES = tuple(one.name for one in DEFINITIONS)


class BuiltInTools:
    """A `ToolProvider` of those tools whose names are ``enabled``."""

    def __init__(
        self,
        enabled: Iterable[str] = ON_BY_DEFAULT,
        sources: BuiltInSources | None = None,
        now: Callable[[tzinfo | None], datetime] = lambda zone: datetime.now(UTC).astimezone(zone),
    ) -> None:
        self.enabled = frozenset(enabled)
        self._sources, self._now = sources or BuiltInSources(), now
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="built-in-tools")

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Those that are enabled, in an order of their own."""
        return tuple(one for one in DEFINITIONS if one.name in self.enabled)

    def call(self, call: ParsedToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        """Start a call on the tools' thread."""

        def run() -> None:
            done(self._result(call))

        future = self._thread.submit(run)

        def cancel() -> None:
            if future.cancel():  # it had not begun
                done(ToolResult(call.id, "The call was stopped.", is_error=True))

        return cancel

    def close(self) -> None:
        """Let what runs come to its end, which is soon."""
        self._thread.shutdown(wait=False)

    def _result(self, call: ParsedToolCall) -> ToolResult:
        tools: Mapping[str, Callable[[Arguments], str]] = {
            "current_time": self._current_time,
            "calculate": lambda arguments: calculate(_text(arguments, "expression")),
            "read_attachment": self._read_attachment,
            "search_chats": self._search_chats,
        }
        if call.name not in self.enabled or call.name not in tools:
            return ToolResult(call.id, f"The tool {call.name!r} is not switched on.", is_error=True)
        try:
            return ToolResult(call.id, tools[call.name](call.arguments))
        except (CalculatorError, _WrongArgumentError) as error:
            return ToolResult(call.id, str(error), is_error=True)
        except Exception:  # a turn waits for it
            log.exception("a built-in tool failed")
            return ToolResult(call.id, "The tool failed.", is_error=True)

    def _current_time(self, arguments: Arguments) -> str:
        name = _text(arguments, "time_zone", "")
        try:
            zone = ZoneInfo(name) if name else None
        except (ValueError, OSError, KeyError) as error:
            raise _WrongArgumentError(f"There is no time zone {name!r}: give an IANA name, or none.") from error
        now = self._now(zone)
        offset = now.strftime("%z")
        shown = name or now.tzname() or "local time"
        return f"{_DAYS[now.weekday()]}, {now:%Y-%m-%d %H:%M:%S}, UTC{offset[:3]}:{offset[3:5]} ({shown})"

    def _read_attachment(self, arguments: Arguments) -> str:
        files = self._sources.files()
        if not files:
            return "No file is attached to this chat."
        name = _text(arguments, "name", "")
        if not name:
            return "\n".join(f"{one.name}: {len(one.text):,} characters" for one in files)
        file = next((one for one in files if one.name == name), None)
        if file is None:
            raise _WrongArgumentError(f"There is no file {name!r}. There are: {', '.join(one.name for one in files)}.")
        start = self._start(arguments, file)
        piece = file.text[start : start + PIECE_CHARS]
        end = start + len(piece)
        rest = f" Go on with start={end}." if end < len(file.text) else " This is its end."
        return f"{file.name}, characters {start:,} to {end:,} of {len(file.text):,}.{rest}\n\n{piece}"

    @staticmethod
    def _start(arguments: Arguments, file: Attachment) -> int:
        words = _text(arguments, "find", "")
        if words:
            place = file.text.casefold().find(words.casefold())
            if place < 0:
                raise _WrongArgumentError(f"{file.name} does not contain {words!r}.")
            return max(0, min(place, len(file.text)) - PIECE_CHARS // 4)
        start = arguments.get("start", 0)
        if isinstance(start, float | str):
            try:
                start = int(start)
            except (ValueError, OverflowError):
                start = -1
        if not isinstance(start, int) or not 0 <= start <= len(file.text):
            raise _WrongArgumentError(f"start must be from 0 to {len(file.text)}.")
        return start

    def _search_chats(self, arguments: Arguments) -> str:
        words = _text(arguments, "words").strip()
        if not words:
            raise _WrongArgumentError("words is empty.")
        hits = self._sources.search(words, MAX_HITS)[:MAX_HITS]
        if not hits:
            return "No past chat contains these words."
        return "\n\n".join(f"“{one.title}”, {one.date}:\n{one.text[:HIT_CHARS]}" for one in hits)


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")  # whatever the locale


def _text(arguments: Arguments, key: str, default: str | None = None) -> str:
    found = arguments.get(key, default)
    if isinstance(found, int | float) and not isinstance(found, bool):
        return str(found)
    if not isinstance(found, str):
        raise _WrongArgumentError(f"{key} must be a text.")
    return found
