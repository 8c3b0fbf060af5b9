"""The grammar of an answer that has to call a tool, in the form of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.grammar.gbnf import CharacterSet, RuleBook, any_of, literal
from engine.grammar.json_schema import SchemaRules
from engine.grammar.json_text import spelled
from engine.tools.formats import GEMMA_QUOTE, SYNTAXES, Body, CallSyntax, ToolFormat, takes_text

MAX_CALLS = 16
_SLOTS = {
    "{id}": "[a-zA-Z0-9]{9}",
    "{index}": "[0-9]{1,2}",
    "{type}": '("number" | "boolean" | "object" | "array" | "null")',
}
Function = Mapping[str, Any]


def calls_grammar(tool_format: ToolFormat, functions: Sequence[Function], *, many: bool) -> str:
    """The grammar of calls of ``functions``: name and JSON schema of the ``parameters``, as OpenAI's API has them.

    One call, or several where ``many`` says so and the form has them.

    Raises:
        GrammarError: a grammar cannot promise what a schema demands.
    """
    rules, syntax = RuleBook(), SYNTAXES[tool_format]
    call = rules.add(any_of(_call(rules, syntax, function) for function in functions), "call")
    block, block_end = _literal(syntax.block), _literal(syntax.block_end)
    if syntax.is_block_each:
        call, block, block_end = rules.add(f"{block} {call} {block_end}", "block"), "", ""
    if many and syntax.mark:
        call = f"{call} ({_literal(syntax.separator)} {call}){{0,{MAX_CALLS - 1}}}"
    return rules.text(f"{block} {call} {block_end}")


def _literal(text: str) -> str:
    return literal(text) if text else ""


def _filled(pattern: str, **values: str) -> str:
    """A part of a call with a name in it, as GBNF."""
    for name, value in values.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    parts = [pattern]
    for slot, symbol in _SLOTS.items():
        parts = [each for part in parts for each in _split(part, slot, symbol)]
    return " ".join(part if part in _SLOTS.values() else _literal(part) for part in parts)


def _split(part: str, slot: str, symbol: str) -> list[str]:
    before, found, after = part.partition(slot)
    return [one for one in (before, symbol, after) if one] if found and part not in _SLOTS.values() else [part]


def _call(rules: RuleBook, syntax: CallSyntax, function: Function) -> str:
    name, parameters = function["name"], function.get("parameters") or {"type": "object", "properties": {}}
    writers: dict[Body, Callable[[RuleBook, CallSyntax, str, Function], str]] = {
        Body.TAGS: _tagged,
        Body.PYTHON: _python,
        Body.GEMMA: _gemma,
    }
    if syntax.body in writers:
        return rules.add(writers[syntax.body](rules, syntax, name, parameters), "call")
    arguments = SchemaRules(parameters, rules).symbol(parameters)
    if syntax.body is Body.ARGUMENTS:
        return rules.add(f"{_filled(syntax.begin, name=name)} {arguments} {_literal(syntax.end)}", "call")
    if syntax.body is Body.NAMED_OBJECT:
        return rules.add(f'"{{" {spelled(name)} ": " {arguments} "}}"', "call")
    head = f'"{{" {spelled(syntax.name_key)} ": " {spelled(name)} ", " {spelled(syntax.arguments_key)} ": "'
    return rules.add(f'{head} {arguments} "}}"', "call")


def _tagged(rules: RuleBook, syntax: CallSyntax, name: str, parameters: Function) -> str:
    """A call whose parameters stand between tags, in the schema's order: strings as they are, all else as JSON.

    Of strings no more than their ``enum`` is promised: what else a schema says of one is about JSON's spelling.
    """
    schemas = SchemaRules(parameters, rules)
    parts = [_filled(syntax.begin, name=name)]
    for key, schema in parameters.get("properties", {}).items():
        is_text = takes_text(schema)
        values = schema.get("enum") if isinstance(schema, dict) else None
        if is_text and values:
            value = any_of(literal(str(one)) for one in values)
        elif is_text:
            value = _text_without(rules, (syntax.value_end.strip().replace("{key}", key), syntax.key.partition("{")[0]))
        else:
            value = schemas.symbol(schema)
        tag = syntax.key if is_text or not syntax.json_key else syntax.json_key
        part = f"{_filled(tag, key=key)} {value} {_filled(syntax.value_end, key=key)}"
        parts.append(part if key in parameters.get("required", ()) else f"({part})?")
    return " ".join((*parts, _literal(syntax.end)))


def _python(rules: RuleBook, _: CallSyntax, name: str, parameters: Function) -> str:
    """A call as Python has it; its literals are those of JSON."""
    schemas = SchemaRules(parameters, rules)
    parts = {
        key: f"{literal(key + '=')} {schemas.symbol(schema)}"
        for key, schema in parameters.get("properties", {}).items()
    }
    return f'{literal(name + "(")} {_joined(rules, parts, parameters, ", ")} ")"'


def _gemma(rules: RuleBook, syntax: CallSyntax, name: str, parameters: Function) -> str:
    """A call as Gemma has it. What is no text, number or word in it may be anything."""
    schemas, quote = SchemaRules(parameters, rules), literal(GEMMA_QUOTE)
    text = f"{quote} {_text_without(rules, (GEMMA_QUOTE,))} {quote}"
    parts = {}
    for key, schema in parameters.get("properties", {}).items():
        given = schema if isinstance(schema, dict) else {}
        if takes_text(schema) and isinstance(given.get("enum"), list):
            value = any_of(f"{quote} {literal(str(one))} {quote}" for one in given["enum"])
        elif takes_text(schema):
            value = text
        elif given.get("type") in ("integer", "number", "boolean", "null"):
            value = schemas.symbol(schema)
        else:
            value = _gemma_value(rules, text)
        parts[key] = f"{literal(key + ':')} {value}"
    return (
        f'{_filled(syntax.begin, name=name)} "{{" {_joined(rules, parts, parameters, ",")} "}}" {literal(syntax.end)}'
    )


def _gemma_value(rules: RuleBook, text: str) -> str:
    if "gemma" not in rules.shared:
        name = rules.shared["gemma"] = rules.reserve("gemma")
        word = '("-"? [0-9]+ ("." [0-9]+)? | "true" | "false" | "null")'
        member = f'[a-zA-Z0-9_-]+ ":" {name}'
        items, members = f'({name} ("," {name})*)?', f'({member} ("," {member})*)?'
        rules.define(name, f'{text} | {word} | "[" {items} "]" | "{{" {members} "}}"')
    return rules.shared["gemma"]


def _joined(rules: RuleBook, parts: Mapping[str, str], parameters: Function, separator: str) -> str:
    """Parts with a text between them; those that are not required may be left out."""
    required = parameters.get("required", ())
    first, later = "", ""  # what follows, where none was written before, and where one was
    for key, part in reversed(tuple(parts.items())):
        item = rules.add(f"{part} {later}", "part")
        next_item = rules.add(f"{literal(separator)} {part} {later}", "part")
        if key in required:
            first, later = item, next_item
        else:
            first = f"({item} | {first})" if first else f"{item}?"
            later = f"({next_item} | {later})" if later else f"{next_item}?"
    return first


def _text_without(rules: RuleBook, forbidden: tuple[str, ...]) -> str:
    """A text that has none of some texts in it: a rule for each beginning of one that was just written.

    The automaton of Aho and Corasick (1975, https://doi.org/10.1145/360825.360855).
    """
    key = "without " + "\0".join(forbidden)
    if key in rules.shared:
        return rules.shared[key]
    states = dict.fromkeys(("", *(text[:length] for text in forbidden for length in range(1, len(text)))))
    names = {state: rules.reserve("text") for state in states}
    rules.shared[key] = names[""]
    letters = dict.fromkeys("".join(forbidden))
    for state, name in names.items():
        choices: dict[str, CharacterSet] = {"": ~CharacterSet.of("".join(letters))}
        for letter in letters:
            written = state + letter
            if any(written.endswith(text) for text in forbidden):
                continue
            target = next(written[start:] for start in range(len(written) + 1) if written[start:] in names)
            choices[target] = choices.get(target, CharacterSet()) | CharacterSet.of(letter)
        rules.define(name, f"({any_of(f'{chars.symbol()} {names[to]}' for to, chars in choices.items())})?")
    return names[""]
