"""Converts JSON of OpenAI's completion endpoints to engine requests.

Every field is applied, known to have no effect, refused with status 400, or reported; none is ignored silently.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from app.core.domain.template_variables import checked
from app.core.server.errors import ApiError
from app.core.server.fields import (
    Fields,
    as_list,
    check_text,
    current_warnings,
    invalid,
    missing,
    unsupported,
    warn,
    wrong_type,
)
from app.core.server.messages import complete_messages, read_messages, text_of
from app.core.server.pictures import PictureSource
from engine.errors import GrammarError, SettingError
from engine.grammar.json_schema import Grammar, schema_grammar
from engine.grammar.tool_calls import calls_grammar
from engine.pacing.draft_length import choose_draft_length
from engine.records import (
    THINKING_OFF,
    THINKING_ON,
    ChatRequest,
    EngineReady,
    Message,
    Mode,
    ModelInfo,
    SamplingParams,
    TemplateValue,
    ToolFormat,
)
from engine.tools.formats import SYNTAXES
from engine.tools.reading import Schemas

# ---- constraints of an answer ---------------------------------------------------------------------------------------


MAX_TOOLS = 128
_GENERIC_SCHEMA = (
    "You can call the functions below. To call one, answer with nothing but a JSON object with its name and arguments:"
    ' {"name": "the name", "arguments": {}}. Where you need none of them, answer in words.'
)
Function = dict[str, object]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The ``tools`` in the prompt, the ``names`` of tools that may be called, and the ``grammar`` of a required call.

    ``tool_text`` describes the tools in words, for a chat template without tool support.
    """

    tools: tuple[Mapping[str, object], ...] = ()
    names: frozenset[str] = frozenset()
    grammar: str = ""
    tool_text: str = ""


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The ``grammar`` of the answer. ``is_from_client``: the client wrote it, so it must be checked before use."""

    grammar: str = ""
    is_from_client: bool = False


def read_form(fields: Fields) -> AnswerForm:
    """Read `response_format`, and llama.cpp's `grammar` and `json_schema`."""
    schema, grammar = fields.pop("json_schema"), fields.text("grammar")
    forms = [
        AnswerForm(_response_format(fields.nested("response_format"))),
        AnswerForm("" if schema is None else _grammar_of(schema, "json_schema")),
        AnswerForm(grammar or "", is_from_client=True),
    ]
    given = [form for form in forms if form.grammar]
    if len(given) > 1:
        message = "`response_format`, `json_schema` and `grammar` all say what the answer must be; give one of them."
        raise invalid("grammar" if grammar else "json_schema", message)
    return given[0] if given else AnswerForm()


def _response_format(given: Fields | None) -> str:
    if given is None:
        return ""
    kind, schema, is_strict = given.text("type"), given.pop("schema"), False
    named = given.nested("json_schema")
    given.check_unknown()
    if kind == "text" or (kind is None and schema is None and named is None):
        return ""
    if kind == "json_object" and named is None:
        return _grammar_of({"type": "object"} if schema is None else schema, "response_format.schema")
    if kind != "json_schema":
        raise invalid("response_format.type", "`response_format.type` must be text, json_object or json_schema.")
    if named is not None:
        schema = named.pop("schema")
        for name in ("name", "description"):
            named.text(name)
        is_strict = named.boolean("strict")
        named.check_unknown()
    if schema is None:
        raise missing("response_format.json_schema.schema")
    return _grammar_of(schema, "response_format", strict=is_strict)


def _grammar_of(schema: object, param: str, *, strict: bool = False) -> str:
    """The grammar of a schema. Keywords that are not enforced are reported, or refused if ``strict``."""
    try:
        return _grammar_text(schema_grammar(schema, strict=strict))
    except GrammarError as error:
        raise invalid(param, f"{error.message} {error.advice}") from error


def _grammar_text(grammar: Grammar) -> str:
    for warning in grammar.warnings:
        warn(warning)
    return grammar.text


