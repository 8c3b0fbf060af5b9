"""Outlines of tool calls, without the arguments' values, as text for suffix matching.

A prompt defines its tools, but shows the layout of a call at most once. So before the first call, matches in the prompt
give the names, but not the text between them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from engine.tools.formats import SYNTAXES, Body, ToolFormat, is_plain_text

MAX_TOOLS = 128
MAX_KEYS = 12  # keys per tool


class _Layout(NamedTuple):
    """The text around a call's name, between arguments, and at the end."""

    begin: str
    before_arguments: str
    separator: str
    end: str


def call_outlines(tool_format: ToolFormat, tools: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the text of calls of ``tools`` (see `ChatRequest`) between their values, for formats with a JSON object.

    Yields the format's layout, and an indented layout that Qwen2.5 Coder writes into a Markdown block.
    """
    syntax = SYNTAXES[tool_format] if tool_format else None
    if syntax is None or syntax.body is not Body.OBJECT:
        return
    name, arguments = syntax.name_key, syntax.arguments_key
    layouts = (
        _Layout(f'{{"{name}": ', f', "{arguments}": {{', ", ", "}}"),
        _Layout(f'{{\n  "{name}": ', f',\n  "{arguments}": {{\n    ', ",\n    ", "\n  }\n}\n```"),
    )
    for tool in tools[:MAX_TOOLS]:
        for layout in layouts:
            yield from _call_texts(tool["function"], layout)


def _call_texts(function: Mapping[str, Any], layout: _Layout) -> Iterator[str]:
    properties = (function.get("parameters") or {}).get("properties")
    arguments = list(properties.items())[:MAX_KEYS] if isinstance(properties, Mapping) else []
    piece = layout.begin + json.dumps(function["name"], ensure_ascii=False) + layout.before_arguments
    for number, (key, schema) in enumerate(arguments):
        quote = '"' if is_plain_text(schema) else ""
        yield f"{piece}{layout.separator if number else ''}{json.dumps(key, ensure_ascii=False)}: {quote}".rstrip(" ")
        piece = quote
    yield piece + layout.end
