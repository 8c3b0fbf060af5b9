"""Reads constraints of an answer from a request: a JSON schema, a grammar, or a required tool call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from app.core.server.errors import ApiError
from app.core.server.fields import Fields, check_text, invalid, is_lenient, missing, unsupported, warn, wrong_type
from engine.errors import GrammarError
from engine.grammar.json_schema import Grammar, grammar_of
from engine.grammar.tool_calls import calls_grammar
from engine.records import ModelInfo, ToolFormat
from engine.tools.formats import SYNTAXES

MAX_TOOLS = 128
_GENERIC = (
    "You can call the functions below. To call one, answer with nothing but a JSON object with its name and arguments:"
    ' {"name": "the name", "arguments": {}}. Where you need none of them, answer in words.'
)
Tool = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The ``tools`` in the prompt, the ``names`` of tools that may be called, and the ``grammar`` of a required call.

    ``tool_text`` describes the tools in words, for a chat template without tool support.
    """

    tools: tuple[Tool, ...] = ()
    names: frozenset[str] = frozenset()
    grammar: str = ""
    tool_text: str = ""


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The ``grammar`` of the answer. ``is_typed``: the client wrote it, so it must be checked before use."""

    grammar: str = ""
    is_typed: bool = False


def read_form(fields: Fields) -> AnswerForm:
    """Read `response_format`, and llama.cpp's `grammar` and `json_schema`.

    Raises:
        ApiError: 400: the format is unknown, or the schema cannot be converted to a grammar.
    """
    schema_grammar, schema = _response_format(fields.nested("response_format")), fields.take("json_schema")
    grammar = fields.text("grammar")
    if schema is not None and schema_grammar:
        message = "`json_schema` and `response_format` both say what the answer must be; give one of them."
        raise invalid("json_schema", message)
    if schema is not None:
        schema_grammar = _grammar_of(schema, "json_schema")
    if grammar and schema_grammar:
        raise invalid("grammar", "`grammar` and a schema both say what the answer must be; give one of them.")
    return AnswerForm(grammar, is_typed=True) if grammar else AnswerForm(schema_grammar)


def _response_format(given: Fields | None) -> str:
    if given is None:
        return ""
    kind, schema, is_strict = given.text("type"), given.take("schema"), False
    named = given.nested("json_schema")
    given.end()
    if kind == "text" or (kind is None and schema is None and named is None):
        return ""
    if kind == "json_object" and named is None:
        return _grammar_of({"type": "object"} if schema is None else schema, "response_format.schema")
    if kind != "json_schema":
        raise invalid("response_format.type", "`response_format.type` must be text, json_object or json_schema.")
    if named is not None:
        schema = named.take("schema")
        for name in ("name", "description"):
            named.text(name)
        is_strict = named.flag("strict")
        named.end()
    if schema is None:
        param = "response_format.json_schema.schema"
        raise missing(param)
    return _grammar_of(schema, "response_format", strict=is_strict)


def _grammar_of(schema: object, param: str, *, strict: bool = False) -> str:
    """The grammar of a schema. Keywords that are not enforced are reported, or refused in strict mode."""
    try:
        return _grammar_text(grammar_of(schema, strict=strict or not is_lenient()))
    except GrammarError as error:
        raise invalid(param, f"{error.message} {error.advice}") from error


def _grammar_text(grammar: Grammar) -> str:
    for warning in grammar.warnings:
        warn(warning)
    return grammar.text


def read_tools(fields: Fields, model: ModelInfo, form: AnswerForm) -> ToolUse:
    """Read `tools`, `tool_choice` and `parallel_tool_calls`. ``form``: the form of an answer without a call.

    Raises:
        ApiError: 400: the fields are invalid, or the model's chat template does not support tools.
    """
    given, choice = fields.take("tools"), fields.take("tool_choice")
    many = fields.take("parallel_tool_calls")
    if many is not None and not isinstance(many, bool):
        raise wrong_type("parallel_tool_calls", "a boolean", many)
    strict = set[str]()
    tools = _tools(given, strict)
    names = [str(_function(tool)["name"]) for tool in tools]
    wanted = _required_names(choice, names)
    if wanted is None or not tools:
        return ToolUse()
    tool_format, tool_text = model.tool_format, ""
    if tool_format is ToolFormat.NONE:
        tool_format, tool_text = ToolFormat.BARE, _describe_tools(tools, model)
    kept = () if tool_text else tools
    if not wanted and not form.grammar:
        return ToolUse(kept, frozenset(names), tool_text=tool_text)
    if not wanted and (form.is_typed or not SYNTAXES[tool_format].mark):
        why = "a grammar leaves no room for calls" if form.is_typed else "calls of this model are JSON, too"
        message = f"Together with `tools` the form of the answer cannot be set: {why}."
        raise ApiError(400, message, param="grammar" if form.is_typed else "response_format", code="unsupported_value")
    called = [_function(tool) for tool in tools if not wanted or _function(tool)["name"] in wanted]
    functions = [{**one, "strict": one["name"] in strict or not is_lenient()} for one in called]
    is_one = isinstance(choice, dict) or many is False
    try:
        otherwise = "" if wanted else form.grammar
        grammar = _grammar_text(calls_grammar(tool_format, functions, many=not is_one, otherwise=otherwise))
    except GrammarError as error:
        raise invalid("tools", f"{error.message} {error.advice}") from error
    return ToolUse(kept, frozenset(names), grammar, tool_text)


def _describe_tools(tools: tuple[Tool, ...], model: ModelInfo) -> str:
    """The description of the tools in words, for a chat template without tool support.

    Raises:
        ApiError: in strict mode.
    """
    reason = model.tool_refusal or "its chat template does not support tools"
    message = f"This model is given no `tools`: {reason}."
    if not warn(f"The model is told of `tools` in words, in the system prompt: {reason}."):
        raise unsupported("tools", message)
    lines = "\n".join(json.dumps(_function(tool), ensure_ascii=False) for tool in tools)
    return f"{_GENERIC}\n{lines}"


def _tools(value: object, strict: set[str]) -> tuple[Tool, ...]:
    """Read the tools. ``strict`` collects the names of tools whose arguments must follow the schema exactly."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise wrong_type("tools", "an array", value)
    if len(value) > MAX_TOOLS:
        raise invalid("tools", f"`tools` may have {MAX_TOOLS} tools at most.")
    tools = dict[object, Tool]()
    for index, one in enumerate(value):
        tool = _tool(one, f"tools[{index}]", strict)
        name = None if tool is None else _function(tool)["name"]
        if name in tools and not warn(f"Two of `tools` are called `{name}`: the first one counts."):
            raise invalid("tools", "Two of `tools` have one name.")
        if tool is not None:
            tools.setdefault(name, tool)
    return tuple(tools.values())


