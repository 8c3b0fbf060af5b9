"""Finds calls of tools in an answer, while it is written: what is a call, and what is said beside it.

What is certain is a call; all else stays text, and nothing vanishes.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from engine.grammar.tool_calls import kinds_of
from engine.tool_formats import ARGS, BLOCKS, FUNCTION_TAG, PYTHON_TAG, TOOL_CALLS

_BEGINNINGS = (*BLOCKS, TOOL_CALLS, PYTHON_TAG, FUNCTION_TAG)
_FENCES = ("```json\n", "```\n")
_DECODER = json.JSONDecoder(strict=False)  # models write line ends into their strings as they are
_ID_CHARS = 9  # what templates of Mistral demand
# Of the forms that have tags: a function with parameters, and a name with keys and values.
_FUNCTION = re.compile(r"\s*<(function=|invoke name=)\"?([^>\"\n]+)\"?>(.*?)</(?:function|invoke)>", re.DOTALL)
_PARAMETER = re.compile(r"\s*<parameter(?:=| name=)\"?([^>\"\n]+)\"?>(.*?)</parameter>", re.DOTALL)
_PAIRS = re.compile(r"\s*([^\s<{\[]+)((?:\s*<arg_key>.*?</arg_key>\s*<arg_value>.*?</arg_value>)*)\s*", re.DOTALL)
_PAIR = re.compile(r"\s*<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_CALLS_IN_BLOCKS = ("{", "<function=", "<invoke ")  # what further ones begin with
_ENVELOPE = frozenset({"id", "type", "index", "tool_call_id"})  # beside name and arguments these say nothing

Schemas = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Called:
    """A call: a new id, the tool's name, and its arguments as JSON."""

    call_id: str
    name: str
    arguments: str


class _Taken(NamedTuple):
    """What the beginning of a text turned out to be: calls, and the text that is none of one; ``end`` is behind it."""

    calls: list[Called]
    text: str
    end: int


