"""Makes what servers say fit for people and prompts: names, descriptions, schemas, results, lines of their logs.

All of it is a stranger's: terminals could be steered by it, and readers misled. HTML is left: it is shown as text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

NAME_CHARS = 64  # of a tool, as APIs of the field have it
SHOWN_CHARS = 80  # of a title, and of a server's name
DESCRIPTION_CHARS = 4_000
SCHEMA_BYTES = 32 * 1024
_SCHEMA_DEPTH = 24
# CSI and OSC sequences, then other escapes (ECMA-48).
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)|\x1b.?", re.DOTALL)
# Control characters but for tab and line end; those that turn the direction of writing, or cannot be seen.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNSEEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_TOLD = ("description", "title")  # of a schema: read by models and people


def plain_text(text: str) -> str:
    """A text of many lines without escape sequences, control characters and halves of characters."""
    text = _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return whole_characters(_CONTROLS.sub("", text))


def one_line(text: str, max_chars: int = SHOWN_CHARS) -> str:
    """A name as people see it: one line without anything unseen, with an ellipsis where it is too long."""
    line = " ".join(_UNSEEN.sub("", plain_text(text[: 16 * max_chars])).split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def description(text: str) -> str:
    """What a tool says about itself: without what is unseen, which people could not check, and bounded."""
    cleaned = _UNSEEN.sub("", plain_text(text[: 2 * DESCRIPTION_CHARS])).strip()
    return cleaned if len(cleaned) <= DESCRIPTION_CHARS else cleaned[: DESCRIPTION_CHARS - 1] + "…"


def whole_characters(text: str) -> str:
    """The text with a sign in the place of each half of a character."""
    return _SURROGATES.sub("\ufffd", text)


def tool_name(name: str) -> str:
    """A name of letters, digits, ``_`` and ``-``; empty where nothing is left of it."""
    letters = unicodedata.normalize("NFKD", plain_text(name[: 16 * NAME_CHARS]))
    letters = "".join(char for char in letters if not unicodedata.combining(char))
    return _NO_NAME.sub("_", letters).strip("_")[:NAME_CHARS]


def tool_names(names: Iterable[str]) -> dict[str, str]:
    """The names that tools get, by their own: where nothing is left of one, or it would be another's, with a digest.

    Names that are usable as they are stay. What a tool is called depends on the order of the list for none.
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
    """The name, with the server's before it where it is taken, and a number behind it where that is, too."""
    if name not in taken:
        return name
    prefixed = f"{tool_name(server)[:24] or 'server'}_{name}"[:NAME_CHARS]
    number, found = 1, prefixed
    while found in taken:
        number += 1
        found = f"{prefixed[: NAME_CHARS - 8]}_{number}"
    return found


def schema(given: object, *, is_bounded: bool = True) -> dict[str, object] | None:
    """The schema of a tool's arguments; None where it is too large or too deep, or no object's.

    Descriptions and titles are cleaned. Values and names stay to the letter: the server wants them so. Where nothing is
    said of the arguments, any may be given.
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
        cleaned = _cleaned(made, _SCHEMA_DEPTH)
        size = len(json.dumps(cleaned))
    except (ValueError, RecursionError):
        return None
    return cleaned if size <= SCHEMA_BYTES and isinstance(cleaned, dict) else None


def _cleaned(value: object, depth: int, *, is_told: bool = False) -> object:
    """``is_told``: a text that is read as one."""
    if depth == 0:
        raise ValueError("nested too deep")
    if isinstance(value, str):
        return description(value) if is_told else whole_characters(value)
    if isinstance(value, Mapping):
        return {
            whole_characters(str(key)): _cleaned(inner, depth - 1, is_told=key in _TOLD) for key, inner in value.items()
        }
    if isinstance(value, Sequence):
        return [_cleaned(inner, depth - 1) for inner in value]
    return value
