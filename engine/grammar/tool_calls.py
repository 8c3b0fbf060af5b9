"""Grammars of answers that must or may call a tool, in the model's tool format."""

import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from engine.errors import GrammarError
from engine.grammar import lark
from engine.grammar.constraint import check_rules
from engine.grammar.json_schema import Grammar, prepared_schema
from engine.grammar.lark import any_of, literal
from engine.grammar.schema_preparation import Schema
from engine.records import ChatRequest
from engine.sentences import i18n
from engine.tools.formats import GEMMA_QUOTE, SYNTAXES, Body, CallSyntax, ToolFormat, is_plain_text

log = logging.getLogger(__name__)


MAX_CALLS = 16
_START = "start:"
_SLOTS = re.compile(r"\{(id|index|type)\}")
_SLOT_PATTERNS = {"id": "/[a-zA-Z0-9]{9}/", "index": "/[0-9]{1,2}/", "type": "/number|boolean|object|array|null/"}
_DEFINITIONS = ("properties", "$defs", "definitions")
# Gemma's syntax of arrays and objects.
_GEMMA_RULES = (
    'gemma: gemma_text | GEMMA_WORD | "[" (gemma ("," gemma)*)? "]" | "{" (gemma_member ("," gemma_member)*)? "}"',
    'gemma_member: /[a-zA-Z0-9_-]+/ ":" gemma',
    r"GEMMA_WORD: /-?[0-9]+(\.[0-9]+)?|true|false|null/",
)


def calls_grammar(
    tool_format: ToolFormat, functions: Sequence[Mapping[str, Any]], *, many: bool, otherwise: str = ""
) -> Grammar:
    """A grammar of calls of ``functions``, which have ``name`` and ``parameters`` as in OpenAI's API.

    It allows one call, or several if ``many`` is set and the format supports it. Instead of calls an answer may match
    ``otherwise``, the grammar of a schema. The schema of a ``strict`` function must be fully expressible.

    Raises:
        GrammarError: not a schema, no value conforms to it, or a strict schema cannot be expressed.
    """
    syntax = SYNTAXES[tool_format]
    calls = _CallGrammar(syntax)
    call = any_of(calls.add(function) for function in functions)
    block, block_end = _literals(syntax.block), _literals(syntax.block_end)
    one, before, behind = "call", block, block_end
    if syntax.has_own_blocks:
        calls.rules.append(_sequence("block:", *block, "call", *block_end))
        one, before, behind = "block", [], []
    more = _sequence("(", *_literals(syntax.separator), one, f"){{0,{MAX_CALLS - 1}}}") if many and syntax.mark else ""
    start = _sequence(_START, *before, one, more, *behind)
    begin = [start]
    if otherwise:
        form = otherwise.removeprefix(lark.HEADER).removeprefix(_START)
        begin = [f"{_START} calls | form", f"calls:{start.removeprefix(_START)}", f"form:{form.rstrip()}"]
    text, _ = check_rules([*begin, f"call: {call}", *calls.rules])
    return Grammar(text, tuple(calls.warnings))


def valid_calls_grammar(tool_format: ToolFormat, functions: Sequence[Mapping[str, Any]]) -> Grammar:
    """A grammar of any text whose calls conform to ``functions``; empty if calls have no opening mark.

    Raises:
        GrammarError: as for `calls_grammar`.
    """
    syntax = SYNTAXES[tool_format]
    if not syntax.block:
        return Grammar("")
    calls = _CallGrammar(syntax)
    call = any_of(calls.add(function) for function in functions)
    text_before = calls.text_before(syntax.block, syntax.mark)
    more = "" if syntax.has_own_blocks else f"({_sequence(*_literals(syntax.separator), 'call')}){{0,{MAX_CALLS - 1}}}"
    rest = text_before.replace("VALUE", "TEXT")  # text without a further call
    start = f"start: ({_sequence(text_before, 'call', more, *_literals(syntax.block_end))})* {rest}"
    text, _ = check_rules([start, f"call: {call}", *calls.rules])
    return Grammar(text, tuple(calls.warnings))


