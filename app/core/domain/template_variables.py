"""Parses variables of a chat template that the user types: `reasoning_effort=high, with_date=true`."""

import re
from collections.abc import Iterable

from engine.records import TemplateValue
from engine.sentences import i18n

MAX_VARIABLES = 32
MAX_CHARS = 2000  # maximum length of a value
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
# names that the engine sets
RESERVED = frozenset({"messages", "tools", "documents", "add_generation_prompt", "bos_token", "eos_token"})
_WORDS: dict[str, TemplateValue] = {"true": True, "false": False}


def read_variables(text: str) -> tuple[tuple[str, TemplateValue], ...]:
    """Read comma-separated variables. `true`, `false` and numbers become such values, everything else text.

    Raises:
        ValueError: a part is not ``name=value``, or its name is invalid or reserved.
    """
    return checked(_read(part) for part in text.split(",") if part.strip())


def checked(variables: Iterable[tuple[str, TemplateValue]]) -> tuple[tuple[str, TemplateValue], ...]:
    """Check the variables; returns each once, in order.

    Raises:
        ValueError: a name is invalid or reserved, a text is too long, or there are too many.
    """
    found: dict[str, TemplateValue] = {}
    for name, value in variables:
        if not _NAME.fullmatch(name):
            raise ValueError(i18n("{name} is not a valid variable name.", name=repr(name[:80])))
        if name in RESERVED:
            raise ValueError(i18n("{name} is set by Paceline itself.", name=name))
        if isinstance(value, str) and len(value) > MAX_CHARS:
            raise ValueError(i18n("The value of {name} has more than {most:,} characters.", name=name, most=MAX_CHARS))
        found[name] = value
    if len(found) > MAX_VARIABLES:
        raise ValueError(i18n("There are more than {most} variables.", most=MAX_VARIABLES))
    return tuple(found.items())


def _read(part: str) -> tuple[str, TemplateValue]:
    name, equals, text = (piece.strip() for piece in part.partition("="))
    if not equals:
        raise ValueError(i18n("{part} is not of the form name=value.", part=repr(part.strip()[:80])))
    if text.lower() in _WORDS:
        return name, _WORDS[text.lower()]
    try:
        return name, int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else float(text) if _is_number(text) else text
    except ValueError:
        return name, text


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d{1,18}\.\d{1,18}", text) is not None
