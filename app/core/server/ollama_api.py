"""Ollama's API: requests become chats or text completions; answers are objects, or lines of JSON.

The API: https://github.com/ollama/ollama/blob/main/docs/api.md. Durations are in nanoseconds.
"""

import json
import math
import os
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from app.core.hub.file_names import quantization_of
from app.core.server.answers import (
    AnswerBuilder,
    Json,
    finish_reason,
    reasoning_in,
    speculation,
    text_in,
)
from app.core.server.errors import ApiError
from app.core.server.fields import Fields, as_list, invalid, unsupported, wrong_type
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request
from app.core.tools.answer_parts import AnswerParts, Part
from engine.records import Finished, ModelInfo, TextChunk, ToolCall, ToolFormat

API_VERSION = "0.13.0"  # the reported version of Ollama: programs refuse old versions
_NEVER_UNLOADED = "2318-01-01T00:00:00Z"  # Ollama's date for a model that is never unloaded
_BILLION, _MILLION = 10**9, 10**6
_UNLIMITED = (-1, -2)  # values of `num_predict`: unlimited, and until the context is full
_TEMPLATES = ("template", "context")
_TAG = ":latest"


def list_models(model: ServedModel, paths: Mapping[str, str]) -> Json:
    """List the loaded model, then the other models, with facts of their files."""
    entries = [_model_entry(name, path, None) for name, path in paths.items() if name != model.name]
    return {"models": [_model_entry(model.name, model.ready.target.path, model.ready.target), *entries]}


def list_running(model: ServedModel) -> Json:
    info = model.ready.target
    entry = _model_entry(model.name, info.path, info)
    return {"models": [{**entry, "expires_at": _NEVER_UNLOADED, "size_vram": 0, "context_length": info.n_ctx}]}


def show_model(model: ServedModel) -> Json:
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


def file_of(path: str) -> os.stat_result | None:
    """The facts of a file; None if it is missing or unknown."""
    try:
        return Path(path).stat() if path else None
    except (OSError, ValueError):
        return None


def _model_entry(name: str, path: str, info: ModelInfo | None) -> Json:
    file = file_of(path)
    size = 0 if file is None else file.st_size
    facts = "" if file is None else f"{path} {size} {file.st_mtime_ns}"
    return {
        "name": name,
        "model": name,
        "modified_at": _date(file),
        "size": size if info is None else info.size_bytes,
        "digest": facts and sha256(facts.encode(errors="replace")).hexdigest(),
        "details": _details(path, info),
    }


def _date(file: os.stat_result | None) -> str:
    """The modification time; the earliest date if unknown."""
    return datetime.fromtimestamp(0 if file is None else file.st_mtime, UTC).isoformat()


def _details(path: str, info: ModelInfo | None) -> Json:
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


def parse_ollama_request(body: Json, model: ServedModel, *, chat: bool) -> CompletionRequest:
    """Read the body of a request to ``/api/chat``, or to ``/api/generate``."""
    fields = Fields({**body, "model": name_of(body)})
    fields.ignore("name", "keep_alive")  # the server's own option sets the idle time
    if fields.pop("logprobs"):
        raise unsupported("logprobs")
    fields.ignore("logprobs", "top_logprobs")
    is_text = not chat and (fields.boolean("raw") or bool(body.get("suffix")))
    given = {**_options(fields.nested("options")), **_form(fields.pop("format")), **_thinking(fields.pop("think"))}
    given["stream"] = fields.boolean("stream", default=True)
    if chat:
        given["messages"] = _messages(fields.pop("messages"))
    else:
        given |= _generation(fields, is_text=is_text)
    return parse_request({**given, **fields.remaining()}, model, chat=not is_text, max_temperature=math.inf)


def _generation(fields: Fields, *, is_text: bool) -> Json:
    """The prompt of ``/api/generate``: a text to continue, or else a question."""
    for name in _TEMPLATES:
        if fields.pop(name):
            raise unsupported(name, f"`{name}` is not supported: send the conversation to `/api/chat`.")
    images, prompt, system = fields.pop("images"), fields.text("prompt") or "", fields.text("system")
    if not is_text:
        messages = [{"role": "system", "content": system}] if system else []
        return {"messages": [*messages, {"role": "user", "content": _with_images(prompt, images)}]}
    if images:
        raise unsupported("images", "`images` are for prompts without `raw` and `suffix`.")
    return {"prompt": prompt}


def _options(given: Fields | None) -> Json:
    """Convert sampling options to the names of the chat API; unknown options are reported later."""
    if given is None:
        return {}
    number = given.integer("num_predict")
    limit: Json = {} if number is None else {"max_tokens": -1 if number in _UNLIMITED else number}
    return {**given.remaining(), **limit}


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
        raise wrong_type("think", "a boolean or an effort")
    return {"reasoning_effort": "medium" if value else "none"}