def read_tools(fields: Fields, model: ModelInfo, form: AnswerForm) -> ToolUse:
    """Read `tools`, `tool_choice` and `parallel_tool_calls`. ``form``: the form of an answer without a call."""
    choice, many = fields.pop("tool_choice"), fields.boolean("parallel_tool_calls", default=True)
    functions, strict = _functions(fields.objects("tools", MAX_TOOLS))
    wanted = _required_names(choice, functions)
    if wanted is None or not functions:
        return ToolUse()
    tool_format, tool_text = model.tool_format, ""
    if tool_format is ToolFormat.NONE:
        reason = model.tool_refusal or "its chat template does not support tools"
        warn(f"The system prompt describes `tools` as text: {reason}.")
        lines = (json.dumps(function, ensure_ascii=False) for function in functions.values())
        tool_format, tool_text = ToolFormat.BARE, "\n".join([_GENERIC_SCHEMA, *lines])
    tools = () if tool_text else tuple({"type": "function", "function": one} for one in functions.values())
    use = ToolUse(tools, frozenset(functions), tool_text=tool_text)
    if not wanted and not form.grammar:
        return use
    if not wanted and (form.is_from_client or not SYNTAXES[tool_format].mark):
        why = "a grammar leaves no room for calls" if form.is_from_client else "calls of this model are JSON, too"
        message = f"Together with `tools` the form of the answer cannot be set: {why}."
        raise unsupported("grammar" if form.is_from_client else "response_format", message)
    called = [{**one, "strict": name in strict} for name, one in functions.items() if not wanted or name in wanted]
    is_many, otherwise = many and not isinstance(choice, dict), "" if wanted else form.grammar
    try:
        grammar = _grammar_text(calls_grammar(tool_format, called, many=is_many, otherwise=otherwise))
    except GrammarError as error:
        raise invalid("tools", f"{error.message} {error.advice}") from error
    return replace(use, grammar=grammar)


def _functions(given: Iterable[Fields]) -> tuple[dict[str, Function], set[str]]:
    """Read the tools as functions by name; also the names of those whose arguments must follow the schema exactly.

    Tools that run at OpenAI are left out.
    """
    functions, strict = dict[str, Function](), set[str]()
    for tool in given:
        kind = tool.text("type")
        if kind not in (None, "function"):
            message = f"`{tool.param}` is left out: this server knows tools of the type `function`, not `{kind}`."
            warn(message[:200])
            continue
        function = tool.nested("function") or Fields({}, tool.path("function"))
        tool.ignore("cache_control")  # a hint for hosted models
        tool.check_unknown()
        name, description = function.required("name"), function.text("description")
        parameters = function.nested("parameters")
        if function.boolean("strict"):
            strict.add(name)
        function.check_unknown()
        if name in functions:
            warn(f"Two of `tools` are called `{name}`: the first one counts.")
            continue
        about = {} if description is None else {"description": description}
        needed = {"type": "object", "properties": {}, **(parameters.remaining() if parameters else {})}  # by templates
        functions[name] = {"name": name, **about, "parameters": needed}
    return functions, strict


def _required_names(choice: object, functions: Collection[str]) -> frozenset[str] | None:
    """Names of tools, one of which must be called. Empty: a call is optional; None: no tools."""
    if choice == "none":
        return None
    if choice in (None, "auto"):
        return frozenset()
    if choice == "required" and functions:
        return frozenset(functions)
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if name is not None and check_text("tool_choice", name) in functions:
        return frozenset({name})
    raise invalid("tool_choice", "`tool_choice` must be none, auto, required or the name of one of `tools`.")


# ---- requests -------------------------------------------------------------------------------------------------------


MAX_STOPS = 16
MAX_STOP_CHARS = 1000
MAX_TOP_LOGPROBS = 20
MAX_BIASES = 1024
MAX_TEMPERATURE = 2.0  # OpenAI's limit; llama.cpp and Ollama have none
_NUMBERS = ("temperature", "top_p", "min_p", "frequency_penalty", "presence_penalty", "repeat_penalty")
_INTEGERS = ("top_k", "seed", "repeat_last_n")
# Fields that name the user or the request, or concern caches and metrics; they do not affect an answer.
_WITHOUT_EFFECT = (
    "user",
    "metadata",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "cache_prompt",
    "timings_per_token",
)
# Values that LM Studio, llama.cpp's server and vLLM use for "no limit" and "off".
_UNSET = -1
_MIN_TOP_P = 1e-9
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")  # reasoning efforts of OpenAI's models
# Fields of which only these values are supported.
_SUPPORTED_VALUES: dict[str, tuple[object, ...]] = {
    "modalities": (["text"],),
    "audio": (),
    "web_search_options": (),
    "echo": (False,),
    "best_of": (1,),
    "functions": ([],),  # older name of tools
    "function_call": ("none", "auto"),
}


