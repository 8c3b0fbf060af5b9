"""The messages of a chat request: texts, pictures, tool calls and tool results.

The content of a message is read in one place for all APIs: their parts differ in a few names only.
"""

import json
from dataclasses import replace

from app.core.server.errors import ApiError
from app.core.server.fields import (
    Fields,
    as_fields,
    check_text,
    invalid,
    missing,
    warn,
    wrong_type,
)
from app.core.server.pictures import PictureSource
from engine.prompt.pictures import MAX_PICTURES
from engine.records import Message, Picture, ToolCall

MAX_MESSAGES = 10_000  # a prompt of so many messages takes a second
MAX_CALLS = 128  # maximum number of calls in one message
# Fields that clients send but models do not need: cache markers, earlier reasoning.
_WITHOUT_EFFECT = ("cache_control", "reasoning_content", "reasoning", "annotations", "audio")
_ROLES = {
    **{role: role for role in ("system", "user", "assistant", "tool")},
    "developer": "system",
}
# Fields that hold the text of a part in other APIs. A part's name is its first field of `_NAME_FIELDS`.
_TEXT_FIELDS = (
    "text refusal transcript action query queries url command code content source file"
    " input output outputs logs results summary stdout stderr"
)
_NAME_FIELDS = ("title", "filename", "name", "tool_name", "file_id")
_IGNORED_IN_TEXT = ("cache_control", "citations", "annotations", "logprobs", "prompt_cache_breakpoint")
_TEXT_TYPES = ("text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal")
_PICTURE_TYPES = ("image_url", "input_image", "image")  # of OpenAI's chats and responses, and Anthropic's
_REASONING_TYPES = ("thinking", "redacted_thinking", "reasoning")
Content = tuple[str, tuple[tuple[int, Picture], ...]]  # a text, and pictures with their positions in it


def read_messages(fields: Fields, source: PictureSource | None = None) -> tuple[Message, ...]:
    """Read `messages` of a chat request; ``source`` reads their pictures."""
    given = fields.objects("messages", MAX_MESSAGES)
    if not given:
        raise missing("messages")
    return tuple(_message(one, source, is_last=one is given[-1]) for one in given)


def complete_messages(messages: tuple[Message, ...], system: str, tool_text: str = "") -> tuple[Message, ...]:
    """Add ``system`` before messages without a system prompt, and append ``tool_text`` to it."""
    # Templates may need the names of tools beside their results; a tool message has only the call's id.
    names = {call.call_id: call.name for message in messages for call in message.tool_calls}
    messages = _with_latest_pictures(
        tuple(replace(m, name=m.name or names.get(m.tool_call_id, "")) if m.role == "tool" else m for m in messages)
    )
    if system and all(message.role != "system" for message in messages):
        messages = (Message("system", system), *messages)
    if not tool_text or messages[0].role != "system":
        return (Message("system", tool_text), *messages) if tool_text else messages
    return (replace(messages[0], content=f"{messages[0].content}\n\n{tool_text}"), *messages[1:])


def text_of(value: object, param: str) -> str:
    """A text, or the joined texts of parts."""
    return read_content(value, param, "system", None)[0]


def read_content(value: object, param: str, role: str, source: PictureSource | None, separator: str = "\n") -> Content:
    """Read the content of a message: a text or parts. Earlier reasoning is left out.

    Texts are joined with ``separator``, except beside a picture. A picture that the model cannot see becomes a line of
    text: an error would block the conversation for good, since clients send all messages again.
    """
    if not isinstance(value, list):
        if not isinstance(value, str):
            raise wrong_type(param, "a string or an array of text parts")
        return value, ()
    text, pictures, joint = "", list[tuple[int, Picture]](), ""
    for index, part in enumerate(value):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in _REASONING_TYPES:
            continue
        at = f"{param}[{index}]"
        is_picture = kind in _PICTURE_TYPES and (kind != "input_image" or part.get("image_url") is not None)
        read = _picture(part, at, role, source) if is_picture else text_of_part(part, at)
        if isinstance(read, str):
            text, joint = text + joint + read, separator
        else:
            pictures.append((len(text), read))
            joint = ""
    return text, tuple(pictures)


def text_of_part(value: object, param: str) -> str:
    """The text of a message part.

    A part without text is not refused, since that would block every later request of the conversation. The model
    gets the text of a document or a search result below a line with its name.
    """
    fields = as_fields(param, value)
    assert isinstance(value, dict)  # noqa: S101  (checked by `as_fields`)
    kind = value.get("type")
    if kind is None or kind in _TEXT_TYPES:
        fields.ignore("type", *_IGNORED_IN_TEXT)
        text, refusal = fields.text("text"), fields.text("refusal")
        fields.check_unknown()
        if kind is None:
            raise missing(f"{param}.type")
        return text or refusal or ""
    shown = check_text(f"{param}.type", kind)[:40]
    warn(f"Parts of the type `{shown}` are not read here: the model gets the words that are in them.")
    inner = value.get("file")
    named = {**inner, **value} if isinstance(inner, dict) else value
    name = next((one for key in _NAME_FIELDS if isinstance(one := named.get(key), str)), "")
    return "\n".join(filter(None, (f"[{shown} {name[:200]}".rstrip() + "]", _part_texts(value))))


