"""Reads messages, tools and results of a server; usable parts are read even if others are unusable."""

import base64
import codecs
import json
import re
import time
from collections.abc import Iterable, Sequence
from typing import Any

from mcp_types import INTERNAL_ERROR, Tool, jsonrpc_message_adapter

from app.core.domain.attachment_errors import FileUnreadableError
from app.core.domain.attachments import Attachment
from app.core.storage.pictures import picture_attachment
from app.core.tools.interface import ToolDefinition, ToolResult
from app.core.tools.mcp.limits import MESSAGE_VALUES, RESULT_PARTS, SCHEMAS_BYTES
from app.core.tools.mcp.words import (
    description,
    one_line,
    plain_text,
    schema,
    tool_name,
    tool_names,
    whole_characters,
)
from engine.sentences import Sentence, i18n, joined

UNREADABLE = -32_009  # our error code for an answer that is no JSON; the error message is its text
_EMPTY = "(The tool gave nothing.)"
MAX_PICTURES = 8  # maximum number of pictures in a result
MAX_PICTURE_S, MAX_PICTURES_S = 10.0, 20.0  # time limits for decoding one picture, and all pictures of a result
# Known fields of a result.
_KNOWN_PART_KEYS = ("content", "structuredContent", "toolResult", "isError", "_meta", "resultType")
_TOOLS_NAMED = 5  # number of omitted tools that a notice names
_ID = re.compile(rb'"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")')
Json = dict[str, Any]


# ---- messages -------------------------------------------------------------------------------------------------------


def repaired_message(line: bytes) -> bytes:
    """Repair a message for the protocol; unchanged if that is impossible.

    An answer that is no JSON becomes an error with its text, so that the call ends at once.
    """
    line = line.removeprefix(codecs.BOM_UTF8)
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        text = _decoded(line)
        try:
            data = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            data = _unreadable(line, text)
        if isinstance(data, dict):
            return whole_characters(json.dumps(_repaired(data), ensure_ascii=False)).encode()
    return line


def _decoded(line: bytes) -> str:
    """Decode UTF-8, or else Windows-1252."""
    text = line.decode("utf-8", "replace")
    is_utf8 = text.isascii() or any(not char.isascii() and char != "\ufffd" for char in text)
    return text if is_utf8 or "\ufffd" not in text else line.decode("cp1252", "replace")


def _repaired(data: Json) -> Json:
    data = {**data, "jsonrpc": "2.0"}
    if "method" in data:
        return data if isinstance(data.get("params"), dict) else {**data, "params": {}}
    if "id" not in data:
        return data
    head = {"jsonrpc": "2.0", "id": int(data["id"]) if isinstance(data["id"], float) else data["id"]}
    error, result = data.get("error"), data.get("result")
    if error is None:
        return {**head, "result": result if isinstance(result, dict) else {} if result is None else {"content": result}}
    detail = error if isinstance(error, dict) else {"message": error}
    code, words = detail.get("code", INTERNAL_ERROR), detail.get("message")
    words = words if isinstance(words, str) else json.dumps(error, ensure_ascii=False)
    if not isinstance(code, int) or isinstance(code, bool):
        code, words = INTERNAL_ERROR, f"{code}: {words}"
    return {**head, "error": {"code": code, "message": words}}


def _unreadable(line: bytes, text: str) -> Json | None:
    """An error message that replaces an unreadable answer; None if the line is no answer."""
    if not line.lstrip().startswith(b"{") or b'"method"' in line:
        return None
    found = list(_ID.finditer(line))
    place = min((at for name in (b'"result"', b'"error"') if (at := line.find(name)) >= 0), default=len(line))
    if not found or place == len(line):
        return None
    number = found[0] if found[0].start() < place else found[-1]  # other ids are part of the result
    return {"id": json.loads(number[1]), "error": {"code": UNREADABLE, "message": text[:4_000]}}


# ---- tools ----------------------------------------------------------------------------------------------------------


def parse_tools(given: object) -> tuple[list[Json], list[Sentence]]:
    """Returns the readable tools of a page with the needed fields, and the reasons why others are omitted."""
    found, left_out = list[Json](), list[Sentence]()
    for place, one in enumerate(given if isinstance(given, list) else []):
        tool, name = one if isinstance(one, dict) else {}, one.get("name") if isinstance(one, dict) else None
        parameters = tool.get("inputSchema")
        if not isinstance(name, str) or not one_line(name):
            left_out.append(_skipped_tool_sentence(f"#{place + 1}", i18n("it has no name")))
        elif (made := schema(parameters, is_bounded=False)) is None:
            left_out.append(_skipped_tool_sentence(name, i18n("its arguments are not an object")))
        else:
            texts = {key: tool[key] for key in ("description", "title") if isinstance(tool.get(key), str)}
            title = tool["annotations"].get("title") if isinstance(tool.get("annotations"), dict) else None
            named = {"annotations": {"title": title}} if isinstance(title, str) else {}
            found.append({"name": name, "inputSchema": made, **texts, **named})
    return found, left_out


def select_tools(listed: Iterable[Tool], most: int) -> tuple[dict[str, Tool], list[Sentence]]:
    """Returns the usable tools by unique name, sorted and limited, and the reasons why others are omitted.

    A tool is omitted if its schema is too large or too deep, or if all schemas together are too large.
    """
    found, left_out = dict[str, Tool](), list[Sentence]()
    room = SCHEMAS_BYTES
    tools = {tool.name: tool for tool in listed}
    for own_name, name in sorted(tool_names(tools).items()):
        parameters = schema(tools[own_name].input_schema)
        size = 0 if parameters is None else len(json.dumps(parameters))
        if len(found) >= most:
            left_out.append(_skipped_tool_sentence(own_name, i18n("there are more than {most}", most=most)))
        elif parameters is None:
            left_out.append(
                _skipped_tool_sentence(own_name, i18n("it has too many arguments, or they are nested too deep"))
            )
        elif size > room:
            left_out.append(_skipped_tool_sentence(own_name, i18n("the arguments of the others leave no room")))
        else:
            found[name] = tools[own_name]
            room -= size
    return found, left_out


