"""The messages of a chat request: texts, tool calls and tool results."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace

from app.core.server.errors import ApiError
from app.core.server.fields import Fields, check_text, invalid, is_lenient, missing, unsupported, warn, wrong_type
from app.core.server.pictures import PictureSource, placeholder, read_part
from engine.prompt.pictures import MOST_PICTURES
from engine.records import Message, Picture, ToolCall

MAX_MESSAGES = 10_000  # a prompt of so many messages takes a second
MAX_CALLS = 128  # maximum number of calls in one message
# Fields that clients send but models do not need: cache markers, earlier reasoning.
_WITHOUT_EFFECT = ("cache_control", "reasoning_content", "reasoning", "annotations", "audio")
_ROLES = {
    **{role: role for role in ("system", "user", "assistant", "tool")},
    "developer": "system",
    "function": "tool",  # the role's name before 2024
}
# Fields that hold the text of a part in other APIs. A part's name is its first field of `_NAME_FIELDS`.
_TEXT_FIELDS = (
    "text refusal transcript action query queries url command code content source file"
    " input output outputs logs results summary stdout stderr"
)
_NAME_FIELDS = ("title", "filename", "name", "tool_name", "file_id")
_IGNORED_IN_TEXT = ("cache_control", "citations", "annotations", "logprobs", "prompt_cache_breakpoint")
_TEXT_TYPES = ("text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal")


def read_messages(
    value: object, system: str, source: PictureSource | None = None, tool_text: str = ""
) -> tuple[Message, ...]:
    """Read `messages`. ``system`` precedes messages without a system prompt, ``source`` reads their pictures.

    ``tool_text`` is appended to the first system prompt.

    Raises:
        ApiError: the messages are invalid.
    """
    if value is None:
        raise missing("messages")
    if not isinstance(value, list):
        raise wrong_type("messages", "an array", value)
    if not value:
        raise ApiError(400, "`messages` is empty.", param="messages")
    if len(value) > MAX_MESSAGES:
        message = f"`messages` may have {MAX_MESSAGES:,} messages at most, and these are {len(value):,}."
        raise invalid("messages", message)
    messages = tuple(_message(one, f"messages[{i}]", source, i == len(value) - 1) for i, one in enumerate(value))
    messages = _with_latest_pictures(_with_names_of_tools(messages))
    if system and all(message.role != "system" for message in messages):
        messages = (Message("system", system), *messages)
    if not tool_text or messages[0].role != "system":
        return (Message("system", tool_text), *messages) if tool_text else messages
    return (replace(messages[0], content=f"{messages[0].content}\n\n{tool_text}"), *messages[1:])


def text_of(value: object, param: str) -> str:
    """A text, or the joined texts of parts.

    Raises:
        ApiError: the value is neither.
    """
    if isinstance(value, list):
        return "\n".join(text_of_part(part, f"{param}[{i}]") for i, part in enumerate(value) if not is_thought(part))
    if not isinstance(value, str):
        raise wrong_type(param, "a string or an array of text parts", value)
    return check_text(param, value)


def is_thought(part: object) -> bool:
    """True for earlier reasoning, which is not sent to the model again."""
    return isinstance(part, dict) and part.get("type") in ("thinking", "redacted_thinking", "reasoning")


def text_of_part(value: object, param: str) -> str:
    """The text of a message part.

    A part without text is not refused, since that would block every later request of the conversation. The model
    gets the text of a document or a search result below a line with its name.

    Raises:
        ApiError: the part is no object; in strict mode, no text.
    """
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)
    kind = value.get("type")
    if kind is None or kind in _TEXT_TYPES:
        fields = Fields(value, f"{param}.")
        fields.ignore(("type", *_IGNORED_IN_TEXT))
        text, refusal = fields.text("text"), fields.text("refusal")
        fields.end()
        if kind is None or (text is None and refusal is None and not is_lenient()):
            raise missing(f"{param}.text" if kind else f"{param}.type")
        return text or refusal or ""
    shown = check_text(f"{param}.type", kind)[:40]
    if not warn(f"Parts of the type `{shown}` are not read here: the model gets the words that are in them."):
        message = f"`{param}` is of a type that this server does not read: it reads text and pictures."
        raise unsupported(f"{param}.type", message)
    name = next((one for key in _NAME_FIELDS if isinstance(one := _field_of_part(value, key), str)), "")
    return "\n".join(filter(None, (f"[{shown} {name[:200]}".rstrip() + "]", _words_of(value))))


def _field_of_part(part: Mapping[str, object], key: str) -> object:
    inner = part.get("file")
    return part.get(key, inner.get(key) if isinstance(inner, dict) else None)


def _words_of(value: object) -> str:
    """The texts in a part, in the known fields."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_words_of, value)))
    if not isinstance(value, dict):
        return ""
    data = value.get("data", value.get("file_data"))
    words = [data if value.get("type") == "text" else _decoded(data)] if isinstance(data, str) else []
    titles = (
        [value["title"]] if value.get("type") == "web_search_result" and isinstance(value.get("title"), str) else []
    )
    return "\n".join(filter(None, (*titles, *words, *(_words_of(value.get(key)) for key in _TEXT_FIELDS.split()))))