def valid_calls(request: ChatRequest, tool_format: ToolFormat) -> str:
    """The `valid_calls_grammar` of a request; empty if it wants no grammar, or its tools allow none."""
    if not request.constrains_calls or not request.tools or tool_format is ToolFormat.NONE:
        return ""
    return _valid_calls(tool_format, json.dumps(request.tools))


@lru_cache(maxsize=8)
def _valid_calls(tool_format: ToolFormat, tools: str) -> str:
    try:
        return valid_calls_grammar(tool_format, [tool["function"] for tool in json.loads(tools)]).text
    except GrammarError as error:
        log.warning("Calls of tools are not held in their form: %s", error.message)
        return ""


def _literals(text: str) -> list[str]:
    return [literal(text)] if text else []


def _sequence(*parts: str) -> str:
    return " ".join(filter(None, parts))


def _fill_names(pattern: str, **names: str) -> str:
    """A part of a call's pattern with names filled in; the other slots match any text of their kind."""
    for name, value in names.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    pieces, begin = list[str](), 0
    for slot in _SLOTS.finditer(pattern):
        pieces += [*_literals(pattern[begin : slot.start()]), _SLOT_PATTERNS[slot[1]]]
        begin = slot.end()
    return _sequence(*pieces, *_literals(pattern[begin:]))


