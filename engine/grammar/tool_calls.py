"""The grammar of an answer that has to call a tool, in the format of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.grammar.gbnf import RuleBook, any_of, literal
from engine.grammar.json_schema import SchemaRules
from engine.grammar.json_text import spelled
from engine.tool_formats import ARGS, TOOL_CALL, TOOL_CALL_END, TOOL_CALLS, ToolFormat

MAX_CALLS = 16


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
    if tool_format is ToolFormat.HERMES:
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
    arguments = SchemaRules(parameters, rules).symbol(parameters)
    if tool_format is ToolFormat.MISTRAL_ARGS:
        return rules.add(f"{literal(TOOL_CALLS + function['name'] + ARGS)} {arguments}", "call")
    key = "parameters" if tool_format is ToolFormat.LLAMA else "arguments"
    begin = f'"{{" {spelled("name")} ": " {spelled(function["name"])} ", " {spelled(key)} ": "'
    return rules.add(f'{begin} {arguments} "}}"', "call")