def _part_texts(value: object) -> str:
    """The texts in a part, in the known fields."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_part_texts, value)))
    if not isinstance(value, dict):
        return ""
    data = value.get("data")
    words = [data] if isinstance(data, str) and value.get("type") == "text" else []
    return "\n".join(filter(None, (*words, *(_part_texts(value.get(key)) for key in _TEXT_FIELDS.split()))))


def _picture(part: dict[str, object], param: str, role: str, source: PictureSource | None) -> Picture | str:
    """Read a picture, or return the line in its place."""
    if role not in ("user", "tool"):
        message = "is a picture, which only messages of the user and results of tools may have here"
        line = "[a picture that is not shown here]"
    elif source is None:
        message = "is a picture, and the model here cannot see: its side file (mmproj) is not loaded"
        line = "[a picture that this model cannot see]"
    else:
        url, at = _url_of(Fields(part, param))
        return source.read_or_describe(url, at) if url else text_of_part(part, param)
    warn(f"A part {message}. The model gets a line in its place.")
    return line


def _url_of(fields: Fields) -> tuple[str, str]:
    """The URL of a picture part, and the field that has it; empty for a file that is stored elsewhere."""
    kind = fields.text("type")
    fields.ignore("cache_control", "detail", "prompt_cache_breakpoint")  # the encoder decides the resolution
    if kind == "image":
        inner = fields.nested("source")
        form = None if inner is None else inner.text("type")
        if inner is None or form not in ("base64", "url", "file"):
            at = fields.path("source.type")
            raise invalid(at, f"`{at}` must be base64 or url: no files are kept here.")
        if form == "file":
            return "", ""
        name = "url" if form == "url" else "data"
        head = "" if form == "url" else f"data:{inner.text('media_type') or ''};base64,"
        url, at = head + inner.required(name), inner.path(name)
        inner.check_unknown()
    elif isinstance(given := fields.pop("image_url"), str):
        url, at = given, fields.path("image_url")
    else:
        inner = as_fields(fields.path("image_url"), given or {})
        inner.ignore("detail")
        url, at = inner.required("url"), inner.path("url")
        inner.check_unknown()
    fields.check_unknown()
    return url, at


def _message(fields: Fields, source: PictureSource | None, *, is_last: bool) -> Message:
    role = fields.text("role")
    if role not in _ROLES:
        raise ApiError(400, f"`{fields.path('role')}` must be one of {', '.join(_ROLES)}.", param=fields.path("role"))
    fields.ignore(*_WITHOUT_EFFECT)
    refusal, calls = fields.text("refusal") or "", tuple[ToolCall, ...]()
    if role == "assistant":
        calls = tuple(map(_call, fields.objects("tool_calls", MAX_CALLS)))
    is_tool = _ROLES[role] == "tool"
    call_id, name = (fields.text("tool_call_id"), fields.text("name")) if is_tool else ("", "")
    content = fields.pop("content")
    if source is not None:
        source.is_new = is_last and role == "user"
    is_silent = content is None and (is_tool or role == "assistant")  # agents store an empty answer as null
    text, pictures = (refusal, ()) if is_silent else read_content(content, fields.path("content"), _ROLES[role], source)
    if fields.pop("name") is not None:
        warn(f"`{fields.path('name')}` has no effect: chat templates know roles only.")
    fields.check_unknown()
    return Message(_ROLES[role], text, tool_calls=calls, tool_call_id=call_id or "", name=name or "", pictures=pictures)


def _call(fields: Fields) -> ToolCall:
    fields.refuse_unless({"type": ("function",)})
    fields.ignore("index")  # copied from a stream
    call_id, function = fields.text("id") or "", fields.nested("function") or Fields({}, fields.path("function"))
    fields.check_unknown()
    name, arguments = function.required("name"), function.pop("arguments")
    function.check_unknown()
    if isinstance(arguments, dict | list):  # some clients send parsed arguments
        arguments = json.dumps(arguments, ensure_ascii=False)
    elif arguments is not None:
        arguments = check_text(function.path("arguments"), arguments)
    return ToolCall(call_id, name, arguments or "{}")


def _with_latest_pictures(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Keep the latest pictures, up to the limit of a prompt; an error would block an agent that watches a screen."""
    left, kept = MAX_PICTURES, list[Message]()
    for message in reversed(messages):
        over, left = max(0, len(message.pictures) - left), max(0, left - len(message.pictures))
        if over:
            warn(f"The model sees the last {MAX_PICTURES} pictures of a request, and no earlier ones.")
        kept.append(replace(message, pictures=message.pictures[over:]) if over else message)
    return tuple(reversed(kept))