@dataclass(frozen=True, slots=True)
class ServedModel:
    """The served model: its ``name`` in requests, the loaded models, and the defaults of requests.

    ``system``: system prompt for chats without one; may be empty. ``pictures`` reads the pictures of requests.
    """

    name: str
    ready: EngineReady
    defaults: ChatRequest
    system: str = ""
    pictures: PictureSource | None = None

    @property
    def picture_source(self) -> PictureSource | None:
        """The picture source for one request; None if the model has no vision."""
        return self.pictures.for_request() if self.pictures is not None and self.ready.target.has_vision else None

    @property
    def n_vocab(self) -> int:
        return self.ready.target.n_vocab


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A parsed request: a chat, or (``chat`` False) a text completion.

    ``tool_names``: tools that may be called. ``warnings``: about ignored fields.
    ``has_client_grammar``: the client wrote the grammar, so it must be checked before use. ``extras``: what the builder
    of answers of another API needs.
    """

    request: ChatRequest
    chat: bool
    stream: bool = False
    include_usage: bool = False
    tool_names: frozenset[str] = frozenset()
    has_client_grammar: bool = False
    warnings: tuple[str, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tool_schemas(self) -> Schemas:
        """The schemas of the tools' parameters, by name."""
        functions = (tool.get("function") for tool in self.request.tools)
        known = (one for one in functions if isinstance(one, dict))
        return {str(one.get("name")): one["parameters"] for one in known if isinstance(one.get("parameters"), dict)}


def parse_request(
    body: dict[str, object],
    model: ServedModel,
    *,
    chat: bool,
    messages: tuple[Message, ...] | None = None,
    may_be_empty: bool = False,
    max_temperature: float = MAX_TEMPERATURE,
) -> CompletionRequest:
    """Read the body of a request to ``/v1/chat/completions`` or ``/v1/completions``.

    ``messages``: of a chat, if another API's parser has read them. ``may_be_empty`` allows an empty prompt.
    """
    fields = Fields(body)
    if fields.text("model") not in (None, model.name):
        warn(f"There is no such model here; this server has `{model.name}`.")
    fields.ignore(*_WITHOUT_EFFECT)
    max_tokens = _max_tokens(fields, model.defaults.max_tokens, chat=chat)
    request = replace(
        model.defaults,
        sampling=_with_bias(_sampling(fields, model, max_temperature), fields.nested("logit_bias"), model.n_vocab),
        max_tokens=max_tokens,
        min_tokens=fields.integer("min_tokens", 0, max_tokens) or 0,
        stop=_stop(fields.pop("stop")) or model.defaults.stop,
        ignore_eos=fields.boolean("ignore_eos", default=model.defaults.ignore_eos),
    )
    request = _with_speculation(request, fields.nested("speculation"), model)
    form, use = read_form(fields), ToolUse()
    if chat:
        use = read_tools(fields, model.ready.target, form)
        given = read_messages(fields, model.picture_source) if messages is None else messages
        request = _chat(request, fields, model, complete_messages(given, model.system, use.tool_text), use)
    else:
        request = _text(request, fields, model, may_be_empty=may_be_empty)
    request = _with_grammar(request, use.grammar or form.grammar)
    stream = fields.boolean("stream")
    include_usage = _include_usage(fields.nested("stream_options"), stream=stream)
    # The last message says whether the answer continues it.
    if fields.boolean("continue_final_message") and fields.boolean("add_generation_prompt"):
        raise invalid("add_generation_prompt", "Set either this or `continue_final_message`.")
    if fields.integer("n") not in (None, 1):
        raise unsupported("n", "Only one answer is given to a request: send it again for another one.")
    fields.refuse_unless(_SUPPORTED_VALUES)
    fields.check_unknown()
    return CompletionRequest(
        request,
        chat,
        stream,
        include_usage,
        use.names,
        form.is_from_client and not use.grammar,
        current_warnings(),
    )


def _chat(
    request: ChatRequest, fields: Fields, model: ServedModel, messages: tuple[Message, ...], use: ToolUse
) -> ChatRequest:
    wants_logprobs, number = fields.boolean("logprobs"), fields.integer("top_logprobs", 0, MAX_TOP_LOGPROBS)
    if number and not wants_logprobs:
        raise invalid("top_logprobs", "`top_logprobs` is for answers with `logprobs`: set it to true.")
    return replace(
        request,
        messages=messages,
        tools=use.tools,
        predicted=_prediction(fields.nested("prediction")),
        thinking=_thinking(fields, model) or request.thinking,
        template_variables=_template_variables(fields) or request.template_variables,
        top_logprobs=(number or 0) if wants_logprobs else None,
    )


