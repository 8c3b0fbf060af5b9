"""Finds calls of tools in an answer, while it is written: what is a call, and what is said beside it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from engine.tool_formats import ARGS, PYTHON_TAG, TOOL_CALL, TOOL_CALL_END, TOOL_CALLS

_BEGINNINGS = (TOOL_CALL, TOOL_CALLS, PYTHON_TAG)
_FENCES = ("```json\n", "```\n")
_DECODER = json.JSONDecoder()
_ID_CHARS = 9  # what templates of Mistral demand


@dataclass(frozen=True, slots=True)
class Called:
    """A call: a new id, the tool's name, and its arguments as JSON."""

    call_id: str
    name: str
    arguments: str


class ToolOutput:
    """Reads an answer piece by piece. What turns out to be no call after all is text.

    Calls are what the formats of `engine.tool_formats` have; and an answer that is nothing but a JSON object, fenced or
    not, with the name of a tool and arguments, which some models write whatever their template says.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._buffer = ""
        self._begun = False  # some text was let go
        self._has_called = False
        self.num_calls = 0

    def feed(self, text: str) -> list[str | Called]:
        """Take a piece; return text that is surely none of a call, and calls that are whole."""
        self._buffer += text
        return self._merge(self._advance(is_end=False))

    def flush(self) -> list[str | Called]:
        """The answer has ended: what is left."""
        return self._merge(self._advance(is_end=True))

    def _merge(self, found: Iterator[str | Called]) -> list[str | Called]:
        kept: list[str | Called] = []
        for one in found:
            if isinstance(one, Called):
                self._has_called = True
            elif not one or (self._has_called and not one.strip()):  # line ends between calls
                continue
            elif one.strip():
                self._begun = True
            kept.append(one)
        return kept

    def _advance(self, *, is_end: bool) -> Iterator[str | Called]:
        while self._buffer:
            place = self._first_beginning()
            if place > 0:
                text, self._buffer = self._buffer[:place], self._buffer[place:]
                yield text
                continue
            if place == 0:
                taken = self._take_marked(is_end=is_end)
            elif self._may_be_bare():
                taken = self._take_bare(is_end=is_end)
            else:
                held = 0 if is_end else self._num_held()
                text, self._buffer = self._buffer[: len(self._buffer) - held], self._buffer[len(self._buffer) - held :]
                yield text
                return
            if taken is None:
                if is_end:
                    yield self._buffer
                    self._buffer = ""
                return
            yield from taken

    def _first_beginning(self) -> int:
        places = [place for mark in _BEGINNINGS if (place := self._buffer.find(mark)) >= 0]
        return min(places, default=-1)

    def _num_held(self) -> int:
        """How much of the end could be the beginning of a mark."""
        longest = max(len(mark) for mark in _BEGINNINGS) - 1
        for count in range(min(longest, len(self._buffer)), 0, -1):
            if any(mark.startswith(self._buffer[-count:]) for mark in _BEGINNINGS):
                return count
        return 0

    def _take_marked(self, *, is_end: bool) -> list[Called] | None:
        """The calls behind a mark, where they are whole."""
        buffer = self._buffer
        mark = next(one for one in _BEGINNINGS if buffer.startswith(one))
        rest = buffer[len(mark) :]
        if mark == TOOL_CALLS and not rest.lstrip().startswith("["):
            return self._take_named(rest)
        value, end = _first_json(rest)
        if end < 0:
            return None
        if mark == TOOL_CALL and not rest[end:].lstrip().startswith(TOOL_CALL_END):
            if not is_end:
                return None
            after = len(rest)
        else:
            after = end + len(rest[end:]) - len(rest[end:].lstrip()) + (len(TOOL_CALL_END) if mark == TOOL_CALL else 0)
        calls = self._calls_of(value)
        if calls:
            self._buffer = rest[after:]
        return calls or None

    def _take_named(self, rest: str) -> list[Called] | None:
        """Mistral's newer form: a name, perhaps an id, and arguments."""
        head, found, tail = rest.partition(ARGS)
        name = head.partition("[CALL_ID]")[0].strip()
        value, end = _first_json(tail)
        if not found or end < 0 or name not in self._names or not isinstance(value, dict):
            return None
        self._buffer = tail[end:]
        return [self._called(name, value)]

    def _may_be_bare(self) -> bool:
        text = self._buffer.lstrip()
        if self._begun:
            return False
        return (
            not text
            or text.startswith("{")
            or any(text.startswith(fence) or fence.startswith(text) for fence in _FENCES)
        )

    def _take_bare(self, *, is_end: bool) -> list[Called] | None:
        text = self._buffer.strip()
        fence = next((one for one in _FENCES if text.startswith(one)), "")
        if not is_end and (fence or not text.startswith("{")):
            return None
        body = text[len(fence) :].strip()
        value, end = _first_json(body)
        if end < 0:
            return None
        calls = self._calls_of(value)
        rest = body[end:].strip().removeprefix("```" if fence else ";").strip()
        if not calls or (rest and fence):
            self._begun = True  # so that it is let go as text
            return []
        self._buffer = rest
        return calls

    def _calls_of(self, value: object) -> list[Called]:
        """The calls that a JSON value is; none where one of them is none."""
        values = value if isinstance(value, list) else [value]
        calls = list[tuple[str, dict[str, object]]]()
        for one in values:
            name = one.get("name") if isinstance(one, dict) else None
            arguments = one.get("arguments", one.get("parameters", {})) if isinstance(one, dict) else None
            if name not in self._names or not isinstance(arguments, dict):
                return []
            calls.append((name, arguments))
        return [self._called(name, arguments) for name, arguments in calls]

    def _called(self, name: str, arguments: dict[str, object]) -> Called:
        self.num_calls += 1
        return Called(uuid.uuid4().hex[:_ID_CHARS], name, json.dumps(arguments, ensure_ascii=False))


def _first_json(text: str) -> tuple[object, int]:
    """The JSON value that a text begins with, and where it ends; -1 where it is not whole."""
    start = len(text) - len(text.lstrip())
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, -1
    return value, end
