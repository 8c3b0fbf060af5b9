"""Converts requests of Anthropic's Messages API to chat requests; errors name the fields of that API.

The API: https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

import json

from app.core.server.errors import THREAD_REFUSED, ApiError
from app.core.server.fields import Fields, invalid, missing, unsupported, warn, wrong_type
from app.core.server.messages import is_thought, text_of, text_of_part
from app.core.server.pictures import PictureSource, placeholder
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request

Json = dict[str, object]
# Fields about Anthropic's own storage and service, which do not affect an answer here.
_WITHOUT_EFFECT = ("metadata", "service_tier", "container", "context_management", "inference_geo", "betas", "speed")
_RENAMED = (  # (chat API field, this API's field), for errors
    ("response_format.json_schema", "output_config.format"),
    ("response_format", "output_config.format"),
    ("stop", "stop_sequences"),
    ("reasoning_effort", "thinking"),
    (".function.parameters", ".input_schema"),
    (".function.", "."),
)
_BILLING_LINE = "x-anthropic-billing-header:"
_CHAT_FIELDS = {
    "stop",
    "n",
    "logprobs",
    "response_format",
    "reasoning_effort",
    "max_completion_tokens",
    "best_of",
    "parallel_tool_calls",
}


def parse_messages_request(body: Json, model: ServedModel) -> CompletionRequest:
    """Read the body of a request to ``/v1/messages``.

    Raises:
        ApiError: 400, with the name of the wrong field.
    """
    fields = Fields(body)
    fields.ignore(_WITHOUT_EFFECT)
    if fields.take("thread") is not None:  # this error makes the client send the whole conversation
        raise ApiError(400, "No conversations are kept here: send all `messages`.", param="thread", code=THREAD_REFUSED)
    if fields.take("mcp_servers"):
        raise unsupported("mcp_servers", "No MCP servers are asked from here: give their tools as `tools`.")
    system, messages = _system(fields.take("system")), _messages(fields.take("messages"), model.picture_source)
    chat: Json = {
        "messages": [*([{"role": "system", "content": system}] if system else []), *messages],
        "stop": fields.take("stop_sequences"),
        "tools": _tools(fields.take("tools")),
        **_choice(fields.nested("tool_choice")),
        **_thinking(fields.nested("thinking"), fields.nested("output_config"), model),
    }
    rest = fields.rest_without({*chat, *_CHAT_FIELDS}, "message")
    try:
        return parse_request({**rest, **chat}, model, chat=True)
    except ApiError as error:
        raise error.renamed((*_RENAMED, *([("messages[0]", "system")] if system else []))) from error


# ---- the conversation -----------------------------------------------------------------------------------------------


def _system(value: object) -> str:
    """The system prompt without Claude Code's first line, which changes with each request and would defeat caching."""
    if not isinstance(value, list):
        return "" if value is None else text_of(value, "system")
    texts = [text_of_part(block, f"system[{index}]") for index, block in enumerate(value)]
    return "\n\n".join(text for text in texts if not text.startswith(_BILLING_LINE))


def _messages(value: object, source: PictureSource | None) -> list[Json]:
    if value is None:
        raise missing("messages")
    if not isinstance(value, list):
        raise wrong_type("messages", "an array", value)
    messages = list[Json]()
    for index, one in enumerate(value):
        if source is not None:
            source.is_new = index == len(value) - 1
        messages += _message(one, f"messages[{index}]", source)
    return messages


def _message(value: object, param: str, source: PictureSource | None) -> list[Json]:
    """Convert a message. Its tool results become separate messages, as the chat API requires."""
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)
    fields = Fields(value, f"{param}.")
    role, content = fields.text("role"), fields.take("content")
    fields.end()
    if role not in ("user", "assistant", "system"):
        raise ApiError(400, f"`{param}.role` must be user or assistant.", param=f"{param}.role")
    if isinstance(content, str) or (content is None and role == "assistant"):
        return [{"role": role, "content": content or ""}]
    if not isinstance(content, list):
        raise wrong_type(f"{param}.content", "a string or an array of blocks", content)
    parts, calls, results = list[str | Json](), list[Json](), list[Json]()
    for index, block in enumerate(content):
        at = f"{param}.content[{index}]"
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "tool_use" and role == "assistant":
            calls.append(_call(Fields(block, f"{at}.")))
        elif kind == "tool_result" and role == "user":
            results.append(_result(Fields(block, f"{at}."), at, source))
        elif not is_thought(block):
            parts.append(_part(block, at, source, is_picture_possible=role == "user"))
    return [*results, *_chat_messages(role, parts, calls, is_needed=not results)]


def _chat_messages(role: str, parts: list[str | Json], calls: list[Json], *, is_needed: bool) -> list[Json]:
    """The chat message as a list; an empty list if it has no content and ``is_needed`` is False."""
    said: Json = {"role": role, "content": _content(parts)}
    if calls:
        said["tool_calls"] = calls
    return [said] if parts or calls or is_needed else []


def _content(parts: list[str | Json]) -> str | list[Json]:
    """The content of a message: a text, or with pictures a list of parts with adjacent texts joined."""
    if all(isinstance(part, str) for part in parts):
        return "\n\n".join(part for part in parts if isinstance(part, str))
    joined = list[Json]()
    for part in parts:
        if not isinstance(part, str):
            joined.append(part)
        elif joined and joined[-1]["type"] == "text":
            joined[-1]["text"] = f"{joined[-1]['text']}\n\n{part}"
        else:
            joined.append({"type": "text", "text": part})
    return joined