def _text(request: ChatRequest, fields: Fields, model: ServedModel, *, may_be_empty: bool) -> ChatRequest:
    """The request of a text completion."""
    prompt = _prompt(fields.pop("prompt"), model, may_be_empty=may_be_empty)
    suffix = fields.text("suffix")
    suffix = suffix if may_be_empty else suffix or None
    if suffix is not None and isinstance(prompt, tuple):
        raise unsupported("suffix", "`suffix` is for prompts that are texts, not for token ids.")
    if suffix is not None and not model.ready.target.supports_infill:
        message = "The file of this model names no tokens for filling in the middle, so it takes no `suffix`."
        raise unsupported("suffix", message)
    request = replace(request, suffix=suffix, top_logprobs=fields.integer("logprobs", 0, MAX_TOP_LOGPROBS))
    if isinstance(prompt, tuple):
        return replace(request, raw_prompt="", raw_ids=prompt)
    return replace(request, raw_prompt=prompt)


def _with_grammar(request: ChatRequest, grammar: str) -> ChatRequest:
    """Add the grammar of the answer, if any, to the request."""
    if not grammar:
        return request
    for name, is_set in (("min_tokens", request.min_tokens), ("ignore_eos", request.ignore_eos)):
        if is_set:
            warn(f"`{name}` is for answers without a schema or grammar, which end by themselves.")
    return replace(request, grammar=grammar, min_tokens=0, ignore_eos=False)


def _thinking(fields: Fields, model: ServedModel) -> str:
    """The reasoning mode that ``reasoning_effort`` selects; empty without a choice."""
    effort, target = fields.text("reasoning_effort"), model.ready.target
    if effort is None:
        return ""
    names = [option.name for option in target.thinking]
    wanted = THINKING_OFF if effort == "none" else effort
    if wanted not in (*names, THINKING_OFF) and THINKING_ON in names:
        wanted = THINKING_ON  # the model has no finer levels
    if wanted in names:
        return wanted
    if names or effort not in _EFFORTS:
        message = f"`reasoning_effort` cannot be {effort[:40]}: this model takes {', '.join(names or _EFFORTS)}."
        raise unsupported("reasoning_effort", message)
    if effort != "none" or target.reasoning_start_tag:
        warn("`reasoning_effort` has no effect: this model has no reasoning modes.")
    return ""


def _template_variables(fields: Fields) -> tuple[tuple[str, TemplateValue], ...]:
    given = fields.nested("chat_template_kwargs")
    values = {} if given is None else given.remaining()
    if not all(isinstance(value, str | int | float | bool) for value in values.values()):
        raise ApiError(400, "The values must be texts, numbers, true or false.", param="chat_template_kwargs")
    try:
        return checked(cast("dict[str, TemplateValue]", values).items())
    except ValueError as error:
        raise ApiError(400, str(error), param="chat_template_kwargs") from error


def _prediction(given: Fields | None) -> str:
    """Read the predicted output: OpenAI's ``{"type": "content", "content": ...}``."""
    if given is None:
        return ""
    if given.text("type") != "content":
        raise unsupported("prediction.type", "`prediction.type` must be content.")
    text = text_of(given.pop("content"), "prediction.content")
    given.check_unknown()
    return text


def _with_bias(sampling: SamplingParams, given: Fields | None, n_vocab: int) -> SamplingParams:
    """Add ``logit_bias``: an object from token ids to values that are added to their logits."""
    if given is None:
        return sampling
    entries, biases = given.remaining(), list[tuple[int, float]]()
    if len(entries) > MAX_BIASES:
        raise ApiError(400, f"`logit_bias` may have {MAX_BIASES:,} tokens at most.", param="logit_bias")
    fields = Fields(entries, "logit_bias")
    for name in entries:
        if not (name.isascii() and name.isdecimal() and len(name) < 10 and int(name) < n_vocab):
            raise _unknown_token("logit_bias", n_vocab)
        biases.append((int(name), fields.number(name) or 0.0))
    try:
        return replace(sampling, logit_bias=tuple(sorted(biases)))
    except ValueError as error:
        raise invalid("logit_bias", str(error)) from error


def _unknown_token(param: str, n_vocab: int) -> ApiError:
    return invalid(param, f"`{param}` names an unknown token; this model's ids are 0 to {n_vocab - 1}.")