def _messages(values: object) -> object:
    """Convert the messages of a chat. Calls have no ids here: a result belongs to the next open call of its tool."""
    if not isinstance(values, list):
        return values
    waiting = list[tuple[str, object]]()  # ids and names of calls without a result
    made = list[object]()
    for index, value in enumerate(values):
        if not isinstance(value, dict):
            made.append(value)
            continue
        message = {name: one for name, one in value.items() if name not in ("thinking", "images", "tool_name")}
        message["content"] = _with_images(value.get("content") or "", value.get("images"))
        if calls := value.get("tool_calls"):
            message["tool_calls"] = [
                _with_id(one, f"call_{index}_{at}") for at, one in enumerate(as_list("tool_calls", calls))
            ]
            waiting += [(str(one["id"]), one["function"]["name"]) for one in message["tool_calls"]]
        if value.get("role") == "tool":
            name = value.get("tool_name") or value.get("name")
            found = next((one for one in waiting if one[1] == name), waiting[0] if waiting and not name else None)
            if found is not None:
                waiting.remove(found)
                message["tool_call_id"] = found[0]
            message["name"] = name
        made.append(message)
    return made


def _with_id(call: object, call_id: str) -> Any:  # noqa: ANN401  (JSON)
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        raise wrong_type("tool_calls", "calls of functions")
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": function.get("name"), "arguments": function.get("arguments")},
    }


def _with_images(content: object, images: object) -> object:
    """The content of a message: a text, or with base64 pictures a list of parts."""
    if not images:
        return content
    urls = [one if str(one).startswith("data:") else f"data:;base64,{one}" for one in as_list("images", images)]
    pictures = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return [*pictures, {"type": "text", "text": content}]


# ---- answers --------------------------------------------------------------------------------------------------------


_NS = 1_000_000_000


class LineBuilder(AnswerBuilder):
    """Builds the answer (or its lines) of ``/api/chat`` or ``/api/generate``."""

    media_type = "application/x-ndjson"

    def __init__(self, model: str, asked: CompletionRequest, *, chat: bool) -> None:
        super().__init__(model, asked)
        self._chat = chat  # False: /api/generate, also where a chat answers it
        self._begun = time.perf_counter()

    def _new_parts(self) -> AnswerParts | None:
        asked = self._asked  # calls are sent whole
        return AnswerParts(asked.tool_names, asked.tool_schemas) if asked.chat else None

    def whole(self, texts: Iterable[TextChunk], finished: Finished) -> Json:
        return {**self._object(self._read_all(texts)), **self._end(finished)}

    def text_chunks(self, chunk: TextChunk) -> list[bytes]:
        parts = self._read(chunk)
        return [_line({**self._object(parts), "done": False})] if parts else []

    def last_chunks(self, finished: Finished) -> list[bytes]:
        rest = self._rest()
        held = [_line({**self._object(rest), "done": False})] if rest else []
        return [*held, _line({**self._object([]), **self._end(finished)})]

    def failed_chunks(self, error: ApiError) -> list[bytes]:
        return [_line({"error": error.message})]

    def keep_alive(self, *, is_begun: bool) -> bytes:  # noqa: ARG002
        return b""  # JSON lines have no comments

    def _object(self, parts: list[Part]) -> Json:
        reasoning, calls = reasoning_in(parts), [part for part in parts if isinstance(part, ToolCall)]
        fields = {"thinking": reasoning} if reasoning else {}
        made = {**answer_head(self._model, text_in(parts), chat=self._chat)}
        inner = made["message"] if self._chat else made
        assert isinstance(inner, dict)  # noqa: S101  (for the type checker)
        inner |= fields
        if self._chat and calls:
            inner["tool_calls"] = [_call(call) for call in calls]
        return made

    def _end(self, finished: Finished) -> Json:
        stats = finished.stats
        return {
            "done": True,
            "done_reason": finish_reason(finished, "stop", "stop", "length"),
            "total_duration": round((time.perf_counter() - self._begun) * _NS),
            "load_duration": 0,
            "prompt_eval_count": stats.prompt_tokens,
            "prompt_eval_duration": round(stats.prompt_s * _NS),
            "eval_count": stats.tokens,
            "eval_duration": round(stats.decode_s * _NS),
            "speculation": speculation(stats),
            **self._warnings,
        }


def answer_head(model: str, text: str, *, chat: bool) -> Json:
    """The common fields of every object, with this text."""
    content: Json = {"message": {"role": "assistant", "content": text}} if chat else {"response": text}
    return {"model": model, "created_at": datetime.now(UTC).isoformat().replace("+00:00", "Z"), **content}


def load_response(model: str, *, chat: bool) -> Json:
    """The answer to a request without a prompt."""
    return {**answer_head(model, "", chat=chat), "done": True, "done_reason": "load"}


def _call(call: ToolCall) -> Json:
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = {}
    return {"id": call.call_id, "function": {"name": call.name, "arguments": arguments}}


def _line(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
