"""Parses tool calls by the descriptions of `engine.tools.formats`. The result for an incomplete text is `PENDING`."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from engine.tools.formats import GEMMA_QUOTE, SYNTAXES, Body, CallSyntax, ToolFormat, is_plain_text

Schemas = Mapping[str, Mapping[str, Any]]  # parameters by tool; formats with tags need their types
_DECODER = json.JSONDecoder(strict=False)  # not strict, since models write plain line ends into strings
_ENVELOPE = frozenset({"id", "type", "index", "tool_call_id"})  # ignored keys
_SLOT = re.compile(r"\{(name|key|id|index|type)\}")
_SPACE = re.compile(r"\s*")
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
_HARMONY = re.compile(
    r"\s*(?:<\|start\|>assistant)?\s*(?:<\|channel\|>commentary)?\s*to=functions\.(?P<name>[^\s<]+)\s*"
    r"(?:<\|channel\|>commentary)?\s*(?:<\|constrain\|>)?\s*(?:json)?\s*<\|message\|>"
)
_HARMONY_HEAD = 200  # most characters before a call's arguments
_GEMMA_WORD = re.compile(r"[^,:{}\[\]<\s][^,:{}\[\]<]*")
_MAX_DEPTH = 32


class Pending(Enum):
    """The result if more text is needed."""

    PENDING = "pending"


PENDING: Final = Pending.PENDING


@dataclass(frozen=True, slots=True)
class ReadCalls:
    """Parsed calls (names and arguments) and the offset of their end. ``calls`` is empty if the text is not a call."""

    calls: tuple[tuple[str, dict[str, Any]], ...]
    end: int


def read_calls(
    text: str, tool_format: ToolFormat, schemas: Schemas = MappingProxyType({})
) -> ReadCalls | Pending | None:
    """Parse the text after the mark of a block, or after an earlier call; None if it does not have this format."""
    syntax = SYNTAXES[tool_format]
    if syntax.body is Body.OBJECT:
        return read_objects(text)
    if syntax.body is Body.PYTHON:
        return _read_python(text, syntax)
    begun = _head(text, tool_format)
    if not isinstance(begun, _Matched):
        return begun
    if syntax.body is Body.TAGS:
        return _read_tags(text, begun, syntax, schemas)
    return _read_gemma(text, begun) if syntax.body is Body.GEMMA else _arguments(text, begun)


def next_call_name(text: str, tool_format: ToolFormat) -> tuple[str, int] | Pending | None:
    """Parse the head of a call: the name, and the offset of the arguments."""
    begun = _head(text, tool_format)
    return (begun.values["name"], begun.end) if isinstance(begun, _Matched) else begun


def _head(text: str, tool_format: ToolFormat) -> _Matched | Pending | None:
    return _harmony_head(text) if tool_format is ToolFormat.HARMONY else _matched(text, 0, SYNTAXES[tool_format].begin)


def read_objects(text: str, *, needs_arguments: bool = False) -> ReadCalls | Pending | None:
    """Parse a JSON object that is a call, or a list of such objects; ``calls`` is empty if an object is not a call."""
    value = first_json(text)
    if not isinstance(value, _JsonValue):
        return value
    values = value.value if isinstance(value.value, list) else [value.value]
    found = [_call_in(one, needs_arguments=needs_arguments) for one in values]
    return ReadCalls(tuple(call for call in found if call is not None) if all(found) else (), value.end)


class _JsonValue(NamedTuple):
    value: object
    end: int


def first_json(text: str, start: int = 0) -> _JsonValue | Pending | None:
    """Parse the JSON object or list at the beginning of a text; None if there is none."""
    start = _space(text, start)
    if start == len(text):
        return PENDING
    if text[start] not in "{[":
        return None
    try:
        return _JsonValue(*_DECODER.raw_decode(text, start))
    except json.JSONDecodeError as error:
        inside = error.msg.startswith(("Unterminated string", "Invalid \\"))  # an incomplete string
        return None if not inside and error.pos < len(text.rstrip()) - len("false") else PENDING
    except (ValueError, RecursionError):
        return None


def ends_in_string(text: str) -> bool:
    """Whether an incomplete JSON value ends inside a string."""
    try:
        _DECODER.raw_decode(text, _space(text, 0))
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated string")
    except (ValueError, RecursionError):
        return False
    return False


def _call_in(value: object, *, needs_arguments: bool) -> tuple[str, dict[str, Any]] | None:
    """Name and arguments of a call's object; None if it is not a call with separate arguments."""
    if not isinstance(value, dict):
        return None
    name = value.get("tool_name" if "name" not in value else "name")
    key = next((one for one in ("arguments", "parameters") if one in value), "")
    if not isinstance(name, str) or (needs_arguments and not key):
        return None
    if not value.keys() <= {"name", "tool_name", key, *_ENVELOPE}:
        return None
    arguments = value.get(key, {})
    if isinstance(arguments, str):
        inner = first_json(arguments)
        arguments = inner.value if isinstance(inner, _JsonValue) and inner.end == len(arguments.rstrip()) else None
    return (name, arguments) if isinstance(arguments, dict) else None