def _prompt(value: object, model: ServedModel, *, may_be_empty: bool) -> str | tuple[int, ...]:
    """Read the prompt of a text completion: a text or token ids, also as the only item of a list."""
    if isinstance(value, list) and any(isinstance(one, str | list) for one in value):
        if len(value) > 1:
            raise unsupported("prompt", "Only one prompt is answered here: send the others as requests of their own.")
        value = value[0]
    if value is None or (not value and isinstance(value, str | list) and not may_be_empty):
        raise missing("prompt")
    if isinstance(value, list):
        return token_ids(value, "prompt", model.n_vocab)
    if not isinstance(value, str):
        raise wrong_type("prompt", "a string, token ids, or an array of one of these")
    return value


def token_ids(values: list[object], param: str, n_vocab: int) -> tuple[int, ...]:
    """Read a list of token ids."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int):
            raise wrong_type(param, "token ids")
        if not 0 <= value < n_vocab:
            raise _unknown_token(param, n_vocab)
    return tuple(cast("list[int]", values))


def _sampling(fields: Fields, model: ServedModel, max_temperature: float) -> SamplingParams:
    sampling, of_vllm = model.defaults.sampling, fields.number("repetition_penalty")
    numbers = {name: fields.number(name) for name in _NUMBERS}
    wholes = {name: fields.integer(name) for name in _INTEGERS}
    if numbers["repeat_penalty"] is None:
        numbers["repeat_penalty"] = of_vllm
    if (temperature := numbers["temperature"]) is not None and temperature > max_temperature:
        raise invalid("temperature", f"`temperature` must be from 0 to {max_temperature:g}.")
    if numbers["top_p"] == 0.0:
        numbers["top_p"] = _MIN_TOP_P  # the likeliest token alone, as others take it
    if wholes["seed"] == _UNSET:
        wholes["seed"], sampling = None, replace(sampling, seed=None)
    for name, unlimited in (("top_k", 0), ("repeat_last_n", model.ready.target.n_ctx)):
        wholes[name] = unlimited if wholes[name] == _UNSET else wholes[name]
    for name, value in {**numbers, **wholes}.items():
        if value is not None:
            try:
                changed: Any = {"penalty_last_n" if name == "repeat_last_n" else name: value}
                sampling = replace(sampling, **changed)
            except ValueError as error:
                raise invalid(name, str(error)) from error
    return sampling


def _max_tokens(fields: Fields, default: int | None, *, chat: bool) -> int | None:
    names = ("max_completion_tokens", "max_tokens") if chat else ("max_tokens",)
    given = [value for name in names if (value := fields.integer(name, _UNSET)) is not None]
    if len(set(given)) > 1:
        raise invalid("max_tokens", "`max_tokens` and `max_completion_tokens` differ; give one of them.")
    wanted = given[0] if given else default
    return None if wanted == _UNSET else wanted


def _stop(value: object) -> tuple[str, ...]:
    texts = [check_text("stop", text) for text in as_list("stop", [value] if isinstance(value, str) else value)]
    stops = tuple(text for text in texts if text)
    if len(stops) > MAX_STOPS:
        raise invalid("stop", f"`stop` may have {MAX_STOPS} texts at most.")
    if any(len(text) > MAX_STOP_CHARS for text in stops):
        raise invalid("stop", f"Each text of `stop` must have 1 to {MAX_STOP_CHARS:,} characters.")
    return stops


def _with_speculation(request: ChatRequest, given: Fields | None, model: ServedModel) -> ChatRequest:
    """Read the speculation settings, our own field: ``{"mode": ..., "depth": ...}``."""
    if given is None:
        return request
    word, depth = given.text("mode") or request.mode.value, given.integer("depth")
    given.check_unknown()
    if word not in set(Mode):
        raise invalid("speculation.mode", f"`speculation.mode` must be one of {', '.join(Mode)}.")
    mode = Mode(word)
    if reason := model.ready.unavailable.get(mode):
        raise unsupported("speculation.mode", f"The mode {mode.value} cannot run here: {reason}")
    depth = request.depth if depth is None else depth
    try:
        choose_draft_length(mode, depth, can_pace=True)
    except SettingError as error:
        raise invalid("speculation.depth", error.message) from error
    return replace(request, mode=mode, depth=depth)


def _include_usage(options: Fields | None, *, stream: bool) -> bool:
    if options is None:
        return False
    if not stream:
        warn("`stream_options` is for answers that are streamed.")
    include_usage = options.boolean("include_usage") and stream
    options.check_unknown()
    return include_usage
