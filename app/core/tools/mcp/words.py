"""Cleans texts of servers for display and prompts: names, descriptions, schemas, results, log lines.

The texts are untrusted: they could control a terminal or mislead a reader. HTML stays, since it is shown as text.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

NAME_CHARS = 64  # maximum length of a tool's name in common APIs
SHOWN_CHARS = 80  # maximum length of a title and of a server's name
DESCRIPTION_CHARS = 4_000
SCHEMA_BYTES = 32 * 1024
_SCHEMA_DEPTH = 24
# CSI and OSC sequences, then other escape sequences (ECMA-48).
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)|\x1b.?", re.DOTALL)
# Control characters except tab and line end. Then characters that change the writing direction or are invisible.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_READ_FIELDS = ("description", "title")  # fields of a schema that models and people read


def plain_text(text: str) -> str:
    """Remove escape sequences, control characters and lone surrogates from a text."""
    text = _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return whole_characters(_CONTROLS.sub("", text))


def one_line(text: str, max_chars: int = SHOWN_CHARS) -> str:
    """A name as one line without invisible characters, shortened with an ellipsis."""
    line = " ".join(_INVISIBLE.sub("", plain_text(text[: 16 * max_chars])).split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def description(text: str) -> str:
    """A tool's description without invisible characters, shortened."""
    cleaned = _INVISIBLE.sub("", plain_text(text[: 2 * DESCRIPTION_CHARS])).strip()
    return cleaned if len(cleaned) <= DESCRIPTION_CHARS else cleaned[: DESCRIPTION_CHARS - 1] + "…"


def whole_characters(text: str) -> str:
    """Replace lone surrogates."""
    return _SURROGATES.sub("\ufffd", text)


def tool_name(name: str) -> str:
    """Reduce a name to letters, digits, ``_`` and ``-``; may become empty."""
    letters = unicodedata.normalize("NFKD", plain_text(name[: 16 * NAME_CHARS]))
    letters = "".join(char for char in letters if not unicodedata.combining(char))
    return _NO_NAME.sub("_", letters).strip("_")[:NAME_CHARS]


def tool_names(names: Iterable[str]) -> dict[str, str]:
    """Unique names by the tools' own names. An empty or duplicate name gets a digest.

    Valid names stay the same. No name depends on the order of the list.
    """
    found = dict[str, str]()
    taken = set[str]()
    for name in sorted(set(names), key=lambda one: (tool_name(one) != one, one)):
        made = tool_name(name)
        if not made or made in taken or len(name) > NAME_CHARS:
            from hashlib import sha256  # noqa: PLC0415  (the start has no use for it)

            digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            made = f"{made[: NAME_CHARS - 9] or 'tool'}_{digest}"
        taken.add(made)
        found[name] = made
    return found


def unique_name(name: str, server: str, taken: AbstractSet[str]) -> str:
    """The name; if it is taken, with the server's name as prefix; if that is taken, too, with a number."""
    if name not in taken:
        return name
    prefixed = f"{tool_name(server)[:24] or 'server'}_{name}"[:NAME_CHARS]
    number, found = 1, prefixed
    while found in taken:
        number += 1
        found = f"{prefixed[: NAME_CHARS - 8]}_{number}"
    return found


def schema(given: object, *, is_bounded: bool = True) -> dict[str, object] | None:
    """The schema of a tool's arguments; None if it is too large or too deep, or is no object schema.

    Descriptions and titles are cleaned. Values and names stay unchanged, since the server expects them. Without a
    schema any arguments are allowed.
    """
    given = {} if given is None or given is True else given
    if not isinstance(given, Mapping):
        return None
    kind = given.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        return None
    shapes = {"properties": dict, "required": list}
    made = {
        key: value for key, value in {**given, "type": "object"}.items() if isinstance(value, shapes.get(key, object))
    }
    if not is_bounded:
        return made
    try:
        cleaned = _clean_schema(made, _SCHEMA_DEPTH)
        size = len(json.dumps(cleaned))
    except (ValueError, RecursionError):
        return None
    return cleaned if size <= SCHEMA_BYTES and isinstance(cleaned, dict) else None


def _clean_schema(value: object, depth: int, *, is_told: bool = False) -> object:
    """Clean a value; ``is_told``: it is a description or a title."""
    if depth == 0:
        raise ValueError("nested too deep")
    if isinstance(value, str):
        return description(value) if is_told else whole_characters(value)
    if isinstance(value, Mapping):
        return {
            whole_characters(str(key)): _clean_schema(inner, depth - 1, is_told=key in _READ_FIELDS)
            for key, inner in value.items()
        }
    if isinstance(value, Sequence):
        return [_clean_schema(inner, depth - 1) for inner in value]
    return value
