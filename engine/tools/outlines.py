"""What calls of tools look like but for the values of their arguments: text to draft from.

A prompt defines its tools; how a call is laid out it says once, if at all. So the names in a call are found in the
prompt, but what stands between them is not, before a first call was made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from engine.tools.formats import SYNTAXES, Body, ToolFormat, takes_text

MAX_TOOLS = 128
MAX_KEYS = 12  # of one tool


class _Layout(NamedTuple):
    """What stands around the name, before another argument, and at the end."""

    begin: str
    before_arguments: str
    separator: str
    end: str


def call_outlines(tool_format: ToolFormat, tools: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The pieces of calls of ``tools`` (of `ChatRequest`), with a value between two; none for a form that is no object.

    As the form has them, and with indents, as Qwen2.5 Coder writes them into a block of Markdown whatever it was told.
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
            yield from _pieces(tool["function"], layout)


def _pieces(function: Mapping[str, Any], layout: _Layout) -> Iterator[str]:
    properties = (function.get("parameters") or {}).get("properties")
    arguments = list(properties.items())[:MAX_KEYS] if isinstance(properties, Mapping) else []
    piece = layout.begin + json.dumps(function["name"], ensure_ascii=False) + layout.before_arguments
    for place, (key, schema) in enumerate(arguments):
        quote = '"' if takes_text(schema) else ""
        yield f"{piece}{layout.separator if place else ''}{json.dumps(key, ensure_ascii=False)}: {quote}".rstrip(" ")
        piece = quote
    yield piece + layout.end
