"""Writes grammars for llguidance, in its dialect of Lark.

The dialect: https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

# Any spelling of a text in tokens may be written: else, of what is forced, only the one that the vocabulary makes.
HEADER = '%llguidance {"no_forcing": true}\n'
# Spaces as Python's json sets them: so everything between two values is known beforehand, and no model goes on with
# spaces for ever. What the schema's preparation overlooked is left out rather than refused, and told.
_OPTIONS = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": ", "lenient": True}
_JSON, _OPTIONS_KEY = "%json ", "x-guidance"


def is_lark(grammar: str) -> bool:
    """Whether a grammar was written here; else it is in GBNF."""
    return grammar.startswith(HEADER)


def literal(text: str) -> str:
    """A text that must stand there."""
    return json.dumps(text)


def any_of(choices: Iterable[str]) -> str:
    """One of several, as a group."""
    return "(" + " | ".join(choices) + ")"


def json_of(schema: Mapping[str, Any]) -> str:
    """JSON that is valid by a schema, which `engine.grammar.schema_preparation` has made.

    Raises:
        ValueError: it has a number that JSON has no word for.
    """
    return _JSON + json.dumps({**schema, _OPTIONS_KEY: _OPTIONS}, allow_nan=False)


def schema_of(grammar: str) -> dict[str, Any] | None:
    """The schema of a grammar that is nothing else; None of others."""
    begin = f"{HEADER}start: {_JSON}"
    if not grammar.startswith(begin) or grammar.count("\n") > 2:
        return None
    schema: dict[str, Any] = json.loads(grammar.removeprefix(begin))
    schema.pop(_OPTIONS_KEY)
    return schema
