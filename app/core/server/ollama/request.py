"""Requests of Ollama's API, read as requests of a chat or of a text that goes on.

The API: https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

import math
import re

from app.core.server.fields import Fields, invalid, unsupported, wrong_type
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request

Json = dict[str, object]
_UNLIMITED = (-1, -2)  # of `num_predict`: without end, and as far as the context goes
_WITHOUT_EFFECT = ("keep_alive",)  # but for 0: when models are freed is said at the start of the server
_TEMPLATES = ("template", "context")
_TAG = ":latest"


def name_of(body: Json) -> object:
    """The model that a request names, without the tag that clients put behind every name."""
    name = body.get("model") or body.get("name")
    return name.removesuffix(_TAG) if isinstance(name, str) else name


def is_load(body: Json, *, chat: bool) -> bool:
    """Whether a request has nothing to answer: it wants the model loaded."""
    return not body.get("messages" if chat else "prompt") and not body.get("suffix")


def frees(body: Json) -> bool:
    """Whether a request wants its model unloaded once it is answered: ``keep_alive`` is 0, or a duration of nothing."""
    given = body.get("keep_alive")
    return not isinstance(given, bool) and given is not None and re.fullmatch(r"[0.]+[a-zµ]*", str(given)) is not None


def parse_ollama_request(body: Json, model: ServedModel, *, chat: bool) -> CompletionRequest:
    """Read the body of a request to ``/api/chat``, or to ``/api/generate``.

    Raises:
        ApiError: 400 with the field to blame.
    """
    asked = _parsed(body, model, chat=chat)
    if asked.more:
        raise unsupported("n")
    return asked


def _parsed(body: Json, model: ServedModel, *, chat: bool) -> CompletionRequest:
    fields = Fields({**body, "model": name_of(body)})
    fields.take("name")
    fields.ignore(_WITHOUT_EFFECT)
    given = {**_options(fields.nested("options")), **_form(fields.take("format")), **_thinking(fields.take("think"))}
    given["stream"] = fields.flag("stream", default=True)
    if chat:
        given["messages"] = _messages(fields.take("messages"))
        return parse_request({**fields.rest(), **given}, model, chat=True, most_heat=math.inf)
    images = fields.take("images")
    for name in _TEMPLATES:
        if fields.take(name):
            raise unsupported(name, f"`{name}` is not supported: send the conversation to `/api/chat`.")
    prompt, system, is_raw = fields.text("prompt") or "", fields.text("system"), fields.flag("raw")
    if is_raw or fields.text("suffix"):
        if images:
            raise unsupported("images", "`images` are for prompts without `raw` and `suffix`.")
        given |= {"prompt": prompt, "suffix": body.get("suffix")}
        number, wants = fields.whole("top_logprobs"), fields.flag("logprobs")
        given["logprobs"] = (number or 0) if wants else None
        return parse_request({**fields.rest(), **given}, model, chat=False, most_heat=math.inf)
    told = [{"role": "system", "content": system}] if system else []
    given["messages"] = [*told, {"role": "user", "content": _with_images(prompt, images)}]
    return parse_request({**fields.rest(), **given}, model, chat=True, most_heat=math.inf)


def _options(given: Fields | None) -> Json:
    """Options of sampling, by the names of a chat; those that nobody here knows are left to be passed over."""
    if given is None:
        return {}
    number = given.whole("num_predict")
    options = given.rest()
    if number is not None:
        options["max_tokens"] = -1 if number in _UNLIMITED else number
    return options


def _form(value: object) -> Json:
    if value in (None, ""):
        return {}
    if value == "json":
        return {"response_format": {"type": "json_object"}}
    if isinstance(value, dict):
        return {"response_format": {"type": "json_schema", "json_schema": {"schema": value}}}
    raise invalid("format", "`format` must be json or a JSON schema.")


def _thinking(value: object) -> Json:
    if value is None:
        return {}
    if isinstance(value, str):
        return {"reasoning_effort": value}
    if not isinstance(value, bool):
        raise wrong_type("think", "a boolean or an effort", value)
    return {"reasoning_effort": "medium" if value else "none"}


def _messages(values: object) -> object:
    """The messages of a chat. Calls have no ids here: each result answers the next call of its tool."""
    if not isinstance(values, list):
        return values
    waiting = list[tuple[str, str]]()  # ids and names of calls without a result
    made = list[object]()
    for place, value in enumerate(values):
        if not isinstance(value, dict):
            made.append(value)
            continue
        message = {name: one for name, one in value.items() if name not in ("thinking", "images", "tool_name")}
        message["content"] = _with_images(value.get("content") or "", value.get("images"))
        calls = value.get("tool_calls")
        if isinstance(calls, list) and calls:
            message["tool_calls"] = [_with_id(one, f"call_{place}_{number}") for number, one in enumerate(calls)]
            waiting += [(f"call_{place}_{number}", _name_of_call(one)) for number, one in enumerate(calls)]
        if value.get("role") == "tool":
            name = value.get("tool_name") or value.get("name")
            found = next((one for one in waiting if one[1] == name), waiting[0] if waiting and not name else None)
            if found is not None:
                waiting.remove(found)
                message["tool_call_id"] = found[0]
            message["name"] = name
        made.append(message)
    return made


def _with_id(call: object, call_id: str) -> object:
    return {**call, "id": call_id, "type": "function", "function": _plain(call)} if isinstance(call, dict) else call


def _plain(call: Json) -> object:
    function = call.get("function")
    return {k: v for k, v in function.items() if k != "index"} if isinstance(function, dict) else function


def _name_of_call(call: object) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    return str(function.get("name")) if isinstance(function, dict) else ""


def _with_images(content: object, images: object) -> object:
    """The words of a message; behind its pictures, in base64, as the parts of a chat."""
    if not images:
        return content
    if not isinstance(images, list):
        raise wrong_type("images", "an array", images)
    urls = [one if str(one).startswith("data:") else f"data:;base64,{one}" for one in images]
    pictures = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return [*pictures, {"type": "text", "text": content}]
