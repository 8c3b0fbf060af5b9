"""The marks between parts of a Markdown export: HTML comments with a number.

    <!-- paceline 1 {"role": "user"} -->
    ## You

    words

Comments are invisible in rendered Markdown (CommonMark 0.31, HTML blocks of type 2). No part of the export contains a
mark with the same number, so that an export that contains another export is split correctly.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MAX_MARK_CHARS = 100_000
_USED = re.compile(r"<!-- paceline (\d{1,9}) ")
_FIRST = re.compile(r"\A\ufeff?\s*(?:#[^\n]*\n\s*)?<!-- paceline (\d{1,9}) \{[^\n]*\} -->(\r?)(?:\n|\Z)")
_ESCAPED = {"<": "\\u003c", ">": "\\u003e"}  # so that no text ends the comment early


@dataclass(frozen=True, slots=True)
class MarkedPart:
    """The fields of a mark, and the text up to the next mark."""

    fields: Mapping[str, Any]
    text: str


def free_number(texts: Iterable[str]) -> int:
    """The smallest number that is not in a mark within ``texts``."""
    taken = {int(number) for text in texts for number in _USED.findall(text)}
    return next(number for number in itertools.count(1) if number not in taken)


def to_text(parts: Iterable[MarkedPart], number: int) -> str:
    """Write parts, each after its mark. A first part without ``fields`` gets no mark."""
    pieces = [f"{_mark(part.fields, number)}{part.text}\n\n" if part.fields else f"{part.text}\n\n" for part in parts]
    return "".join(pieces).removesuffix("\n")


def fits(fields: Mapping[str, Any]) -> bool:
    return len(_mark(fields, 0)) < MAX_MARK_CHARS


def is_marked(text: str) -> bool:
    """True if a text is an export with marks; the start of the text is enough."""
    return _FIRST.match(text) is not None


def parts_of(text: str) -> Iterator[MarkedPart]:
    """Yield the parts of an export with marks; no parts for other texts.

    An unreadable mark becomes a part without fields. CRLF line ends are converted.
    """
    first = _FIRST.match(text)
    if first is None:
        return
    if first.group(2):
        text = text.replace("\r\n", "\n")
    found = re.compile(
        rf"^<!-- paceline {first.group(1)} (\{{[^\n]{{0,{MAX_MARK_CHARS}}}\}}) -->(?:\n|\Z)", re.MULTILINE
    )
    text += "\n"  # other parts end with two line ends, the last part with one
    last: re.Match[str] | None = None
    for mark in found.finditer(text):
        if last is not None:
            yield _part(last, text, mark.start())
        last = mark
    if last is not None:
        yield _part(last, text, len(text))


def _mark(fields: Mapping[str, Any], number: int) -> str:
    written = json.dumps(fields, ensure_ascii=False)
    for char, escaped in _ESCAPED.items():
        written = written.replace(char, escaped)
    return f"<!-- paceline {number} {written} -->\n"


def _part(mark: re.Match[str], text: str, end: int) -> MarkedPart:
    begin = mark.end()
    for _ in range(2):
        if end > begin and text[end - 1] == "\n":
            end -= 1
    return MarkedPart(_parse_fields(mark.group(1)), text[begin:end])


def _parse_fields(written: str) -> dict[str, Any]:
    try:
        fields = json.loads(written)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}
