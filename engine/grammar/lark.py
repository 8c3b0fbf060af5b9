"""Writes grammars for llguidance, in its dialect of Lark.

The dialect: https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

# Allow every tokenization of a text; otherwise forced text could have only the tokenizer's own tokens.
HEADER = '%llguidance {"no_forcing": true}\n'
# Spaces as in Python's json: then all text between two values is forced, and no model can emit endless spaces. Lenient:
# keywords that `schema_preparation` overlooked give a warning instead of an error.
_OPTIONS = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "lenient": True,
}
_JSON, _OPTIONS_KEY = "%json ", "x-guidance"


def is_lark(grammar: str) -> bool:
    """Whether a grammar is in this dialect; otherwise it is GBNF."""
    return grammar.startswith(HEADER)


def literal(text: str) -> str:
    return json.dumps(text)


def any_of(choices: Iterable[str]) -> str:
    return "(" + " | ".join(choices) + ")"


def json_of(schema: Mapping[str, Any]) -> str:
    """A terminal for JSON that conforms to a prepared schema.

    Raises:
        ValueError: the schema has a number that JSON cannot represent.
    """
    return _JSON + json.dumps({**schema, _OPTIONS_KEY: _OPTIONS}, allow_nan=False)


def schema_of(grammar: str) -> dict[str, Any] | None:
    """The schema of a grammar that consists of a single schema; otherwise None."""
    begin = f"{HEADER}start: {_JSON}"
    if not grammar.startswith(begin) or grammar.count("\n") > 2:
        return None
    schema: dict[str, Any] = json.loads(grammar.removeprefix(begin))
    schema.pop(_OPTIONS_KEY)
    return schema
