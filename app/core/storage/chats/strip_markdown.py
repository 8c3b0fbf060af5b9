"""Removes Markdown from an excerpt of the full-text search.

Markup is recognized in the surrounding lines, since the search cuts excerpts anywhere. Matches are never removed. Uses
regular expressions instead of a parser, since excerpts must be ready while the user types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from app.core.domain.thinking import TAGS

BEGIN, END = "\x02", "\x03"  # around a match
ELLIPSIS = "…"
SEARCH_REACH = 400  # number of scanned characters before and after the excerpt
CELL, BULLET = " · ", "• "
_HIDDEN = "\x00"  # replaces recognized markup
_FENCE = re.compile(r"^ {0,3}(?P<ticks>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
_DASHES = r"[ \t]*:?-+:?[ \t]*"  # a cell of a table's delimiter row
_WHOLE_LINES = re.compile(
    rf"^[ \t]*(?:\|?{_DASHES}(?:\|{_DASHES})+\|?|\|{_DASHES}\||([-*_])[ \t]*(?:\1[ \t]*){{2,}}|=+)$", re.MULTILINE
)
_QUOTE = re.compile(r"^ {0,3}(?P<mark>(?:>[ \t]?)+)", re.MULTILINE)
_ITEM = re.compile(r"^[ \t\x00]*(?P<mark>[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)", re.MULTILINE)
_HEADING = re.compile(r"^[ \t\x00]*(?P<mark>#{1,6}[ \t]+)", re.MULTILINE)
_ROW = re.compile(r"^[ \t\x00]*\|[^\n]*$", re.MULTILINE)
_PIPE = re.compile(r"[ \t]*(?<!\\)\|[ \t]*")
_CODE = re.compile(r"(?<![\\`])(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)")
_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_LINK = re.compile(r"(?P<open>!?\[)[^\[\]\n]*(?P<turn>\]\()(?P<address>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*[^()\n]*)\)")
_ADDRESS = re.compile(r"<(?:https?://|mailto:)[^\s<>]+>")
_TAGS = re.compile("|".join(re.escape(tag) for pair in TAGS for tag in pair if not tag.isalpha()))
_EMPHASIS = tuple(
    re.compile(
        rf"(?<![\\{mark[0]}]){before}{re.escape(mark)}(?![\s{mark[0]}]).+?(?<![\s{mark[0]}]){re.escape(mark)}{after}"
    )
    for mark, before, after in (  # each mark, and conditions for the text before and after it
        ("***", "", r"(?!\*)"),
        ("**", "", r"(?!\*)"),
        ("*", "", r"(?!\*)"),
        ("__", r"(?<!\w)", r"(?![\w_])"),
        ("_", r"(?<!\w)", r"(?![\w_])"),
        ("~~", "", "(?!~)"),
    )
)
_MARKS = ("***", "**", "*", "__", "_", "~~")
Range = tuple[int, int]


def strip_markdown(text: str, excerpt: str) -> str:
    """The ``excerpt`` of ``text`` without Markdown; matches stay between `BEGIN` and `END`."""
    raw, found = _unmarked(excerpt)
    start, front, back = _find_excerpt(text, raw)
    if start < 0:  # not found in the text: return it as it is
        text, start, front, back = raw, 0, 0, 0
    end = start + len(raw) - front - back
    shift = start - front
    found = [(first + shift, last + shift) for first, last in found]
    shown = _shown(text, (start, end), found, _MarkupScanner(text, (start, end), found).dropped_ranges)
    words = " ".join(shown.split()).strip(CELL)
    return f"{raw[:front]}{words}{raw[len(raw) - back :]}"


def _unmarked(excerpt: str) -> tuple[str, list[Range]]:
    pieces = re.split(f"[{BEGIN}{END}]", excerpt)
    found, at = [], 0
    for number, piece in enumerate(pieces):
        if number % 2:
            found.append((at, at + len(piece)))
        at += len(piece)
    return "".join(pieces), found


def _find_excerpt(text: str, raw: str) -> tuple[int, int, int]:
    """The offset of the excerpt in the text, and the lengths of the dots before and after it."""
    before, behind = int(raw.startswith(ELLIPSIS)), int(raw.endswith(ELLIPSIS))
    for front, back in {(0, 0): 0, (before, 0): 0, (0, behind): 0, (before, behind): 0}:
        at = text.find(raw[front : len(raw) - back])
        if at >= 0:
            return at, front, back
    return -1, 0, 0


def _shown(text: str, part: Range, found: list[Range], drops: dict[Range, str]) -> str:
    """A part of the text without the dropped ranges, with marked matches."""
    start, end = part
    marks = {place: BEGIN for place, _ in found} | {place: END for _, place in found}
    pieces, at = [], start
    within = sorted(place for place in drops if place[0] < end and place[1] > start)
    cuts = [(max(first, start), min(last, end), drops[first, last]) for first, last in within]
    for first, last, instead in (*cuts, (end, end, "")):
        kept = sorted(place for place in marks if at <= place <= first)
        for place in kept:
            pieces += [text[at:place], marks.pop(place)]
            at = place
        pieces += [text[at:first], instead]
        at = max(last, at)
    return "".join(pieces)


class _MarkupScanner:
    """Scans the lines around an excerpt. ``dropped_ranges``: ranges of markup with their replacements."""

    def __init__(self, text: str, part: Range, found: list[Range]) -> None:
        self.dropped_ranges: dict[Range, str] = {}
        self._found = found
        start, end = part
        self._begin = max(text.rfind("\n", 0, start) + 1, start - SEARCH_REACH)
        line_end = text.find("\n", end, end + SEARCH_REACH)
        self._end = line_end if line_end >= 0 else min(len(text), end + SEARCH_REACH)
        self._unscanned = text[self._begin : self._end]
        self._cut = self._begin > 0 and text[self._begin - 1] != "\n"  # True if the first line is incomplete
        self._drop_fences(text)
        self._lines()
        self._drop_inline()

    def _drop_fences(self, text: str) -> None:
        """Keep the content of code blocks unchanged, but drop the fences."""
        opened, begins = "", 0
        if "```" not in text and "~~~" not in text:
            return
        for fence in _FENCE.finditer(text, 0, self._end):
            ticks = fence["ticks"]
            if opened and not (ticks.startswith(opened) and not fence["info"].strip()):
                continue
            if opened:
                self._hide(begins - self._begin, fence.start() - self._begin)
            opened, begins = ("", 0) if opened else (ticks, fence.end())
            for name in ("ticks", "info"):
                start, end = fence.span(name)
                self._drop(start - self._begin, end - self._begin)
        if opened:
            self._hide(begins - self._begin, self._end - self._begin)

    def _lines(self) -> None:
        for found in self._matches(_WHOLE_LINES, "-*_="):
            self._drop(*found.span())
        for pattern, signs, instead in ((_QUOTE, ">", ""), (_ITEM, "-*+", BULLET), (_HEADING, "#", "")):
            for found in self._matches(pattern, signs):
                self._drop(*found.span("mark"), instead)
        for row in self._matches(_ROW, "|"):
            for number, pipe in enumerate(_PIPE.finditer(self._unscanned, *row.span())):
                self._drop(*pipe.span(), CELL if number else "")

    def _matches(self, pattern: re.Pattern[str], signs: str) -> Iterator[re.Match[str]]:
        """Matches at the start of complete lines. A match contains at least one of ``signs``."""
        if any(sign in self._unscanned for sign in signs):
            yield from (found for found in pattern.finditer(self._unscanned) if found.start() or not self._cut)

    def _marked(self, pattern: re.Pattern[str], sign: str) -> Iterable[re.Match[str]]:
        """Matches of a pattern that needs ``sign``; searching for the sign first is much faster."""
        return pattern.finditer(self._unscanned) if sign in self._unscanned else ()

    def _drop_inline(self) -> None:
        for code in self._marked(_CODE, "`"):
            size = len(code["ticks"])
            self._drop(code.start(), code.start() + size)
            self._drop(code.end() - size, code.end())
            self._hide(*code.span())
        for pattern, sign in ((_ESCAPE, "\\"), (_TAGS, "")):
            for found in self._marked(pattern, sign):
                escaped = pattern is _ESCAPE
                self._drop(*found.span())
                self._hide(found.start(), found.end() + escaped)
        for link in self._marked(_LINK, "]("):
            self._link(link)
        for address in self._marked(_ADDRESS, "<"):
            self._drop(address.start(), address.start() + 1)
            self._drop(address.end() - 1, address.end())
            self._hide(*address.span())
        for pattern, mark in zip(_EMPHASIS, _MARKS, strict=True):
            for words in self._marked(pattern, mark):
                self._drop(words.start(), words.start() + len(mark))
                self._drop(words.end() - len(mark), words.end())

    def _link(self, link: re.Match[str]) -> None:
        self._drop(*link.span("open"))
        if self._is_found(*link.span("address")):  # keep the address if it contains a match
            self._drop(*link.span("turn"), " (")
            self._hide(*link.span("address"))
        else:
            self._drop(link.start("turn"), link.end())

    def _is_found(self, start: int, end: int) -> bool:
        return any(first < end + self._begin and start + self._begin < last for first, last in self._found)

    def _drop(self, start: int, end: int, instead: str = "") -> None:
        """Drop a range, unless it contains a match or is already hidden."""
        if start < end and not self._is_found(start, end):
            self.dropped_ranges[start + self._begin, end + self._begin] = instead
        self._hide(start, end)

    def _hide(self, start: int, end: int) -> None:
        start, end = max(start, 0), max(end, 0)
        self._unscanned = (
            self._unscanned[:start] + _HIDDEN * (min(end, len(self._unscanned)) - start) + self._unscanned[end:]
        )
