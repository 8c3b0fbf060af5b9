"""The messages of a chat: texts, calls of tools, and what the tools said."""

from __future__ import annotations

import json
from dataclasses import replace

from app.core.server.errors import ApiError
from app.core.server.fields import Fields, check_text, missing, unsupported, warn, wrong_type
from app.core.server.pictures import PictureSource, read_part
from engine.records import Message, Picture, ToolCall

MAX_MESSAGES = 10_000  # to make a prompt of so many takes a second
MAX_CALLS = 128  # of one message
# What clients send along that says nothing to a model: where a hosted one may cache, what one thought before.
_WITHOUT_EFFECT = ("cache_control", "reasoning_content", "reasoning")
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_NEUTRAL: dict[str, tuple[object, ...]] = {
    "refusal": (),
    "audio": (),
    "annotations": ([],),
}


def read_messages(value: object, system: str, source: PictureSource | None = None) -> tuple[Message, ...]:
    """Read `messages`; ``system`` is put before those that bring no system prompt, ``source`` reads their pictures.

    Raises:
        ApiError: they are none.
    """
    if value is None:
        raise missing("messages")
    if not isinstance(value, list):
        raise wrong_type("messages", "an array", value)
    if not value:
        raise ApiError(400, "`messages` is empty.", param="messages")
    if len(value) > MAX_MESSAGES:
        message = f"`messages` may have {MAX_MESSAGES:,} messages at most, and these are {len(value):,}."
        raise ApiError(400, message, param="messages", code="invalid_value")
    messages = tuple(_message(one, f"messages[{i}]", source) for i, one in enumerate(value))
    messages = _with_names_of_tools(messages)
    if system and all(message.role != "system" for message in messages):
        return (Message("system", system), *messages)
    return messages


def text_of(value: object, param: str) -> str:
    """A text, or parts of the type ``text``.

    Raises:
        ApiError: it is neither.
    """
    if isinstance(value, list):
        return "\n".join(_part(part, f"{param}[{i}]") for i, part in enumerate(value))
    if not isinstance(value, str):
        raise wrong_type(param, "a string or an array of text parts", value)
    return check_text(param, value)


def _message(value: object, param: str, source: PictureSource | None) -> Message:
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)
    fields = Fields(value, f"{param}.")
    role = fields.text("role")
    if role not in _ROLES:
        names = ", ".join(_ROLES)
        raise ApiError(400, f"`{param}.role` must be one of {names}.", param=f"{param}.role")
    fields.refuse(_NEUTRAL)
    for ignored in _WITHOUT_EFFECT:
        fields.take(ignored)
    calls = _calls(fields.take("tool_calls"), f"{param}.tool_calls") if role == "assistant" else ()
    call_id = (fields.text("tool_call_id") or "") if role == "tool" else ""
    name = (fields.text("name") or "") if role == "tool" else ""
    content = fields.take("content")
    is_silent = content is None and role in ("assistant", "tool")  # as agents keep an answer of nothing
    text, pictures = ("", ()) if is_silent else _content(content, f"{param}.content", role, source)
    said_by = fields.take("name")
    if said_by is not None and not warn(f"`{param}.name` was passed over: chat templates know roles only."):
        raise unsupported(f"{param}.name")
    fields.refuse({"tool_calls": ([],), "tool_call_id": ()})
    fields.end()
    return Message(_ROLES[role], text, tool_calls=calls, tool_call_id=call_id, name=name, pictures=pictures)


def _content(
    value: object, param: str, role: str, source: PictureSource | None
) -> tuple[str, tuple[tuple[int, Picture], ...]]:
    """The words of a message, and its pictures with their places in them. Texts are lines, but beside a picture."""
    if not isinstance(value, list) or not any(map(_is_picture, value)):
        return text_of(value, param), ()
    text, pictures, joint = "", list[tuple[int, Picture]](), ""
    for place, part in enumerate(value):
        at = f"{param}[{place}]"
        if _is_picture(part):
            pictures.append((len(text), read_part(part, at, source, may_be_here=role in ("user", "tool"))))
            joint = ""
        else:
            text += joint + _part(part, at)
            joint = "\n"
    return text, tuple(pictures)


def _is_picture(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "image_url"


def _part(value: object, param: str) -> str:
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)
    fields = Fields(value, f"{param}.")
    kind = fields.text("type")
    if kind != "text":
        raise unsupported(
            f"{param}.type", f"`{param}` is of a type that this server does not read: it reads `text` and `image_url`."
        )
    text = fields.needed("text")
    fields.take("cache_control")
    fields.end()
    return text


def _calls(value: object, param: str) -> tuple[ToolCall, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise wrong_type(param, "an array", value)
    if len(value) > MAX_CALLS:
        raise ApiError(400, f"`{param}` may have {MAX_CALLS} calls at most.", param=param, code="invalid_value")
    return tuple(_call(one, f"{param}[{i}]") for i, one in enumerate(value))


def _call(value: object, param: str) -> ToolCall:
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)
    fields = Fields(value, f"{param}.")
    fields.refuse({"type": ("function",)})
    fields.take("index")  # as a stream had it
    call_id = fields.text("id") or ""
    function = fields.nested("function")
    fields.end()
    name, arguments = (None, None) if function is None else (function.text("name"), function.take("arguments"))
    if function is None or not name:
        raise ApiError(400, f"`{param}.function.name` is missing.", param=f"{param}.function.name")
    function.end()
    if isinstance(arguments, dict | list):  # as some clients keep what they have read
        arguments = json.dumps(arguments, ensure_ascii=False)
    elif arguments is not None:
        arguments = check_text(f"{param}.function.arguments", arguments)
    return ToolCall(call_id, name, arguments or "{}")


def _with_names_of_tools(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Templates may want the name of the tool that answered; a message of a tool brings the id of its call only."""
    names = {call.call_id: call.name for message in messages for call in message.tool_calls}
    return tuple(replace(m, name=m.name or names.get(m.tool_call_id, "")) if m.role == "tool" else m for m in messages)
