"""Which characters of a rendered answer came from which source. Pure: text and spans in, ranges out; no Qt.

Rendering drops marks (`**`, fences, addresses); `ui.markdown_places` says where in the raw text each shown character
stands. A widget lays spaces out in its own way, so only the others are compared.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.records import Source, TokenSpan
from ui.markdown_places import Drawn

LOOK_AHEAD_CHARS = 40
NEXT_CHARS = 8  # of formatting, where the token that was kept is not shown itself
OBJECT = "\N{OBJECT REPLACEMENT CHARACTER}"  # how a typeset formula stands in a document


@dataclass(frozen=True, slots=True)
class MarkedRange:
    """``length`` UTF-16 units from ``start`` on, as Qt counts them, that came from one source."""

    start: int
    length: int
    source: Source


# A pass gives its accepted tokens, and then exactly one of these.
_ENDS = frozenset({Source.RECOVERED, Source.BONUS, Source.TARGET})


@dataclass(frozen=True, slots=True)
class PassView:
    """What one pass gave: the texts of its accepted tokens, what was rejected, and the token that came instead."""

    accepted: tuple[str, ...]
    rejected: str
    last: str
    source: Source


@dataclass(slots=True)
class SourceRuns:
    """The sources of a raw text, one for each of its characters, and the tokens that they belong to."""

    sources: list[Source] = field(default_factory=list)
    spans: list[TokenSpan] = field(default_factory=list)

    def extend(self, spans: Iterable[TokenSpan]) -> None:
        """More characters at the end."""
        for span in spans:
            self.sources.extend([span.source] * span.num_chars)
            self.spans.append(span)

    def rejections(self) -> list[tuple[int, int, str]]:
        """Where tokens came in the place of refused ones: begin and end in the raw text, and the refused text."""
        found, place = [], 0
        for span in self.spans:
            if span.rejected:
                found.append((place, place + span.num_chars, span.rejected))
            place += span.num_chars
        return found

    def pass_at(self, raw: str, place: int) -> PassView | None:
        """The pass that gave the character at ``place`` of the raw text."""
        begin, end, first = 0, 0, 0
        for number, span in enumerate(self.spans):
            end += span.num_chars
            if span.source in _ENDS or number == len(self.spans) - 1:
                if place < end:
                    return self._pass(raw, begin, self.spans[first : number + 1])
                begin, first = end, number + 1
        return None

    @staticmethod
    def _pass(raw: str, begin: int, spans: Sequence[TokenSpan]) -> PassView:
        texts = []
        for span in spans:
            texts.append(raw[begin : begin + span.num_chars])
            begin += span.num_chars
        last = spans[-1]
        if last.source in _ENDS:
            return PassView(tuple(texts[:-1]), last.rejected, texts[-1], last.source)
        return PassView(tuple(texts), "", "", last.source)  # the answer ended within the pass

    def locate(self, shown: str, drawn: Drawn) -> list[MarkedRange]:
        """The ranges of one source each in a shown text; none where the spans do not reach that far."""
        found: list[MarkedRange] = []
        unit, start = 0, 0
        current: Source | None = None
        before = ""
        for char, place in zip(shown, places_of(shown, drawn), strict=True):
            if OBJECT in (char, before):  # a formula is marked on its own
                _close(found, start, unit, current)
                current = None
            before = char
            source = None if char in "\n\u2029" else current  # a range over table cells would mark them whole
            if not char.isspace():
                source = self.sources[place] if 0 <= place < len(self.sources) else None
            if source is not current:
                _close(found, start, unit, current)
                current, start = source, unit
            unit += 2 if ord(char) > 0xFFFF else 1
        _close(found, start, unit, current)
        return found


def places_of(shown: str, drawn: Drawn) -> list[int]:
    """Where in the raw text each character of ``shown`` stands; -1 for spaces and for what is not from there."""
    ends = dict(drawn.formulas)
    text, number, places = drawn.text, 0, []
    for char in shown:
        if char.isspace():
            places.append(-1)
            continue
        while number < len(text) and text[number].isspace():
            number += 1
        if char == OBJECT and number in ends:
            places.append(drawn.places[number])
            number = ends[number]
            continue
        if number >= len(text) or text[number] != char:
            found = text.find(char, number, number + LOOK_AHEAD_CHARS)
            if found < 0:
                places.append(-1)
                continue
            number = found
        places.append(drawn.places[number])
        number += 1
    return places


def formula_units(shown: str) -> frozenset[int]:
    """The UTF-16 units of a shown text at which typeset formulas stand."""
    if OBJECT not in shown:
        return frozenset()
    units, unit = set(), 0
    for char in shown:
        if char == OBJECT:
            units.add(unit)
        unit += 2 if ord(char) > 0xFFFF else 1
    return frozenset(units)


def refused_at(shown: str, drawn: Drawn, rejections: Sequence[tuple[int, int, str]]) -> list[tuple[int, str]]:
    """UTF-16 units of ``shown`` before which refused text stood, and that text; only what stands in ``shown``."""
    units, unit = [], 0
    for char, place in zip(shown, places_of(shown, drawn), strict=True):
        if place >= 0:
            units.append((place, unit))
        unit += 2 if ord(char) > 0xFFFF else 1
    units.sort()
    found = []
    for begin, end, text in rejections:
        index = bisect_left(units, (begin, 0))
        if index < len(units) and (units[index][0] < max(end, begin + 1) + NEXT_CHARS):
            before = units[index - 1][0] if index else None
            if before is not None or units[index][0] < max(end, begin + 1):
                found.append((units[index][1], text))
    return found


def place_at(shown: str, drawn: Drawn, position: int) -> int | None:
    """Where in the raw text the character at UTF-16 unit ``position`` of ``shown`` stands."""
    unit = 0
    for char, place in zip(shown, places_of(shown, drawn), strict=True):
        width = 2 if ord(char) > 0xFFFF else 1
        if unit <= position < unit + width:
            return place if place >= 0 else None
        unit += width
    return None


def _close(found: list[MarkedRange], start: int, end: int, source: Source | None) -> None:
    if source is not None and end > start:
        found.append(MarkedRange(start, end - start, source))
