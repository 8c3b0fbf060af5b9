"""The grammar of an answer that has to call a tool, in the format of the model."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engine.errors import GrammarError
from engine.grammar import lark
from engine.grammar.json_schema import Grammar, prepared_schema
from engine.grammar.lark import any_of, literal
from engine.grammar.matcher import checked
from engine.grammar.schema_preparation import Schema
from engine.sentences import said
from engine.tool_formats import ARGS, BLOCKS, TOOL_CALL, TOOL_CALL_END, TOOL_CALLS, ToolFormat

MAX_CALLS = 16


class _Tags(NamedTuple):
    """How a form with tags writes a call: each text with ``{}`` for the name of the tool, or of a parameter.

    No text between tags may have one of ``marks`` in it: whoever reads the call would take it for its end.
    """

    block: str
    begin: str
    key: str
    value_end: str
    end: str
    marks: tuple[str, ...]


_TAGS = {
    ToolFormat.FUNCTION: _Tags(
        TOOL_CALL,
        "<function={}>\n",
        "<parameter={}>\n",
        "\n</parameter>\n",
        "</function>\n",
        ("</parameter>", "<parameter=", "</function>"),
    ),
    ToolFormat.SEED: _Tags(
        "<seed:tool_call>",
        "<function={}>\n",
        "<parameter={}>",
        "</parameter>\n",
        "</function>\n",
        ("</parameter>", "<parameter=", "</function>"),
    ),
    ToolFormat.INVOKE: _Tags(
        "<minimax:tool_call>",
        '<invoke name="{}">\n',
        '<parameter name="{}">',
        "</parameter>\n",
        "</invoke>\n",
        ("</parameter>", "<parameter name=", "</invoke>"),
    ),
    ToolFormat.KEY_VALUE: _Tags(
        TOOL_CALL, "{}\n", "<arg_key>{}</arg_key>\n<arg_value>", "</arg_value>\n", "", ("</arg_value>", TOOL_CALL_END)
    ),
}


def calls_grammar(tool_format: ToolFormat, functions: Sequence[Mapping[str, Any]], *, many: bool) -> Grammar:
    """The grammar of calls of ``functions``: name and JSON schema of the ``parameters``, as OpenAI's API has them.

    One call, or several where ``many`` says so and the format has them. Of a function that is ``strict`` all is held.

    Raises:
        GrammarError: a schema is none, nothing is valid by it, or a strict one cannot be held.
    """
    calls = _Calls(tool_format)
    call = any_of(calls.add(function) for function in functions)
    more = f"{{0,{MAX_CALLS - 1}}}"
    if tool_format in _TAGS or tool_format is ToolFormat.HERMES:
        tags = _TAGS.get(tool_format)
        block = tags.block if tags else TOOL_CALL
        before, behind = ("", "") if tool_format is ToolFormat.KEY_VALUE else ("\n", "" if tags else "\n")
        one = f"{literal(block + before)} {call} {literal(behind + BLOCKS[block])}"
        start = f'block ("\\n" block){more}' if many else "block"
        calls.rules.append(f"block: {one}")
    elif tool_format is ToolFormat.ACTION:
        several = f'call ("," call){more}' if many else "call"
        start = f"{literal('<|START_ACTION|>[')} {several} {literal(']<|END_ACTION|>')}"
    elif tool_format is ToolFormat.MISTRAL:
        several = f'call (", " call){more}' if many else "call"
        start = f"{literal(TOOL_CALLS + '[')} {several} {literal(']')}"
    else:
        has_many = many and tool_format in (ToolFormat.FUNCTIONARY, ToolFormat.MISTRAL_ARGS)
        start = f"call (call){more}" if has_many else "call"
    text, _ = checked([f"start: {start}", f"call: {call}", *calls.rules])
    return Grammar(text, tuple(calls.warnings))


class _Calls:
    """The rules of single calls, a rule for each function."""

    def __init__(self, tool_format: ToolFormat) -> None:
        self.rules: list[str] = []
        self.warnings: dict[str, None] = {}
        self._format = tool_format
        self._tags = _TAGS.get(tool_format)
        if self._tags is not None:
            marks = "|".join(re.escape(mark).replace("/", r"\/") for mark in self._tags.marks)
            end = literal(self._tags.value_end)
            self.rules += [f"VALUE: TEXT {end}", f"TEXT: /(?s:.*)/ & ~/(?s:.*)({marks})(?s:.*)/"]

    def add(self, function: Mapping[str, Any]) -> str:
        """Have a rule for the calls of a function; its name."""
        name = str(function["name"])
        parameters = function.get("parameters") or {"type": "object", "properties": {}}
        try:
            prepared = prepared_schema({"type": "object", **parameters}, strict=function.get("strict") is True)
        except GrammarError as error:
            raise GrammarError(said("{tool}: {reason}", tool=name[:100], reason=error.message), error.advice) from error
        self.warnings |= {said("{tool}: {reason}", tool=name[:100], reason=one): None for one in prepared.warnings}
        if self._tags is not None:
            return self._rule(self._between_tags(self._tags, name, parameters, prepared.schema))
        return self._rule(self._as_json(name, lark.json_of(prepared.schema)))

    def _rule(self, body: str) -> str:
        name = f"part_{len(self.rules)}"
        self.rules.append(f"{name}: {body}")
        return name

    def _as_json(self, name: str, arguments: str) -> str:
        """A call whose arguments are a JSON object."""
        written = self._rule(arguments)
        if self._format is ToolFormat.MISTRAL_ARGS:
            return f"{literal(TOOL_CALLS + name + ARGS)} {written}"
        if self._format is ToolFormat.FUNCTIONARY:
            return f"{literal(f'<function={name}>')} {written} {literal('</function>')}"
        is_action = self._format is ToolFormat.ACTION
        key = "parameters" if self._format is ToolFormat.LLAMA or is_action else "arguments"
        said_name = json.dumps(name, ensure_ascii=False)
        begin = f'{{"{"tool_name" if is_action else "name"}": {said_name}, "{key}": '
        return f"{literal(begin)} {written} {literal('}')}"

    def _between_tags(self, tags: _Tags, name: str, given: Mapping[str, Any], prepared: Schema) -> str:
        """A call whose parameters stand between tags, in the schema's order: strings as they are, all else as JSON.

        Of strings no more than their ``enum`` is promised: what else a schema says of one is about JSON's spelling.
        """
        parts = [literal(tags.begin.format(name))]
        properties, whole = given.get("properties"), given.get("required")
        required = whole if isinstance(whole, list) else []
        for key, schema in (properties if isinstance(properties, dict) else {}).items():
            value = self._value(tags, str(key), schema, prepared)
            part = f"{literal(tags.key.format(key))} {value}"
            parts.append(part if key in required else f"({part})?")
        return " ".join([*parts, literal(tags.end)] if tags.end else parts)

    def _value(self, tags: _Tags, key: str, schema: object, prepared: Schema) -> str:
        """A value with its end."""
        kinds, end = kinds_of(schema), literal(tags.value_end)
        values = schema.get("enum") if isinstance(schema, dict) else None
        if kinds == ["string"] and isinstance(values, list) and values:
            return f"{any_of(literal(str(one)) for one in values)} {end}"
        if not kinds or None in kinds or "string" in kinds:
            return "VALUE"
        return f"{self._rule(lark.json_of(_property(prepared, key)))} {end}"


def kinds_of(schema: object) -> list[object]:
    """The types that a schema allows; None for a choice that names none. Optional numbers are ``anyOf`` with null."""
    if not isinstance(schema, dict):
        return []
    choices = schema.get("anyOf") or schema.get("oneOf")
    if "type" not in schema and isinstance(choices, list):
        return [choice.get("type") if isinstance(choice, dict) else None for choice in choices]
    kinds = schema.get("type")
    return kinds if isinstance(kinds, list) else [kinds]


def _property(root: Schema, key: str) -> Schema:
    """The schema of a property, as a whole of its own in which the references of ``root`` still lead somewhere."""
    schema = root["properties"][key]
    if not isinstance(schema, dict) or '"$ref"' not in json.dumps(schema):
        return schema if isinstance(schema, dict) else {}
    place = key.replace("~", "~0").replace("/", "~1")
    return {"$ref": f"#/properties/{place}", **{name: value for name, value in root.items() if name in _HOLDERS}}


_HOLDERS = ("properties", "$defs", "definitions")