# ---- parts of a call ------------------------------------------------------------------------------------------------


class _Matched(NamedTuple):
    values: dict[str, str]
    end: int


def _space(text: str, offset: int) -> int:
    found = _SPACE.match(text, offset)
    return offset if found is None else found.end()


@cache
def _atoms(pattern: str) -> tuple[str | re.Pattern[str], ...]:
    """Split a pattern into literal parts, with any white space between them, and expressions for its slots."""
    atoms = list[str | re.Pattern[str]]()
    begin = 0
    for slot in _SLOT.finditer(pattern):
        atoms += pattern[begin : slot.start()].split()
        after = pattern[slot.end() : slot.end() + 1].strip()
        quote = '"?' if not pattern[: slot.start()].endswith('"') else ""
        lines = r"\n" if slot[1] == "key" else r"\s"  # a parameter's name may contain spaces
        atoms.append(re.compile(rf"{quote}(?P<{slot[1]}>[^{lines}<>\"|\[\](){{}}{re.escape(after)}]+){quote}"))
        begin = slot.end()
    return (*atoms, *pattern[begin:].split())


def _matched(text: str, offset: int, pattern: str) -> _Matched | Pending | None:
    """Match a pattern at an offset; `PENDING` if the text ends within the pattern."""
    values = dict[str, str]()
    for atom in _atoms(pattern):
        offset = _space(text, offset)
        if isinstance(atom, str):
            if not text.startswith(atom, offset):
                return PENDING if atom.startswith(text[offset:]) else None
            offset += len(atom)
            continue
        found = atom.match(text, offset)
        if found is None or found.end() == len(text):
            return PENDING if offset == len(text) or found is not None or text[offset:] == '"' else None
        values.update(found.groupdict())
        offset = found.end()
    return _Matched(values, offset)


def _arguments(text: str, begun: _Matched) -> ReadCalls | Pending | None:
    value = first_json(text, begun.end)
    if not isinstance(value, _JsonValue):
        return value
    calls = ((begun.values["name"], value.value),) if isinstance(value.value, dict) else ()
    return ReadCalls(calls, value.end)


def _harmony_head(text: str) -> _Matched | Pending | None:
    """Parse the head of a call of gpt-oss, whose parts have several orders."""
    found = _HARMONY.match(text)
    if found is None:
        return PENDING if "<|message|>" not in text and len(text) < _HARMONY_HEAD else None
    return _Matched(found.groupdict(), found.end())


# ---- arguments between tags -----------------------------------------------------------------------------------------


def _read_tags(text: str, begun: _Matched, syntax: CallSyntax, schemas: Schemas) -> ReadCalls | Pending | None:
    name, offset = begun.values["name"], begun.end
    properties = schemas.get(name, {}).get("properties", {})
    arguments = dict[str, object]()
    while True:
        part = next_tags_part(text, offset, syntax)
        if not isinstance(part, TagsPart):
            return part
        if part.end is None:
            return PENDING
        if part.key is None:
            return ReadCalls(((name, arguments),), part.end)
        if part.key in arguments:  # a repeated key is ambiguous
            return None
        is_text = is_plain_text(properties.get(part.key)) if part.is_text is None else part.is_text
        arguments[part.key] = part.value if is_text else value_of(part.value)
        offset = part.end


class TagsPart(NamedTuple):
    """An argument, or without a ``key`` the end of a call; ``is_text`` if the tag says that the value is text.

    ``end`` is the offset after the part; None if the value is incomplete: then ``value`` is the part that is final.
    """

    key: str | None
    value: str
    is_text: bool | None
    end: int | None


