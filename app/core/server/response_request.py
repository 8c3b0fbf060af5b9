"""Converts requests of OpenAI's Responses API to chat requests; errors name the fields of that API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from app.core.server.errors import ApiError
from app.core.server.fields import Fields, missing, unsupported, wrong_type
from app.core.server.messages import text_of, text_of_part
from app.core.server.pictures import PictureSource, placeholder
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request

# Fields about OpenAI's storage or tools that run there, which do not affect an answer here.
_WITHOUT_EFFECT = ("client_metadata", "max_tool_calls", "prompt_cache_options", "store", "stream_options")
_SUPPORTED_VALUES: dict[str, tuple[object, ...]] = {
    "background": (False,),
    "conversation": (),
    "prompt": (),
    "truncation": ("disabled", "auto"),
    "previous_response_id": (),
}
_RENAMED = (  # (chat API field, this API's field), for errors
    ("response_format.json_schema", "text.format"),
    ("response_format", "text.format"),
    ("max_tokens", "max_output_tokens"),
    ("reasoning_effort", "reasoning.effort"),
    ("verbosity", "text.verbosity"),
    ("messages", "input"),
    (".function.", "."),
)
_ROLES = ("user", "assistant", "system", "developer")
_CHAT_FIELDS = {
    "response_format",
    "reasoning_effort",
    "logprobs",
    "max_completion_tokens",
    "n",
    "best_of",
}
_CUSTOM = {"custom_tool_call": "function_call", "custom_tool_call_output": "function_call_output"}
_SYSTEM = ("system", "developer")
_LOGPROBS = "message.output_text.logprobs"
Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """A completion request, and the request's fields that the response repeats."""

    asked: CompletionRequest
    reported: Mapping[str, object]


def parse_response_request(body: Json, model: ServedModel) -> ResponseRequest:
    """Read the body of a request to ``/v1/responses``.

    Raises:
        ApiError: 400 with the field to blame, or 404 for another model.
    """
    fields = Fields(body)
    if fields.take("previous_response_id") is not None:
        message = "No answers are kept here, so there is no `previous_response_id`: send the conversation as `input`."
        raise unsupported("previous_response_id", message)
    fields.refuse(_SUPPORTED_VALUES)
    fields.ignore(_WITHOUT_EFFECT)
    tools = _functions(fields.take("tools"))
    reported_tools = [{"strict": None, **tool} for tool in tools]
    instructions, wanted = fields.text("instructions"), fields.take("max_output_tokens")
    chat: Json = {
        "messages": _messages(fields.take("input"), instructions, model.picture_source),
        "tools": [_nested(tool) for tool in tools],
        "tool_choice": _choice(fields.take("tool_choice")),
        "max_tokens": wanted,
        **_text(fields.nested("text")),
        **_reasoning(fields.nested("reasoning")),
        **_logprobs(fields.take("include"), fields.take("top_logprobs")),
    }
    rest = fields.rest_without({*chat, *_CHAT_FIELDS}, "response")
    try:
        asked = parse_request({**rest, **chat}, model, chat=True)
    except ApiError as error:
        raise error.renamed(_RENAMED) from error
    sampling = asked.request.sampling
    reported = {
        "instructions": instructions,
        "max_output_tokens": wanted,
        "metadata": body.get("metadata") or {},
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "reasoning": {"effort": chat.get("reasoning_effort"), "summary": None},
        "temperature": sampling.temperature,
        "text": {"format": _reported_format(body)},
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": reported_tools,
        "top_p": sampling.top_p,
    }
    return ResponseRequest(asked, reported)


# ---- the conversation -----------------------------------------------------------------------------------------------


def _messages(value: object, instructions: str | None, source: PictureSource | None) -> list[Json]:
    """Convert items to messages. Adjacent calls, and calls after an answer, become one message.

    Instructions and a following developer message also become one message, since many templates allow only one.
    """
    if value is None:
        raise missing("input")
    items = [{"role": "user", "content": value}] if isinstance(value, str) else value
    if not isinstance(items, list):
        raise wrong_type("input", "a string or an array", value)
    messages: list[Json] = [] if instructions is None else [{"role": "system", "content": instructions}]
    for index, item in enumerate(items):
        if source is not None:
            source.is_new = index == len(items) - 1 and isinstance(item, dict) and "role" in item
        message = _message(item, f"input[{index}]", source)
        last = messages[-1] if messages else {}
        if message.get("tool_calls") and last.get("role") == "assistant":
            last["tool_calls"] = [*_list(last.get("tool_calls")), *_list(message["tool_calls"])]
        elif _joins(message, last):
            last["content"] = f"{last['content']}\n\n{message['content']}"
        elif message:
            messages.append(message)
    if not items:
        raise ApiError(400, "`input` is empty.", param="input")
    return messages


