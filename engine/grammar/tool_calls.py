"""The grammar of an answer that has to call a tool, in the format of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engine.grammar.gbnf import RuleBook, any_of, literal
from engine.grammar.json_schema import SchemaRules
from engine.grammar.json_text import spelled
from engine.tool_formats import ARGS, BLOCKS, TOOL_CALL, TOOL_CALL_END, TOOL_CALLS, ToolFormat

MAX_CALLS = 16


class _Tags(NamedTuple):
    """How a form with tags writes a call: each text with ``{}`` for the name of the tool, or of a parameter."""

    block: str
    begin: str
    key: str
    value_end: str
    end: str


_TAGS = {
    ToolFormat.FUNCTION: _Tags(TOOL_CALL, "<function={}>\n", "<parameter={}>\n", "\n</parameter>\n", "</function>\n"),
    ToolFormat.SEED: _Tags("<seed:tool_call>", "<function={}>\n", "<parameter={}>", "</parameter>\n", "</function>\n"),
    ToolFormat.INVOKE: _Tags(
        "<minimax:tool_call>", '<invoke name="{}">\n', '<parameter name="{}">', "</parameter>\n", "</invoke>\n"
    ),
    ToolFormat.KEY_VALUE: _Tags(TOOL_CALL, "{}\n", "<arg_key>{}</arg_key>\n<arg_value>", "</arg_value>\n", ""),
}
# A text up to the end of a parameter or value: what begins as one is not written.
_TEXT = '([^<] | "<" [^/] | "</" [^pa] | "</p" [^a] | "</a" [^r])*'


def calls_grammar(tool_format: ToolFormat, functions: Sequence[Mapping[str, Any]], *, many: bool) -> str:
    """The grammar of calls of ``functions``: name and JSON schema of the ``parameters``, as OpenAI's API has them.

    One call, or several where ``many`` says so and the format has them.

    Raises:
        GrammarError: a grammar cannot promise what a schema demands.
    """
    rules = RuleBook()
    calls = [_call(rules, tool_format, function) for function in functions]
    call = rules.add(any_of(calls), "call")
    more = f"{{0,{MAX_CALLS - 1}}}"
    if tool_format in _TAGS:
        tags = _TAGS[tool_format]
        line = "" if tool_format is ToolFormat.KEY_VALUE else "\n"
        root = f"{literal(tags.block + line)} {call} {literal(BLOCKS[tags.block])}"
        if many:
            one = rules.add(root, "block")
            root = f'{one} ("\\n" {one}){more}'
    elif tool_format is ToolFormat.FUNCTIONARY:
        root = f"{call} ({call}){more}" if many else call
    elif tool_format is ToolFormat.ACTION:
        several = f'{call} ("," {call}){more}' if many else call
        root = f"{literal('<|START_ACTION|>[')} {several} {literal(']<|END_ACTION|>')}"
    elif tool_format is ToolFormat.HERMES:
        root = f'{literal(TOOL_CALL)} "\\n" {call} "\\n" {literal(TOOL_CALL_END)}'
        if many:
            one = rules.add(root, "block")
            root = f'{one} ("\\n" {one}){more}'
    elif tool_format is ToolFormat.MISTRAL:
        root = (
            f'{literal(TOOL_CALLS)} "["  {call} (", " {call}){more} "]"'
            if many
            else f'{literal(TOOL_CALLS)} "[" {call} "]"'
        )
    elif tool_format is ToolFormat.MISTRAL_ARGS:
        root = f"{call} ({call}){more}" if many else call
    else:
        root = call
    return rules.text(root)


def _call(rules: RuleBook, tool_format: ToolFormat, function: Mapping[str, Any]) -> str:
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    if tool_format in _TAGS:
        return _tagged_call(rules, _TAGS[tool_format], function["name"], parameters)
    arguments = SchemaRules(parameters, rules).symbol(parameters)
    if tool_format is ToolFormat.MISTRAL_ARGS:
        return rules.add(f"{literal(TOOL_CALLS + function['name'] + ARGS)} {arguments}", "call")
    if tool_format is ToolFormat.FUNCTIONARY:
        begin, end = literal(f"<function={function['name']}>"), literal("</function>")
        return rules.add(f"{begin} {arguments} {end}", "call")
    is_action = tool_format is ToolFormat.ACTION
    key = "parameters" if tool_format is ToolFormat.LLAMA or is_action else "arguments"
    name = f'{spelled("tool_name" if is_action else "name")} ": " {spelled(function["name"])}'
    begin = f'"{{" {name} ", " {spelled(key)} ": "'
    return rules.add(f'{begin} {arguments} "}}"', "call")


def _tagged_call(rules: RuleBook, tags: _Tags, name: str, parameters: Mapping[str, Any]) -> str:
    """A call whose parameters stand between tags, in the schema's order: strings as they are, all else as JSON.

    Of strings no more than their ``enum`` is promised: what else a schema says of one is about JSON's spelling.
    """
    schemas = SchemaRules(parameters, rules)
    parts = [literal(tags.begin.format(name))]
    for key, schema in parameters.get("properties", {}).items():
        kind = schema.get("type") if isinstance(schema, dict) else None
        values = schema.get("enum") if isinstance(schema, dict) else None
        if kind == "string" and values:
            value = any_of(literal(str(one)) for one in values)
        elif kind is None or kind == "string":
            value = _TEXT
        else:
            value = schemas.symbol(schema)
        part = f"{literal(tags.key.format(key))} {value} {literal(tags.value_end)}"
        parts.append(part if key in parameters.get("required", ()) else f"({part})?")
    return rules.add(" ".join([*parts, literal(tags.end)] if tags.end else parts), "call")