class ToolOutput:
    """Reads an answer piece by piece. What turns out to be no call after all is text.

    Calls are what the formats of `engine.tool_formats` have; and an answer that is nothing but a JSON object, fenced or
    not, with the name of a tool and arguments, which some models write whatever their template says.
    """

    def __init__(self, names: frozenset[str], schemas: Schemas = MappingProxyType({})) -> None:
        """``schemas`` are those of the parameters by the tools' names: the forms with tags say no types."""
        self._names, self._schemas = names, schemas
        self._buffer = ""
        self._block_end = ""  # of the block that a call was just taken from
        self._begun = False  # some text was let go
        self._is_behind_call = False
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
                self._is_behind_call = True
                kept.append(one)
                continue
            said = one.lstrip() if self._is_behind_call else one  # line ends between calls
            if said:
                self._is_behind_call = False
                self._begun = self._begun or bool(said.strip())
                kept.append(said)
        return kept

    def _advance(self, *, is_end: bool) -> Iterator[str | Called]:
        while self._buffer:
            if self._block_end and not self._leave_block(is_end=is_end):
                return
            place = self._first_beginning()
            if self._block_end or place == 0:
                taken = self._take_marked(is_end=is_end)
            elif self._may_be_bare(has_mark=place > 0):
                taken = self._take_bare(is_end=is_end)
                if taken is None and place > 0 and (is_end or _is_broken(self._buffer)):
                    taken = _Taken([], self._buffer[:place], place)
            elif place > 0:
                taken = _Taken([], self._buffer[:place], place)
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
            self._buffer = self._buffer[taken.end :]
            if taken.text:
                yield taken.text
            yield from taken.calls

    def _leave_block(self, *, is_end: bool) -> bool:
        """Look at what follows a call in its block: its end, another call, or words of a block that was not closed.

        False where that is not known yet.
        """
        text, end = self._buffer.lstrip(), self._block_end
        if not is_end and any(mark.startswith(text) and text != mark for mark in (end, *_CALLS_IN_BLOCKS)):
            return False
        if text.startswith(end):
            text, self._block_end = text[len(end) :], ""
        elif not text.startswith(_CALLS_IN_BLOCKS):
            self._block_end = ""
        self._buffer = text
        return bool(text)

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

    def _take_marked(self, *, is_end: bool) -> _Taken | None:
        """What stands behind a mark, or behind a call in the same block; None where it is not whole."""
        buffer = self._buffer
        mark = "" if self._block_end else next(one for one in _BEGINNINGS if buffer.startswith(one))
        if mark == FUNCTION_TAG:
            mark = ""  # it is a part of what is read
        rest = buffer[len(mark) :]
        if mark == TOOL_CALLS and not rest.lstrip().startswith("["):
            return self._take_named(rest, len(mark))
        block_end = self._block_end or BLOCKS.get(mark, "")
        taken = self._take_json(rest) if rest.lstrip().startswith(("{", "[")) else self._take_tags(rest, block_end)
        if taken is None and (is_end or not block_end or not _is_broken(rest)):
            return None
        if taken is None or not taken.calls:  # no call: as far as its block goes, it is text
            return self._refused(buffer, block_end or "</function>")
        self._block_end = block_end
        return _Taken(taken.calls, "", len(mark) + taken.end)

    def _refused(self, buffer: str, block_end: str) -> _Taken | None:
        place = buffer.find(block_end) if block_end else -1
        if place < 0:
            return None
        self._block_end = ""
        return _Taken([], buffer[: place + len(block_end)], place + len(block_end))

    def _take_json(self, rest: str) -> _Taken | None:
        value, end = _first_json(rest)
        return None if end < 0 else _Taken(self._calls_of(value), "", end)

    def _take_tags(self, rest: str, block_end: str) -> _Taken | None:
        """A function with its parameters, or a name with keys and values."""
        if (found := _FUNCTION.match(rest)) is not None:
            name, body = found[2].strip(), found[3]
            value, end = _first_json(body)
            if end == len(body.rstrip()) and isinstance(value, dict):
                return _Taken(self._calls_of({"name": name, "arguments": value}), "", found.end())
            if _PARAMETER.sub("", body).strip():
                return _Taken([], "", found.end())
            return _Taken(self._call(name, dict(_PARAMETER.findall(body))), "", found.end())
        place = rest.find(block_end) if block_end else -1
        if place < 0 or rest.lstrip().startswith("<"):
            return None if place < 0 else _Taken([], "", 0)
        whole = _PAIRS.fullmatch(rest, 0, place)
        if whole is None:
            return _Taken([], "", 0)
        return _Taken(self._call(whole[1], dict(_PAIR.findall(whole[2]))), "", place)

    def _call(self, name: str, texts: Mapping[str, str]) -> list[Called]:
        """The call of a form with tags; none of a tool that nobody knows."""
        if name not in self._names:
            return []
        properties = self._schemas.get(name, {}).get("properties", {})
        arguments = {key.strip(): _typed(text, properties.get(key.strip())) for key, text in texts.items()}
        return self._calls_of({"name": name, "arguments": arguments})

    def _take_named(self, rest: str, mark_length: int) -> _Taken | None:
        """Mistral's newer form: a name, perhaps an id, and arguments."""
        head, found, tail = rest.partition(ARGS)
        name = head.partition("[CALL_ID]")[0].strip()
        value, end = _first_json(tail)
        if not found or end < 0:
            return None
        calls = self._calls_of({"name": name, "arguments": value})
        length = mark_length + len(head) + len(ARGS) + end
        return _Taken(calls, "" if calls else self._buffer[:length], length)

    def _may_be_bare(self, *, has_mark: bool) -> bool:
        text = self._buffer.lstrip()
        if self._begun or (has_mark and not text.startswith("{")):
            return False
        return (
            not text
            or text.startswith("{")
            or any(text.startswith(fence) or fence.startswith(text) for fence in _FENCES)
        )

    def _take_bare(self, *, is_end: bool) -> _Taken | None:
        text = self._buffer.lstrip()
        fence = next((one for one in _FENCES if text.startswith(one)), "")
        if not is_end and (fence or not text.startswith("{")):
            return None
        body = text[len(fence) :]
        value, end = _first_json(body)
        if end < 0:
            return None
        calls = self._calls_of(value, needs_arguments=True)
        if not calls or (fence and body[end:].strip().removeprefix("```")):
            self._begun = True  # so that it is let go as text
            return _Taken([], "", 0)
        self._block_end = "```" if fence else ";"
        return _Taken(calls, "", len(self._buffer) - len(body) + end)

    def _calls_of(self, value: object, *, needs_arguments: bool = False) -> list[Called]:
        """The calls that a JSON value is; none where one of them is none.

        Arguments beside the name, and not under a key of their own, are in no form: such a value stays text.
        """
        found = [self._read(one, needs_arguments) for one in (value if isinstance(value, list) else [value])]
        if not all(found):
            return []
        self.num_calls += len(found)
        return [Called(uuid.uuid4().hex[:_ID_CHARS], name, arguments) for name, arguments in filter(None, found)]

    def _read(self, value: object, needs_arguments: bool) -> tuple[str, str] | None:
        """Name and arguments, as JSON, of a value that is a call."""
        if not isinstance(value, dict):
            return None
        name = value.get("tool_name" if "name" not in value else "name")
        if not isinstance(name, str) or name not in self._names:
            return None
        key = next((one for one in ("arguments", "parameters") if one in value), "")
        if (needs_arguments and not key) or not value.keys() <= {"name", "tool_name", key, *_ENVELOPE}:
            return None
        arguments = value.get(key, {})
        if isinstance(arguments, str):
            inner, end = _first_json(arguments)
            arguments = inner if end == len(arguments.rstrip()) else None
        if not isinstance(arguments, dict):
            return None
        try:
            return name, json.dumps(arguments, ensure_ascii=False, allow_nan=False)
        except ValueError:  # a number that JSON has no word for
            return None


def _first_json(text: str) -> tuple[object, int]:
    """The JSON value that a text begins with, and where it ends; -1 where it is not whole."""
    start = len(text) - len(text.lstrip())
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, -1
    return value, end


def _is_broken(text: str) -> bool:
    """Whether a text that begins with a brace can become no JSON value any more, whatever follows."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        _DECODER.raw_decode(text, len(text) - len(text.lstrip()))
    except json.JSONDecodeError as error:
        inside = error.msg.startswith(("Unterminated string", "Invalid \\"))  # which may go on
        return not inside and error.pos < len(text.rstrip()) - len("false")
    except RecursionError:
        return True
    return False


def _typed(text: str, schema: object) -> object:
    """The value that a text between tags stands for: JSON where the schema wants no string, the text where it does."""
    bare = text.removeprefix("\n").removesuffix("\n")
    kinds = kinds_of(schema)
    if not kinds or None in kinds or "string" in kinds:
        return bare
    value, end = _first_json(bare)
    return value if end == len(bare.rstrip()) else bare