class _CallGrammar:
    """Builds the grammar's rules for calls, one per function."""

    def __init__(self, syntax: CallSyntax) -> None:
        self.rules: list[str] = []
        self.warnings: dict[str, None] = {}
        self._syntax = syntax
        self._texts: dict[tuple[str, ...], str] = {}  # names of rules by the texts that they exclude
        if syntax.body is Body.GEMMA:
            quote = literal(GEMMA_QUOTE)
            self.rules += [f"gemma_text: {quote} {self.text_before(GEMMA_QUOTE)}", *_GEMMA_RULES]

    def add(self, function: Mapping[str, Any]) -> str:
        """Add a rule for the calls of a function, and return its name."""
        name = str(function["name"])
        parameters = function.get("parameters") or {"type": "object", "properties": {}}
        try:
            prepared, warnings = prepared_schema(
                {"type": "object", **parameters}, strict=function.get("strict") is True
            )
        except GrammarError as error:
            raise GrammarError(i18n("{tool}: {reason}", tool=name[:100], reason=error.message), error.advice) from error
        self.warnings |= {i18n("{tool}: {reason}", tool=name[:100], reason=one): None for one in warnings}
        body = self._syntax.body
        if body in (Body.TAGS, Body.PYTHON, Body.GEMMA):
            return self._rule(self._listed_parameters(name, parameters, prepared))
        return self._rule(self._as_json(name, self._rule(lark.json_of(prepared))))

    def _rule(self, body: str) -> str:
        name = f"part_{len(self.rules)}"
        self.rules.append(f"{name}: {body}")
        return name

    def _as_json(self, name: str, arguments: str) -> str:
        syntax, said_name = self._syntax, json.dumps(name, ensure_ascii=False)
        if syntax.body is Body.ARGUMENTS:
            return _sequence(_fill_names(syntax.begin, name=name), arguments, *_literals(syntax.end))
        begin = f'{{"{syntax.name_key}": {said_name}, "{syntax.arguments_key}": '
        return f"{literal(begin)} {arguments} {literal('}')}"

    def _listed_parameters(self, name: str, given: Mapping[str, Any], prepared: Schema) -> str:
        """A call that lists its parameters one by one, in the schema's order.

        For unquoted strings only ``enum`` is enforced, since other keywords constrain the string's JSON.
        """
        properties, whole = given.get("properties"), given.get("required")
        required = whole if isinstance(whole, list) else []
        parts = {
            str(key): self._argument(str(key), schema, prepared)
            for key, schema in (properties if isinstance(properties, dict) else {}).items()
        }
        syntax = self._syntax
        if syntax.body is Body.TAGS:
            tagged = (part if key in required else f"({part})?" for key, part in parts.items())
            return _sequence(_fill_names(syntax.begin, name=name), *tagged, *_literals(syntax.end))
        if syntax.body is Body.PYTHON:
            return _sequence(literal(f"{name}("), self._joined(parts, required, ", "), literal(")"))
        begin = f"{_fill_names(syntax.begin, name=name)} {literal('{')}"
        return _sequence(begin, self._joined(parts, required, ","), literal("}" + syntax.end))

    def _argument(self, key: str, schema: object, prepared: Schema) -> str:
        syntax = self._syntax
        if syntax.body is Body.PYTHON:
            return f"{literal(key + '=')} {self._rule(lark.json_of(_property(prepared, key)))}"
        if syntax.body is Body.GEMMA:
            return f"{literal(key + ':')} {self._gemma_value(key, schema, prepared)}"
        is_text, value_end = is_plain_text(schema), syntax.value_end
        tag = _fill_names(syntax.key if is_text or not syntax.json_key else syntax.json_key, key=key)
        if values := _texts_of(schema):
            return f"{tag} {any_of(map(literal, values))} {literal(value_end)}"
        if is_text:
            return f"{tag} {self.text_before(value_end, syntax.key.partition('{')[0])}"
        return f"{tag} {self._rule(lark.json_of(_property(prepared, key)))} {literal(value_end)}"

    def _gemma_value(self, key: str, schema: object, prepared: Schema) -> str:
        if values := _texts_of(schema):
            return any_of(literal(f"{GEMMA_QUOTE}{one}{GEMMA_QUOTE}") for one in values)
        if is_plain_text(schema):
            return "gemma_text"
        kind = schema.get("type") if isinstance(schema, Mapping) else None
        if kind in ("integer", "number", "boolean", "null"):
            return self._rule(lark.json_of(_property(prepared, key)))
        return "gemma"

    def text_before(self, end: str, *others: str) -> str:
        """A rule for a text up to and including ``end``; the text contains neither ``end`` nor ``others``."""
        marks = tuple(mark for mark in (end.strip(), *others) if mark)
        if (end, *marks) not in self._texts:
            number = len(self._texts)
            forbidden = "|".join(re.escape(mark).replace("/", r"\/").replace("\\\n", r"\n") for mark in marks)
            # The end is in the same terminal, since a text that contains a prefix of the end would be ambiguous
            # otherwise.
            self.rules += [
                f"TEXT_{number}: /(?s:.*)/ & ~/(?s:.*)({forbidden})(?s:.*)/",
                f"VALUE_{number}: TEXT_{number} {literal(end)}",
            ]
            self._texts[end, *marks] = f"VALUE_{number}"
        return self._texts[end, *marks]

    def _joined(self, parts: Mapping[str, str], required: Iterable[str], separator: str) -> str:
        """Join parts with a separator; parts that are not in ``required`` are optional."""
        first, later, needed = "", "", set(required)  # the remaining parts before the first emitted part, and after it
        for key, part in reversed(tuple(parts.items())):
            item = self._rule(_sequence(part, later))
            next_item = self._rule(_sequence(literal(separator), part, later))
            if key in needed:
                first, later = item, next_item
            else:
                first = f"({item} | {first})" if first else f"{item}?"
                later = f"({next_item} | {later})" if later else f"{next_item}?"
        return first


def _texts_of(schema: object) -> list[str]:
    """The texts of a schema's enumerated values; empty if other values are allowed."""
    values = schema.get("enum") if isinstance(schema, Mapping) else None
    return [str(one) for one in values] if is_plain_text(schema) and isinstance(values, list) else []


def _property(root: Schema, key: str) -> Schema:
    """The schema of a property, with the definitions that its references need."""
    schema = root["properties"][key]
    if not isinstance(schema, dict) or '"$ref"' not in json.dumps(schema):
        return schema if isinstance(schema, dict) else {}
    pointer = key.replace("~", "~0").replace("/", "~1")
    return {"$ref": f"#/properties/{pointer}", **{name: value for name, value in root.items() if name in _DEFINITIONS}}