def next_tags_part(text: str, offset: int, syntax: CallSyntax) -> TagsPart | Pending | None:
    """Parse the next argument or the end of a call; None if there is neither."""
    end = _end_of_call(text, offset, syntax)
    if end is PENDING:
        return PENDING
    if end is not None:
        return TagsPart(None, "", None, end)
    key = _key(text, offset, syntax)
    if not isinstance(key, _Key):
        return key
    value_end, is_certain = _end_of_value(text, key.end, syntax)
    if value_end < 0:
        return None
    value = text[key.end : value_end].removeprefix("\n").removesuffix("\n")
    tag_end = value_end + len(syntax.value_end.strip())
    return TagsPart(key.name, value, key.is_text, tag_end if is_certain else None)


def _end_of_call(text: str, offset: int, syntax: CallSyntax) -> int | Pending | None:
    """Parse the end of a call; None if an argument follows."""
    offset = _space(text, offset)
    ends = [syntax.end.strip()] if syntax.end else [syntax.block_end, syntax.mark]
    for end in ends:
        if text.startswith(end, offset):
            return offset + (len(end) if syntax.end else 0)
    return PENDING if any(end.startswith(text[offset:]) for end in ends) else None


class _Key(NamedTuple):
    name: str
    is_text: bool | None  # as the tag says; None if it does not
    end: int


def _key(text: str, offset: int, syntax: CallSyntax) -> _Key | Pending | None:
    found: list[_Matched | Pending | None] = []
    for pattern in (syntax.key, *([syntax.json_key] if syntax.json_key else [])):
        matched = _matched(text, offset, pattern)
        if isinstance(matched, _Matched):
            is_text = None if not syntax.json_key else pattern == syntax.key
            return _Key(matched.values["key"].strip(), is_text, matched.end)
        found.append(matched)
    return PENDING if PENDING in found else None


def _end_of_value(text: str, start: int, syntax: CallSyntax) -> tuple[int, bool]:
    """The end of a value, and whether it is certain; -1 if the next argument begins earlier.

    A value may contain its end tag, so the end tag must be followed by a possible next part.
    """
    tag, next_key = syntax.value_end.strip(), syntax.key.partition("{")[0]
    following = (next_key, syntax.end.strip()) if syntax.end else (next_key, syntax.block_end, syntax.mark)
    end = start
    while (end := text.find(tag, end)) >= 0:
        after = _space(text, end + len(tag))
        if next_key in text[start:end]:
            return -1, True
        if any(text.startswith(one, after) for one in following):
            return end, True
        if any(one.startswith(text[after:]) for one in following):
            return end, False
        end += 1
    if next_key in text[start:]:
        return -1, True
    held = range(min(max(len(tag), len(next_key)) - 1, len(text) - start), 0, -1)
    return len(text) - next((n for n in held if tag.startswith(text[-n:]) or next_key.startswith(text[-n:])), 0), False


def value_of(raw: str) -> object:
    """Parse a value that is not a text as JSON; other text is returned unchanged."""
    try:
        return json.loads(raw, strict=False)
    except (ValueError, RecursionError):
        return raw


# ---- Python's calls, and Gemma's arguments --------------------------------------------------------------------------


def _read_python(text: str, syntax: CallSyntax) -> ReadCalls | Pending | None:
    end = text.find(syntax.block_end.lstrip("]"))
    if end < 0:
        return PENDING
    try:
        tree = ast.parse(text[:end].strip(), mode="eval").body
        calls = tuple(_python_call(one) for one in (tree.elts if isinstance(tree, ast.List) else [tree]))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ReadCalls((), end)
    return ReadCalls(calls, end)


def _python_call(node: ast.expr) -> tuple[str, dict[str, Any]]:
    """Name and arguments of a Python call; raises `ValueError` unless all arguments are named literals."""
    if not isinstance(node, ast.Call) or node.args:
        raise ValueError("no call")
    return ast.unparse(node.func), {_keyword(one): _literal(one.value) for one in node.keywords}


def _keyword(keyword: ast.keyword) -> str:
    if keyword.arg is None:
        raise ValueError("no name")
    return keyword.arg