def _joins(message: Json, last: Json) -> bool:
    """True if a message is merged with the one before: both are system messages, or parts of one answer."""
    if message.get("role") in _SYSTEM:
        return last.get("role") in _SYSTEM
    are_texts = isinstance(message.get("content"), str) and isinstance(last.get("content"), str)
    return message.get("role") == last.get("role") == "assistant" and are_texts and "tool_calls" not in last


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _message(value: object, param: str, source: PictureSource | None) -> Json:
    """Convert an item to a message; empty for earlier reasoning, which the model does not get again."""
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)
    fields = Fields(value, f"{param}.")
    kind = fields.text("type") or "message"
    fields.ignore(("id", "status", "phase"))
    if kind == "reasoning":
        return {}
    if kind in _CUSTOM:  # a custom tool: its argument is a plain text
        kind = _CUSTOM[kind]
        if kind == "function_call":
            arguments = json.dumps({"input": fields.take("input")}, ensure_ascii=False)
            fields = Fields({**fields.rest(), "arguments": arguments}, f"{param}.")
    if kind == "message":
        role = fields.text("role")
        if role not in _ROLES:
            raise ApiError(400, f"`{param}.role` must be one of {', '.join(_ROLES)}.", param=f"{param}.role")
        content, at = fields.take("content"), f"{param}.content"
        made: Json = {"role": role, "content": _content(content, at, source, is_picture_possible=role == "user")}
    elif kind == "function_call":
        function = {"name": fields.required("name"), "arguments": fields.required("arguments")}
        call = {"id": fields.required("call_id"), "type": "function", "function": function}
        made = {"role": "assistant", "content": None, "tool_calls": [call]}
    elif kind == "function_call_output":
        call_id, output, at = fields.required("call_id"), fields.take("output"), f"{param}.output"
        made = {
            "role": "tool",
            "tool_call_id": call_id,
            "content": _content(output, at, source, is_picture_possible=True),
        }
    else:
        return {"role": "assistant", "content": text_of_part(value, param)}
    fields.end()
    return made


def _content(value: object, param: str, source: PictureSource | None, *, is_picture_possible: bool) -> str | list[Json]:
    """The content of a message: a text, or with pictures a list of parts."""
    if not isinstance(value, list) or not any(map(_is_picture, value)):
        return text_of(value, param)
    parts = list[Json]()
    for index, part in enumerate(value):
        at = f"{param}[{index}]"
        is_picture = _is_picture(part) and part.get("image_url") is not None
        words = (
            placeholder(at, source, is_picture_possible=is_picture_possible) if is_picture else text_of_part(part, at)
        )
        if words is not None:
            parts.append({"type": "text", "text": words})
            continue
        fields = Fields(part, f"{at}.")
        fields.ignore(("type", "detail", "prompt_cache_breakpoint"))
        url = fields.required("image_url")
        fields.end()
        read = source.read_or_placeholder(url, f"{at}.image_url") if source else url
        is_line = isinstance(read, str)
        parts.append({"type": "text", "text": read} if is_line else {"type": "image_url", "image_url": read})
    return parts


def _is_picture(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "input_image"


# ---- tools, form, probabilities -------------------------------------------------------------------------------------


def _functions(value: object) -> list[Json]:
    """Select tools that are functions; other tools run at OpenAI. The response lists the tools that the model got."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong_type("tools", "an array", value)
    for index, tool in enumerate(value):
        if not isinstance(tool, dict):
            raise wrong_type(f"tools[{index}]", "an object", tool)
        Fields(tool, f"tools[{index}].").text("type")
    return [tool for tool in value if tool.get("type") == "function"]


def _nested(tool: Json) -> Json:
    """Convert a tool to the format of the chat API."""
    left = {name: value for name, value in tool.items() if name not in ("type", "defer_loading", "output_schema")}
    return {"type": "function", "function": left}


def _choice(value: object) -> object:
    if isinstance(value, dict) and value.get("type") == "function":
        return {"type": "function", "function": {"name": value.get("name")}}
    return value


def _text(given: Fields | None) -> Json:
    if given is None:
        return {}
    form, verbosity = given.take("format"), given.take("verbosity")
    given.end()
    found: Json = {"verbosity": verbosity}
    if isinstance(form, dict) and form.get("type") == "json_schema":
        named = {name: value for name, value in form.items() if name != "type"}
        return {**found, "response_format": {"type": "json_schema", "json_schema": named}}
    return {**found, "response_format": form}


def _reported_format(body: Json) -> object:
    text = body.get("text")
    return (text.get("format") if isinstance(text, dict) else None) or {"type": "text"}


def _reasoning(given: Fields | None) -> Json:
    if given is None:
        return {}
    effort = given.text("effort")
    for ignored in ("summary", "generate_summary"):  # no summaries: the full reasoning is returned
        given.take(ignored)
    given.end()
    return {"reasoning_effort": effort}


def _logprobs(include: object, top: object) -> Json:
    if include is not None and not isinstance(include, list):
        raise wrong_type("include", "an array", include)
    wanted = top is not None or _LOGPROBS in _list(include)
    return {"logprobs": True, "top_logprobs": top} if wanted else {}