def _decoded(data: str) -> str:
    """Text from base64; empty if ``data`` is not base64 or not text."""
    try:
        raw = base64.b64decode(data.rpartition(",")[2], validate=True)
        return "" if raw.startswith(b"%PDF") or b"\0" in raw else raw.decode()
    except ValueError:
        return ""


def _message(value: object, param: str, source: PictureSource | None, is_last: bool) -> Message:
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)
    fields = Fields(value, f"{param}.")
    role = fields.text("role")
    if role not in _ROLES:
        names = ", ".join(_ROLES)
        raise ApiError(400, f"`{param}.role` must be one of {names}.", param=f"{param}.role")
    fields.ignore(_WITHOUT_EFFECT)
    refusal = fields.text("refusal") or ""
    calls = _calls(fields.take("tool_calls"), f"{param}.tool_calls") if role == "assistant" else ()
    if role == "assistant" and (call := fields.take("function_call")):  # the format before 2024
        calls = (*calls, _call({"function": call}, f"{param}.function_call"))
    is_tool = _ROLES[role] == "tool"
    call_id = (fields.text("tool_call_id") or "") if is_tool else ""
    name = (fields.text("name") or "") if is_tool else ""
    content = fields.take("content")
    if source is not None:
        source.is_new = is_last and role == "user"
    is_silent = content is None and (is_tool or role == "assistant")  # agents store an empty answer as null
    text, pictures = (refusal, ()) if is_silent else _content(content, f"{param}.content", role, source)
    said_by = fields.take("name")
    if said_by is not None and not warn(f"`{param}.name` was ignored: chat templates know roles only."):
        raise unsupported(f"{param}.name")
    fields.take_neutral({"tool_calls": ([],)})
    fields.end()
    return Message(_ROLES[role], text, tool_calls=calls, tool_call_id=call_id, name=name, pictures=pictures)


def _content(
    value: object, param: str, role: str, source: PictureSource | None
) -> tuple[str, tuple[tuple[int, Picture], ...]]:
    """The text of a message, and its pictures with their positions in it.

    Texts are joined with line breaks, except beside a picture.
    """
    if not isinstance(value, list) or not any(map(_is_picture, value)):
        return text_of(value, param), ()
    text, pictures, joint = "", list[tuple[int, Picture]](), ""
    is_picture_possible = role in ("user", "tool")
    for index, part in enumerate(value):
        if is_thought(part):
            continue
        at, is_picture = f"{param}[{index}]", _is_picture(part)
        read: Picture | str | None = (
            placeholder(at, source, is_picture_possible=is_picture_possible) if is_picture else None
        )
        if read is None:
            read = read_part(part, at, source) if is_picture else text_of_part(part, at)
        if isinstance(read, str):
            text += joint + read
        else:
            pictures.append((len(text), read))
        joint = "\n" if isinstance(read, str) else ""
    return text, tuple(pictures)


def _is_picture(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "image_url"


def _calls(value: object, param: str) -> tuple[ToolCall, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise wrong_type(param, "an array", value)
    if len(value) > MAX_CALLS:
        raise invalid(param, f"`{param}` may have {MAX_CALLS} calls at most.")
    return tuple(_call(one, f"{param}[{i}]") for i, one in enumerate(value))


def _call(value: object, param: str) -> ToolCall:
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)
    custom = value.get("custom")
    if value.get("type") == "custom" and isinstance(custom, dict):  # a tool of OpenAI's API with a text as its argument
        made = {"name": custom.get("name"), "arguments": {"input": custom.get("input")}}
        value = {"id": value.get("id"), "function": made}
    fields = Fields(value, f"{param}.")
    fields.refuse({"type": ("function",)})
    fields.take("index")  # copied from a stream
    call_id = fields.text("id") or ""
    function = fields.nested("function")
    fields.end()
    name, arguments = (None, None) if function is None else (function.text("name"), function.take("arguments"))
    if function is None or not name:
        raise ApiError(400, f"`{param}.function.name` is missing.", param=f"{param}.function.name")
    function.end()
    if isinstance(arguments, dict | list):  # some clients send parsed arguments
        arguments = json.dumps(arguments, ensure_ascii=False)
    elif arguments is not None:
        arguments = check_text(f"{param}.function.arguments", arguments)
    return ToolCall(call_id, name, arguments or "{}")


def _with_latest_pictures(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Keep the latest pictures, up to the limit of a prompt: an agent that watches a screen would be blocked otherwise.

    Raises:
        ApiError: there are more, in strict mode.
    """
    left, kept = MOST_PICTURES, list[Message]()
    for message in reversed(messages):
        over, left = max(0, len(message.pictures) - left), max(0, left - len(message.pictures))
        if over and not warn(f"The model sees the last {MOST_PICTURES} pictures; those before were left out."):
            raise invalid("messages", f"A request may have {MOST_PICTURES} pictures at most.")
        kept.append(replace(message, pictures=message.pictures[over:]) if over else message)
    return tuple(reversed(kept))


def _with_names_of_tools(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Add the names of the tools to their results, which templates may need; a tool message has only the call's id."""
    names = {call.call_id: call.name for message in messages for call in message.tool_calls}
    return tuple(replace(m, name=m.name or names.get(m.tool_call_id, "")) if m.role == "tool" else m for m in messages)
