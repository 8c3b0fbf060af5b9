"""Converts requests of Ollama's API to chat or text completion requests.

The API: https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from app.core.hub.file_names import quantization_of
from app.core.server.fields import Fields, invalid, unsupported, wrong_type
from app.core.server.library import ModelFile, file_of
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request
from engine.records import ModelInfo, ToolFormat

_Json = dict[str, object]
API_VERSION = "0.13.0"  # the reported version of Ollama: programs refuse old versions
_NEVER_UNLOADED = "2318-01-01T00:00:00Z"  # Ollama's date for a model that is never unloaded
_BILLION, _MILLION = 10**9, 10**6
Json = dict[str, object]
_UNLIMITED = (-1, -2)  # values of `num_predict`: unlimited, and until the context is full
_WITHOUT_EFFECT = ("keep_alive",)  # except 0: the server's own option sets the idle time
_TEMPLATES = ("template", "context")
_TAG = ":latest"


def list_models(model: ServedModel, paths: Mapping[str, str]) -> _Json:
    """List the loaded model, then the other models, with facts of their files."""
    entries = [_entry(name, path, None) for name, path in paths.items() if name != model.name]
    return {"models": [_entry(model.name, model.ready.target.path, model.ready.target), *entries]}


def running(model: ServedModel) -> _Json:
    info = model.ready.target
    entry = _entry(model.name, info.path, info)
    return {"models": [{**entry, "expires_at": _NEVER_UNLOADED, "size_vram": 0, "context_length": info.n_ctx}]}


def shown(model: ServedModel) -> _Json:
    info = model.ready.target
    able = ["completion"]
    able += ["tools"] if info.tool_format is not ToolFormat.NONE else []
    able += ["vision"] if info.has_vision else []
    able += ["insert"] if info.supports_infill else []
    able += ["thinking"] if info.thinking or info.reasoning_start_tag else []
    facts = {
        "general.architecture": info.architecture,
        "general.parameter_count": info.num_params,
        f"{info.architecture}.context_length": info.n_ctx_train,
    }
    texts = dict.fromkeys(("modelfile", "parameters", "template"), "")
    modified_at = _date(file_of(info.path))
    details = _details(info.path, info)
    return {**texts, "details": details, "model_info": facts, "capabilities": able, "modified_at": modified_at}


def _entry(name: str, path: str, info: ModelInfo | None) -> _Json:
    file = file_of(path)
    size = 0 if file is None else file.size
    return {
        "name": name,
        "model": name,
        "modified_at": _date(file),
        "size": size if info is None else info.size_bytes,
        "digest": "" if file is None else file.digest,
        "details": _details(path, info),
    }


def _date(file: ModelFile | None) -> str:
    """The modification time; the earliest date if unknown."""
    return datetime.fromtimestamp(0 if file is None else file.modified, UTC).isoformat()


def _details(path: str, info: ModelInfo | None) -> _Json:
    family = "" if info is None else info.architecture
    return {
        "parent_model": "",
        "format": "gguf",
        "family": family,
        "families": [family] if family else [],
        "parameter_size": "" if info is None else _size(info.num_params),
        "quantization_level": quantization_of(path),
    }


def _size(number: int) -> str:
    return f"{number / _BILLION:.1f}B" if number >= _BILLION else f"{number / _MILLION:.0f}M"


def name_of(body: Json) -> object:
    """The model's name without the tag ":latest" that clients append."""
    name = body.get("model") or body.get("name")
    return name.removesuffix(_TAG) if isinstance(name, str) else name


def is_load(body: Json, *, chat: bool) -> bool:
    """True if the request has no prompt and only loads the model."""
    return not body.get("messages" if chat else "prompt") and not body.get("suffix")


def wants_unload(body: Json) -> bool:
    """True if ``keep_alive`` is zero: the model is unloaded after the answer."""
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
        return parse_request({**fields.rest(), **given}, model, chat=True, max_temperature=math.inf)
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
        return parse_request({**fields.rest(), **given}, model, chat=False, max_temperature=math.inf)
    told = [{"role": "system", "content": system}] if system else []
    given["messages"] = [*told, {"role": "user", "content": _with_images(prompt, images)}]
    return parse_request({**fields.rest(), **given}, model, chat=True, max_temperature=math.inf)


def _options(given: Fields | None) -> Json:
    """Convert sampling options to the names of the chat API; unknown options are reported later."""
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
    """Convert the messages of a chat. Calls have no ids here: a result belongs to the next open call of its tool."""
    if not isinstance(values, list):
        return values
    waiting = list[tuple[str, str]]()  # ids and names of calls without a result
    made = list[object]()
    for index, value in enumerate(values):
        if not isinstance(value, dict):
            made.append(value)
            continue
        message = {name: one for name, one in value.items() if name not in ("thinking", "images", "tool_name")}
        message["content"] = _with_images(value.get("content") or "", value.get("images"))
        calls = value.get("tool_calls")
        if isinstance(calls, list) and calls:
            message["tool_calls"] = [_with_id(one, f"call_{index}_{number}") for number, one in enumerate(calls)]
            waiting += [(f"call_{index}_{number}", _name_of_call(one)) for number, one in enumerate(calls)]
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
    """The content of a message: a text, or with base64 pictures a list of parts."""
    if not images:
        return content
    if not isinstance(images, list):
        raise wrong_type("images", "an array", images)
    urls = [one if str(one).startswith("data:") else f"data:;base64,{one}" for one in images]
    pictures = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return [*pictures, {"type": "text", "text": content}]
