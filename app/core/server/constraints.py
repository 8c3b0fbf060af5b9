"""Reads constraints of an answer from a request: a JSON schema, a grammar, or a required tool call."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from app.core.server.fields import Fields, check_text, invalid, missing, unsupported, warn
from engine.errors import GrammarError
from engine.grammar.json_schema import Grammar, schema_grammar
from engine.grammar.tool_calls import calls_grammar
from engine.records import ModelInfo, ToolFormat
from engine.tools.formats import SYNTAXES

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
