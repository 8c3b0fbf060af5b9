"""Parses calls while they are generated: the name once it is certain, then the arguments as pieces of JSON."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from engine.tools.formats import SYNTAXES, Body, CallSyntax, ToolFormat, is_plain_text
from engine.tools.reading import (
    Pending,
    Schemas,
    TagsPart,
    next_call_name,
    next_tags_part,
    value_of,
)

_EXTRA = r'(?:"(?:id|tool_call_id|type|index)"\s*:\s*(?:"[^"\\]*"|\d+)\s*,\s*)*'
_OBJECT = re.compile(
    rf'\s*\[?\s*\{{\s*{_EXTRA}"(?:name|tool_name)"\s*:\s*"(?P<name>[^"\\]+)"\s*,\s*{_EXTRA}'
    r'"(?:arguments|parameters)"\s*:\s*(?=\{)'
)
# A character of a string, or an escape, or the two escapes of a surrogate pair.
_UNIT = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[^u]|[^\\]")
_ESCAPE_BEGUN = re.compile(r"(?:\\(?:u[0-9a-fA-F]{0,3})?)?")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


@dataclass(frozen=True, slots=True)
class CallStart:
    """The beginning of a call: the name of the tool, and the offset of the arguments."""

    name: str
    start: int


def call_start(text: str, tool_format: ToolFormat) -> CallStart | None:
    """Parse the call at the beginning of a text; None until its arguments begin."""
    syntax = SYNTAXES[tool_format]
    if syntax.body is Body.OBJECT:
        found = _OBJECT.match(text)
        return None if found is None else CallStart(found["name"], found.end())
    if syntax.body not in (Body.ARGUMENTS, Body.TAGS):
        return None  # not JSON: parsed only when complete
    head = next_call_name(text, tool_format)
    if head is None or isinstance(head, Pending):
        return None
    name, end = head
    if syntax.body is Body.TAGS:
        part = next_tags_part(text, end, syntax)  # a name alone may be an ordinary word: wait for an argument
        return CallStart(name, end) if isinstance(part, TagsPart) and part.key is not None else None
    start = len(text) - len(text[end:].lstrip())
    return CallStart(name, start) if text.startswith("{", start) else None


class StreamedObject:
    """Returns the arguments as pieces of a JSON object. Line ends are escaped, and no character is split."""

    def __init__(self) -> None:
        self._offset = self._depth = 0
        self._in_string = False
        self.end: int | None = None  # end of the arguments, once complete

    def advance(self, text: str) -> str:
        """Return the new piece, given the text of the arguments so far."""
        new = list[str]()
        while self._offset < len(text) and self.end is None:
            letter = text[self._offset]
            if self._in_string:
                unit = _UNIT.match(text, self._offset)
                if unit is None or (unit[0].startswith("\\") and _ESCAPE_BEGUN.fullmatch(text, unit.end())):
                    break  # an incomplete escape
                self._offset = unit.end()
                self._in_string = letter != '"'
                whole = "\\ufffd" if _SURROGATE.fullmatch(unit[0]) else unit[0]  # a lone surrogate becomes U+FFFD
                new.append(json.dumps(letter)[1:-1] if letter < " " else whole)
                continue
            self._offset += 1
            new.append(letter)
            self._in_string = letter == '"'
            self._depth += (letter in "{[") - (letter in "}]")
            if self._depth == 0:
                self.end = self._offset
        return "".join(new)


class StreamedTags:
    """Returns arguments between tags as pieces of a JSON object: strings in parts, other values once complete."""

    def __init__(self, name: str, syntax: CallSyntax, schemas: Schemas = MappingProxyType({})) -> None:
        self._syntax = syntax
        self._properties: Mapping[str, Any] = schemas.get(name, {}).get("properties", {})
        self._offset = 0
        self._num_given = 0  # returned characters of the current text
        self._is_open = False  # whether a text was returned in part
        self._keys = set[str]()
        self.end: int | None = None

    def advance(self, text: str) -> str:
        """Return the new piece of JSON, given the text of the arguments so far."""
        new = ""
        while self.end is None:
            part = next_tags_part(text, self._offset, self._syntax)
            if not isinstance(part, TagsPart):
                break
            if part.key is None:
                self.end = part.end
                return new + ("}" if self._keys else "{}")
            if not self._is_open and part.key in self._keys:
                break  # a repeated key, which a JSON object cannot have
            new += self._json_of(part)
            if part.end is None:
                break
            self._offset = part.end
        return new

    def _json_of(self, part: TagsPart) -> str:
        """The new piece of an argument."""
        assert part.key is not None  # noqa: S101  (checked by the caller)
        schema = self._properties.get(part.key)
        is_text = is_plain_text(schema) if part.is_text is None else part.is_text
        is_whole = part.end is not None
        if not is_text and not is_whole:
            return ""
        head = "" if self._is_open else ("," if self._keys else "{") + json.dumps(part.key, ensure_ascii=False) + ":"
        self._keys.add(part.key)
        if not is_text:
            return head + json.dumps(value_of(part.value), ensure_ascii=False)
        head += "" if self._is_open else '"'
        more = part.value[self._num_given :]
        self._is_open, self._num_given = not is_whole, 0 if is_whole else len(part.value)
        return head + json.dumps(more, ensure_ascii=False)[1:-1] + ('"' if is_whole else "")


StreamedArguments = StreamedObject | StreamedTags