def _tool(value: object, param: str, strict: set[str]) -> Tool | None:
    """Read a tool of OpenAI's API; None for a tool that runs at OpenAI."""
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)
    fields = Fields(value, f"{param}.")
    kind = fields.text("type")
    if kind is not None and kind != "function":
        message = f"is no function: this server knows tools of the type `function`, not `{kind[:40]}`"
        if not warn(f"`{param}` was ignored: it {message}."):
            raise unsupported(f"{param}.type", f"`{param}` {message}.")
        return None
    function = fields.nested("function")
    fields.take("cache_control")  # a hint for hosted models
    fields.end()
    name = None if function is None else function.text("name")
    if function is None or not name:
        raise ApiError(400, f"`{param}.function.name` is missing.", param=f"{param}.function.name")
    described: dict[str, object] = {"name": name}
    if (description := function.text("description")) is not None:
        described["description"] = description
    parameters = function.take("parameters")
    if parameters is not None and not isinstance(parameters, dict):
        raise wrong_type(f"{param}.function.parameters", "an object", parameters)
    described["parameters"] = {"type": "object", "properties": {}, **(parameters or {})}  # templates need both keys
    if function.flag("strict"):
        strict.add(name)
    function.end()
    return {"type": "function", "function": described}


def _function(tool: Tool) -> Mapping[str, object]:
    function = tool["function"]
    assert isinstance(function, Mapping)  # noqa: S101  (`_tool` has made it)
    return function


def _required_names(choice: object, names: list[str]) -> frozenset[str] | None:
    """Names of tools, one of which must be called. Empty: a call is optional; None: no tools."""
    if choice == "none":
        return None
    if choice in (None, "auto"):
        return frozenset()
    if choice == "required" and names:
        return frozenset(names)
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if name is not None and check_text("tool_choice", name) in names:
        return frozenset({name})
    raise invalid("tool_choice", "`tool_choice` must be none, auto, required or the name of one of `tools`.")
