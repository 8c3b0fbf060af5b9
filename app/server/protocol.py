"""From the JSON of OpenAI's completion endpoints to what the engine is asked.

Every field is either followed, or known to change nothing, or refused with status 400: none is passed over in silence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.server.errors import ApiError
from app.server.fields import Fields, check_text, unsupported, wrong_type
from engine.errors import SettingError
from engine.pacing.pace import choose_pace
from engine.records import ChatRequest, EngineReady, Message, Mode, SamplingParams

MAX_STOPS = 16
MAX_STOP_CHARS = 1000
_NUMBERS = ("temperature", "top_p", "min_p", "frequency_penalty", "presence_penalty", "repeat_penalty")
_INTEGERS = ("top_k", "seed")
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
# They name the user or the request to OpenAI, and would change no answer.
_WITHOUT_EFFECT = ("user", "metadata", "safety_identifier", "prompt_cache_key")
# What other values of these ask for is not there.
_NEUTRAL: dict[str, tuple[object, ...]] = {
    "n": (1,),
    "best_of": (1,),
    "echo": (False,),
    "suffix": ("",),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "logit_bias": ({},),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "parallel_tool_calls": (True, False),
    "functions": ([],),
    "function_call": ("none", "auto"),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
    "service_tier": ("auto", "default"),
    "store": (False,),
    "audio": (),
    "prediction": (),
    "reasoning_effort": (),
    "verbosity": (),
    "web_search_options": (),
}
_OF_A_MESSAGE: dict[str, tuple[object, ...]] = {
    "name": (),
    "tool_calls": ([],),
    "tool_call_id": (),
    "function_call": (),
    "refusal": (),
    "audio": (),
    "annotations": ([],),
}


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What is served: the ``name`` that requests give, what is loaded, and what holds where a request says nothing.

    ``system`` is the system prompt of chats that bring none; empty for none.
    """

    name: str
    ready: EngineReady
    defaults: ChatRequest
    system: str = ""


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A request of an endpoint: ``chat`` for messages, else for a text that goes on."""

    request: ChatRequest
    chat: bool
    stream: bool = False
    include_usage: bool = False


def parse_request(body: dict[str, object], model: ServedModel, *, chat: bool) -> CompletionRequest:
    """Read the body of a request to ``/v1/chat/completions``, or to ``/v1/completions``.

    Raises:
        ApiError: 400 with the field to blame, or 404 for another model.
    """
    fields = Fields(body)
    name = fields.text("model")
    if name is not None and name != model.name:
        message = f"There is no such model here; this server has `{model.name}`."
        raise ApiError(404, message, param="model", code="model_not_found")
    for ignored in _WITHOUT_EFFECT:
        fields.take(ignored)
    request = replace(
        model.defaults,
        messages=_messages(fields.take("messages"), model.system) if chat else (),
        raw_prompt=None if chat else _prompt(fields.take("prompt")),
        sampling=_sampling(fields, model.defaults.sampling),
        max_tokens=_max_tokens(fields, model.defaults.max_tokens, chat=chat),
        stop=_stop(fields.take("stop")) or model.defaults.stop,
    )
    request = _with_speculation(request, fields, model)
    stream = fields.flag("stream")
    include_usage = _include_usage(fields, stream=stream)
    fields.refuse(_NEUTRAL)
    fields.end()
    return CompletionRequest(request, chat, stream, include_usage)


def _messages(value: object, system: str) -> tuple[Message, ...]:
    if value is None:
        raise ApiError(400, "`messages` is missing.", param="messages", code="missing_required_parameter")
    if not isinstance(value, list):
        raise wrong_type("messages", "an array", value)
    if not value:
        raise ApiError(400, "`messages` is empty.", param="messages")
    messages = tuple(_message(one, f"messages[{i}]") for i, one in enumerate(value))
    if system and all(message.role != "system" for message in messages):
        return (Message("system", system), *messages)
    return messages


def _message(value: object, param: str) -> Message:
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)
    fields = Fields(value, f"{param}.")
    role = fields.text("role")
    if role not in _ROLES:
        names = ", ".join(_ROLES)
        raise ApiError(400, f"`{param}.role` must be one of {names}.", param=f"{param}.role")
    fields.refuse(_OF_A_MESSAGE)
    content = _content(fields.take("content"), f"{param}.content")
    fields.end()
    return Message(_ROLES[role], content)


def _content(value: object, param: str) -> str:
    if isinstance(value, list):
        return "\n".join(_part(part, f"{param}[{i}]") for i, part in enumerate(value))
    if not isinstance(value, str):
        raise wrong_type(param, "a string or an array of text parts", value)
    return check_text(param, value)


def _part(value: object, param: str) -> str:
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)
    fields = Fields(value, f"{param}.")
    kind = fields.text("type")
    if kind != "text":
        raise unsupported(f"{param}.type", f"`{param}` is no text: this server reads parts of the type `text` only.")
    text = fields.text("text")
    if text is None:
        raise ApiError(400, f"`{param}.text` is missing.", param=f"{param}.text", code="missing_required_parameter")
    fields.end()
    return text


def _prompt(value: object) -> str:
    if value is None:
        raise ApiError(400, "`prompt` is missing.", param="prompt", code="missing_required_parameter")
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    if isinstance(value, list):
        raise unsupported("prompt", "`prompt` must be one string: several prompts, and token ids, are not supported.")
    text = check_text("prompt", value)
    if not text:
        raise ApiError(400, "`prompt` is empty.", param="prompt")
    return text


def _sampling(fields: Fields, default: SamplingParams) -> SamplingParams:
    sampling = default
    numbers = {name: fields.number(name) for name in _NUMBERS}
    for name, value in {**numbers, **{name: fields.whole(name) for name in _INTEGERS}}.items():
        if value is None:
            continue
        try:
            sampling = replace(sampling, **{name: value})  # type: ignore[arg-type]  # the names have their types
        except ValueError as error:
            raise ApiError(400, str(error), param=name, code="invalid_value") from error
    return sampling


def _max_tokens(fields: Fields, default: int | None, *, chat: bool) -> int | None:
    names = ("max_completion_tokens", "max_tokens") if chat else ("max_tokens",)
    given = [(name, value) for name in names if (value := fields.whole(name)) is not None]
    for name, value in given:
        if value < 1:
            raise ApiError(400, f"`{name}` must be 1 or more.", param=name, code="invalid_value")
    if len({value for _, value in given}) > 1:
        message = "`max_tokens` and `max_completion_tokens` differ; give one of them."
        raise ApiError(400, message, param="max_tokens", code="invalid_value")
    return given[0][1] if given else default


def _stop(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    texts = value if isinstance(value, list) else [value]
    if len(texts) > MAX_STOPS:
        raise ApiError(400, f"`stop` may have {MAX_STOPS} texts at most.", param="stop", code="invalid_value")
    stops = tuple(check_text("stop", text) for text in texts)
    if not all(0 < len(text) <= MAX_STOP_CHARS for text in stops):
        message = f"Each text of `stop` must have 1 to {MAX_STOP_CHARS:,} characters."
        raise ApiError(400, message, param="stop", code="invalid_value")
    return stops


def _with_speculation(request: ChatRequest, fields: Fields, model: ServedModel) -> ChatRequest:
    """How tokens are proposed: a field of our own, ``{"mode": ..., "depth": ...}``."""
    given = fields.nested("speculation")
    if given is None:
        return request
    word, depth = given.text("mode"), given.whole("depth")
    given.end()
    try:
        mode = request.mode if word is None else Mode(word)
    except ValueError as error:
        message = f"`speculation.mode` must be one of {', '.join(Mode)}."
        raise ApiError(400, message, param="speculation.mode", code="invalid_value") from error
    if reason := model.ready.unavailable.get(mode):
        message = f"The mode {mode.value} cannot run here: {reason}"
        raise ApiError(400, message, param="speculation.mode", code="unsupported_value")
    depth = request.depth if depth is None else depth
    try:
        choose_pace(mode, depth, can_pace=True)
    except SettingError as error:
        raise ApiError(400, error.message, param="speculation.depth", code="invalid_value") from error
    return replace(request, mode=mode, depth=depth)


def _include_usage(fields: Fields, *, stream: bool) -> bool:
    options = fields.nested("stream_options")
    if options is None:
        return False
    if not stream:
        message = "`stream_options` is for answers that are streamed: set `stream`."
        raise ApiError(400, message, param="stream_options", code="invalid_value")
    include_usage = options.flag("include_usage")
    options.refuse({"include_obfuscation": (False,)})
    options.end()
    return include_usage