def _literal(node: ast.expr) -> object:
    if isinstance(node, ast.Name) and node.id.lower() in _CONSTANTS:  # JSON's true, false and null
        return _CONSTANTS[node.id.lower()]
    if isinstance(node, ast.List):
        return [_literal(one) for one in node.elts]
    if isinstance(node, ast.Dict):
        keys = [None if key is None else ast.literal_eval(key) for key in node.keys]
        return {str(key): _literal(value) for key, value in zip(keys, node.values, strict=True)}
    return ast.literal_eval(node)


class _GemmaError(ValueError):
    """The text is not an argument."""


class _GemmaEndError(ValueError):
    """The text ended within an argument."""


def _read_gemma(text: str, begun: _Matched) -> ReadCalls | Pending | None:
    try:
        value, end = _gemma_value(text, begun.end, 0)
    except _GemmaEndError:
        return PENDING
    except _GemmaError:
        return None
    return ReadCalls(((begun.values["name"], value),), end) if isinstance(value, dict) else ReadCalls((), end)


def _gemma_value(text: str, offset: int, depth: int) -> tuple[object, int]:
    """Parse a quoted string, number, word, list or object; return it and its end."""
    offset = _space(text, offset)
    if GEMMA_QUOTE.startswith(text[offset : offset + len(GEMMA_QUOTE)]):
        end = text.find(GEMMA_QUOTE, offset + len(GEMMA_QUOTE))
        if end < 0 or not text.startswith(GEMMA_QUOTE, offset):
            raise _GemmaEndError
        return text[offset + len(GEMMA_QUOTE) : end], end + len(GEMMA_QUOTE)
    if text[offset] in "{[" and depth < _MAX_DEPTH:
        return _gemma_members(text, offset, depth)
    word = _GEMMA_WORD.match(text, offset)
    if word is None:
        raise _GemmaError
    if word.end() == len(text):
        raise _GemmaEndError
    return value_of(word[0].strip()), word.end()


def _gemma_members(text: str, offset: int, depth: int) -> tuple[object, int]:
    closing = "}" if text[offset] == "{" else "]"
    found = list[tuple[str, object]]()
    offset = _space(text, offset + 1)
    while not text.startswith(closing, offset):
        key = ""
        if closing == "}":
            key, offset = _gemma_key(text, offset)
        value, offset = _gemma_value(text, offset, depth + 1)
        found.append((key, value))
        offset = _space(text, offset)
        if text.startswith(",", offset):
            offset = _space(text, offset + 1)
        elif not text.startswith(closing, offset):
            raise _GemmaEndError if offset == len(text) else _GemmaError
    return (dict(found) if closing == "}" else [value for _, value in found]), offset + 1


def _gemma_key(text: str, offset: int) -> tuple[str, int]:
    key, offset = _gemma_value(text, offset, _MAX_DEPTH)
    offset = _space(text, offset)
    if not text.startswith(":", offset):
        raise _GemmaEndError if offset == len(text) else _GemmaError
    return str(key), offset + 1


# ---- the form of a template -----------------------------------------------------------------------------------------


def format_of(text: str, wanted: tuple[str, dict[str, Any]], schemas: Schemas) -> ToolFormat:
    """The format in which a text contains this call, or NONE. Formats with a block are tried first."""
    marks = [(tool_format, syntax.mark or "{") for tool_format, syntax in SYNTAXES.items()]
    marks += [(tool_format, mark) for tool_format, syntax in SYNTAXES.items() for mark in syntax.other_marks]
    for tool_format, mark in marks:
        syntax, begin = SYNTAXES[tool_format], text.find(mark)
        if begin < 0:
            continue
        inside = text[begin + (len(mark) if syntax.block and mark == syntax.mark else 0) :]
        if syntax.body is Body.OBJECT and not _has_shape(inside, syntax):
            continue
        found = read_calls(inside, tool_format, schemas)
        if isinstance(found, ReadCalls) and found.calls[:1] == (wanted,):
            return tool_format
    return ToolFormat.NONE


def _has_shape(text: str, syntax: CallSyntax) -> bool:
    """Whether the text has the format's keys, and is a list if the format is one."""
    is_list = text.lstrip().startswith("[")
    keys = (f'"{syntax.name_key}"', f'"{syntax.arguments_key}"')
    return is_list == syntax.block.endswith("[") and all(key in text for key in keys)