def _part(block: object, param: str, source: PictureSource | None, *, is_picture_possible: bool) -> str | Json:
    """Convert a block: its text, or an ``image`` block with data or a URL to a picture part."""
    if not isinstance(block, dict) or block.get("type") != "image":
        return text_of_part(block, param)
    if (words := placeholder(param, source, is_picture_possible=is_picture_possible)) is not None:
        return words
    fields = Fields(block, f"{param}.")
    fields.ignore(("type", "cache_control"))
    given, at = fields.nested("source"), f"{param}.source"
    fields.end()
    kind = None if given is None else given.text("type")
    if kind == "file":  # a file that is stored at Anthropic
        return text_of_part(block, param)
    if given is None or kind not in ("base64", "url"):
        raise invalid(f"{at}.type", f"`{at}.type` must be base64 or url: no files are kept here.")
    if kind == "url":
        url, at = given.required("url"), f"{at}.url"
    else:
        url = f"data:{given.text('media_type') or ''};base64,{given.required('data')}"
        at = f"{at}.data"
    given.end()
    read = source.read_or_placeholder(url, at) if source else url
    return read if isinstance(read, str) else {"type": "image_url", "image_url": read}


def _call(fields: Fields) -> Json:
    fields.take("type")
    given = fields.take("input")
    function = {"name": fields.required("name"), "arguments": json.dumps(given or {}, ensure_ascii=False)}
    call: Json = {"id": fields.required("id"), "type": "function", "function": function}
    fields.ignore(("cache_control", "caller"))
    fields.end()
    return call


def _result(fields: Fields, param: str, source: PictureSource | None) -> Json:
    fields.take("type")
    call_id, content = fields.required("tool_use_id"), fields.take("content")
    fields.flag("is_error")  # ignored: the text of the result describes the error
    fields.take("cache_control")
    fields.end()
    if source is not None:
        source.is_new = False  # tool results are repeated in every later request
    if not isinstance(content, list):
        return {"role": "tool", "tool_call_id": call_id, "content": "" if content is None else text_of(content, param)}
    parts = [_part(one, f"{param}.content[{at}]", source, is_picture_possible=True) for at, one in enumerate(content)]
    texts = [part for part in parts if isinstance(part, str)]
    joined = "\n".join(texts) if len(texts) == len(parts) else _content(parts)
    return {"role": "tool", "tool_call_id": call_id, "content": joined}


# ---- tools and thinking ---------------------------------------------------------------------------------------------


def _tools(value: object) -> list[Json] | None:
    """Convert tools to functions; tools that run at Anthropic are ignored."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise wrong_type("tools", "an array", value)
    return [made for index, one in enumerate(value) if (made := _tool(one, f"tools[{index}]")) is not None]


def _tool(value: object, param: str) -> Json | None:
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)
    fields = Fields(value, f"{param}.")
    kind = fields.text("type") or "custom"
    if kind != "custom":
        if not warn(f"`{param}` was ignored: tools of the type {kind[:40]} run at Anthropic."):
            raise unsupported(f"{param}.type")
        return None
    function: Json = {"name": fields.required("name"), "parameters": fields.take("input_schema")}
    if (description := fields.text("description")) is not None:
        function["description"] = description
    fields.ignore(("cache_control", "strict", "defer_loading", "input_examples", "allowed_callers"))
    fields.end()
    return {"type": "function", "function": function}


def _choice(given: Fields | None) -> Json:
    if given is None:
        return {}
    kind, name, is_single = given.text("type"), given.text("name"), given.flag("disable_parallel_tool_use")
    given.end()
    known: dict[str | None, object] = {"auto": "auto", "any": "required", "none": "none"}
    if kind == "tool":
        known[kind] = {"type": "function", "function": {"name": name}}
    if kind not in known:
        raise ApiError(400, "`tool_choice.type` must be auto, any, tool or none.", param="tool_choice.type")
    return {"tool_choice": known[kind], **({"parallel_tool_calls": False} if is_single else {})}


def _thinking(given: Fields | None, output: Fields | None, model: ServedModel) -> Json:
    """The reasoning effort; without one the model's default is used. A token budget is not supported."""
    made: Json = {}
    if output is not None:
        effort, form = output.text("effort"), output.take("format")
        output.end()
        if effort is not None:
            made["reasoning_effort"] = {"max": "xhigh"}.get(effort, effort)
        if isinstance(form, dict) and form.get("type") == "json_schema":
            made["response_format"] = {"type": "json_schema", "json_schema": {"schema": form.get("schema")}}
    if given is None:
        return made
    kind = given.text("type")
    given.ignore(("budget_tokens", "display"))
    given.end()
    if kind not in ("enabled", "disabled", "adaptive"):
        raise ApiError(400, "`thinking.type` must be enabled, disabled or adaptive.", param="thinking.type")
    if kind == "disabled":
        names = [option.name for option in model.ready.target.thinking]
        if names and "off" not in names:
            warn("`thinking` was ignored: this model always thinks.")
            return made
        made["reasoning_effort"] = "none"
    return made
