"""What a server's tools are told as, and what their results say: text and pictures, both bounded, words for others."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterable, Sequence
from typing import Any

from mcp_types import CallToolResult, ContentBlock, JSONRPCMessage, JSONRPCResponse, Tool
from mcp_types import EmbeddedResource as Embedded

from app.core.domain.attachment_errors import FileUnreadableError
from app.core.domain.attachments import Attachment
from app.core.storage.pictures import picture_attachment
from app.core.tools.interface import ToolDefinition, ToolResult
from app.core.tools.mcp.limits import MESSAGE_VALUES, RESULT_PARTS, SCHEMAS_BYTES
from app.core.tools.mcp.words import description, one_line, plain_text, schema, tool_name
from engine.sentences import Sentence, said

_EMPTY = "(The tool gave nothing.)"
MOST_PICTURES = 8  # of a result
PICTURE_S, PICTURES_S = 10.0, 20.0  # to decode one, and all of a result: a call waits for it


def usable_tools(listed: Sequence[Tool], most: int) -> tuple[dict[str, Tool], int]:
    """The tools of a list by the names that they get, sorted by them, at most so many; and how many are left out.

    A tool without a name of letters is left out, one whose schema is too large, too deep or no object's, and one whose
    schema does not fit beside those before it.
    """
    found: dict[str, Tool] = {}
    room = SCHEMAS_BYTES
    for tool in sorted(listed, key=lambda one: one.name):
        name = tool_name(tool.name)
        if not name or name in found or len(found) >= most:
            continue
        parameters = schema(tool.input_schema)
        size = 0 if parameters is None else len(json.dumps(parameters))
        if parameters is not None and size <= room:
            found[name] = tool
            room -= size
    return found, len(listed) - len(found)


def definition_of(name: str, tool: Tool, server: str) -> ToolDefinition:
    """A usable tool under its ``name``."""
    title = tool.title or (tool.annotations.title if tool.annotations else None) or ""
    return ToolDefinition(
        name, description(tool.description or ""), schema(tool.input_schema) or {}, server, one_line(title)
    )


def with_fewer_parts(message: JSONRPCMessage) -> JSONRPCMessage:
    """A message with at most `RESULT_PARTS` parts of a result, and one that counts the others.

    It is cut before it is read as a result, which takes its time for each part.
    """
    result = message.result if isinstance(message, JSONRPCResponse) else {}
    parts = result.get("content")
    if isinstance(parts, list) and len(parts) > RESULT_PARTS:
        words = f"[{len(parts) - RESULT_PARTS:,} more parts were left out]"
        result["content"] = [*parts[:RESULT_PARTS], {"type": "text", "text": words}]
    return message


def too_many_values() -> Sentence:
    """Why a message is not read, as the end of a sentence."""
    return said("it wrote a message with more than {most:,} values", most=MESSAGE_VALUES)


def result_of(call_id: str, given: CallToolResult, max_chars: int) -> ToolResult:
    """A result as text and pictures, each named in the text where it stood; what is neither is named in words.

    Structured content counts where there is no other. Pictures are decoded here, each in a child process, which takes
    `PICTURES_S` at most.
    """
    pictures, kept = _Pictures(), list[str]()
    size = cut = 0
    for text in _texts(given, pictures):
        room = max(0, max_chars - size)
        # Of what is left out no more is cleaned than may fill the room: Python's lock is held meanwhile, for 230 ms of
        # 10 MB of colours.
        more = plain_text(text[: 2 * room])
        kept.append(more[:room])
        size += len(kept[-1]) + 1
        cut += len(more) - len(kept[-1]) + max(0, len(text) - 2 * room)
    text = "\n".join(part for part in kept if part)
    return ToolResult(call_id, text or _EMPTY, bool(given.is_error), cut, tuple(pictures.found))


class _Pictures:
    """The pictures of a result, those that can be read."""

    def __init__(self) -> None:
        self.found: list[Attachment] = []
        self._num_seen = 0
        self._until_s = time.monotonic() + PICTURES_S

    def words_for(self, data: str) -> str:
        """Take a picture in Base64, and give what stands for it in the text."""
        self._num_seen += 1
        name = f"picture {self._num_seen}"
        if self._num_seen > MOST_PICTURES:
            return ""
        limit_s = min(PICTURE_S, self._until_s - time.monotonic())
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
        """How many were too many."""
        over = self._num_seen - MOST_PICTURES
        return f"[{over:,} more pictures were left out]" if over > 0 else ""


def _texts(given: CallToolResult, pictures: _Pictures) -> Iterable[str]:
    if not given.content and given.structured_content is not None:
        yield json.dumps(given.structured_content, ensure_ascii=False)
    for part in given.content:
        yield _text_of(part, pictures)
    yield pictures.words_at_end()


def _text_of(part: ContentBlock, pictures: _Pictures) -> str:
    """One part of a result."""
    if (data := _picture_in(part)) is not None:
        return pictures.words_for(data)
    if isinstance(part, Embedded):
        inside: Any = part.resource
        if isinstance(text := getattr(inside, "text", None), str):
            return text
        return f"[a file, {_kind(inside)}: {one_line(str(inside.uri), 200)}; only text can be shown to the model]"
    if part.type == "text":
        return part.text
    if part.type == "resource_link":
        return f"[a link to {one_line(part.name)}: {one_line(str(part.uri), 200)}]"
    what = "a sound" if part.type == "audio" else "something"
    num_bytes = len(part.data) * 3 // 4  # of Base64
    return f"[{what}, {_kind(part)}, {num_bytes:,} bytes; only text can be shown to the model]"


def _picture_in(part: ContentBlock) -> str | None:
    """A picture in Base64; None where the part is none."""
    if part.type == "image":
        return part.data
    inside: Any = part.resource if isinstance(part, Embedded) else None
    blob = getattr(inside, "blob", None)
    return blob if isinstance(blob, str) and (inside.mime_type or "").startswith("image/") else None


def _kind(part: Any) -> str:  # noqa: ANN401 (whatever has a type)
    return one_line(getattr(part, "mime_type", None) or "of unknown type")