def _skipped_tool_sentence(name: str, why: Sentence) -> Sentence:
    return i18n("The tool “{name}” is left out: {why}.", name=one_line(name), why=why)


def notice_of(left_out: Sequence[Sentence]) -> Sentence | str:
    """A sentence: the first omitted tools with reasons, and the number of further ones."""
    more = len(left_out) - _TOOLS_NAMED
    rest = i18n("So are {number} more.", number=more) if more > 0 else ""
    return joined([*left_out[:_TOOLS_NAMED], rest]) if left_out else ""


def definition_of(name: str, tool: Tool, server: str) -> ToolDefinition:
    """The definition of a usable tool under its unique ``name``.

    If ``name`` does not contain the tool's own name, the description begins with the own name.
    """
    title = (
        tool.title or (tool.annotations.title if tool.annotations else None) or ("" if tool.name == name else tool.name)
    )
    words = description(tool.description or "")
    if not tool_name(tool.name):
        words = f"{one_line(tool.name)}: {words}"
    return ToolDefinition(name, words, schema(tool.input_schema) or {}, server, one_line(title))


# ---- results --------------------------------------------------------------------------------------------------------


def too_many_values() -> Sentence:
    """Why a message with too many values is refused, as the end of a sentence."""
    return i18n("it wrote a message with more than {most:,} values", most=MESSAGE_VALUES)


def result_of(call_id: str, raw: Json, max_chars: int) -> ToolResult:
    """Convert a result to text and pictures. The text names each picture and other content at its place.

    Structured content is used if there is no other content. Pictures are decoded here, each in a child process, within
    `MAX_PICTURES_S`.
    """
    pictures, kept = _Pictures(), list[str]()
    size = cut = 0
    for text in _texts(raw, pictures):
        room = max(0, max_chars - size)
        # Clean only text that may fit: cleaning holds Python's GIL (230 ms for 10 MB of colour sequences).
        more = plain_text(text[: 2 * room])
        kept.append(more[:room])
        size += len(kept[-1]) + 1
        cut += len(more) - len(kept[-1]) + max(0, len(text) - 2 * room)
    text = "\n".join(part for part in kept if part)
    return ToolResult(call_id, text or _EMPTY, raw.get("isError") is True, cut, tuple(pictures.found))


class _Pictures:
    """Collects the readable pictures of a result."""

    def __init__(self) -> None:
        self.found: list[Attachment] = []
        self._num_seen = 0
        self._until_s = time.monotonic() + MAX_PICTURES_S

    def words_for(self, data: str) -> str:
        """Decode a picture in Base64; returns the text in its place."""
        self._num_seen += 1
        name = f"picture {self._num_seen}"
        if self._num_seen > MAX_PICTURES:
            return ""
        limit_s = min(MAX_PICTURE_S, self._until_s - time.monotonic())
        try:
            if limit_s <= 1.0:
                return f"[{name} was left out: reading those before it took too long]"
            self.found.append(picture_attachment(name, base64.b64decode(data, validate=True), limit_s))
        except FileUnreadableError as error:
            return f"[{name} cannot be shown: {error.message}]"
        except ValueError:
            return f"[{name} cannot be shown: it is not in Base64.]"
        return f"[{name}]"

    def words_at_end(self) -> str:
        """A line with the number of pictures that exceed the limit."""
        over = self._num_seen - MAX_PICTURES
        return f"[{over:,} more pictures were left out]" if over > 0 else ""


def _texts(raw: Json, pictures: _Pictures) -> Iterable[str]:
    content, structured = raw.get("content"), raw.get("structuredContent", raw.get("toolResult"))
    parts = content if isinstance(content, list) else [content]
    texts = [text for part in parts[:RESULT_PARTS] if (text := _text_of(part, pictures))]
    if not texts:
        others = {name: value for name, value in raw.items() if name not in _KNOWN_PART_KEYS}
        texts = [_as_text(one) for one in (structured, others or None) if one is not None]
    yield from texts
    if len(parts) > RESULT_PARTS:
        yield f"[{len(parts) - RESULT_PARTS:,} more parts were left out]"
    yield pictures.words_at_end()


def _text_of(part: object, pictures: _Pictures) -> str:
    """The text for one part of a result; may be empty."""
    if not isinstance(part, dict):
        return "" if part is None else _as_text(part)
    kind, inner = part.get("type"), part.get("resource")
    inside: Json = inner if kind == "resource" and isinstance(inner, dict) else part
    text, data = inside.get("text"), inside.get("blob", inside.get("data"))
    mime, address = (
        one_line(str(inside.get("mimeType") or "of unknown type")),
        one_line(str(inside.get("uri", "")), 200),
    )
    if text is not None:
        return _as_text(text)
    if kind == "resource_link":
        return f"[a link to {one_line(str(part.get('name', '')))}: {address}]"
    if isinstance(data, str) and kind in ("image", "audio", "resource"):
        if kind == "image" or (kind == "resource" and mime.startswith("image/")):
            return pictures.words_for(data)
        what = f"a sound, {mime}, {len(data) * 3 // 4:,} bytes" if kind == "audio" else f"a file, {mime}: {address}"
        return f"[{what}; only text can be shown to the model]"  # the size of the Base64 data
    return "" if kind == "text" else f"[{one_line(str(kind)) or 'something'}, which cannot be read here]"


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
