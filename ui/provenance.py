"""Which characters of a rendered answer came from which source. Pure: text and spans in, ranges out; no Qt.

Rendering drops marks (`**`, fences, addresses), so shown characters are found again in the raw text from left to right.
Next to a link a few characters may be taken from its address; everything else was exact in trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.records import Source, TokenSpan

LOOK_AHEAD_CHARS = 200


@dataclass(frozen=True, slots=True)
class MarkedRange:
    """``length`` UTF-16 units from ``start`` on, as Qt counts them, that came from one source."""

    start: int
    length: int
    source: Source


@dataclass(frozen=True, slots=True)
class Located:
    """The ranges of one shown text, and where the raw text goes on behind it."""

    ranges: list[MarkedRange]
    place: int


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

    def place_of(self, raw: str, shown: Sequence[str], view: int, position: int) -> int | None:
        """Where in the raw text the character at UTF-16 unit ``position`` of ``shown[view]`` stands."""
        if len(self.sources) != len(raw):
            return None
        place = self.locate(raw, shown[:view])[-1].place if view else 0
        unit = 0
        for char in shown[view]:
            index = -1 if char.isspace() else raw.find(char, place, place + LOOK_AHEAD_CHARS)
            width = 2 if ord(char) > 0xFFFF else 1
            if unit <= position < unit + width:
                return index if index >= 0 else None
            place = index + 1 if index >= 0 else place
            unit += width
        return None

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

    def locate(self, raw: str, shown: Sequence[str], place: int = 0) -> list[Located]:
        """For each shown text, in order, its ranges of one source each; the first begins at ``place`` of the raw text.

        No ranges where the spans do not fit the text.
        """
        if len(self.sources) != len(raw):
            return [Located([], place) for _ in shown]
        result = []
        for text in shown:
            ranges, place = self._locate_one(raw, text, place)
            result.append(Located(ranges, place))
        return result

    def _locate_one(self, raw: str, text: str, place: int) -> tuple[list[MarkedRange], int]:
        found: list[MarkedRange] = []
        unit, start = 0, 0
        current: Source | None = None
        for char in text:
            source = None if char in "\n\u2029" else current  # a range over table cells would mark them whole
            if not char.isspace():
                index = raw.find(char, place, place + LOOK_AHEAD_CHARS)
                source = self.sources[index] if index >= 0 else None
                place = index + 1 if index >= 0 else place
            if source is not current:
                _close(found, start, unit, current)
                current, start = source, unit
            unit += 2 if ord(char) > 0xFFFF else 1
        _close(found, start, unit, current)
        return found, place


def _close(found: list[MarkedRange], start: int, end: int, source: Source | None) -> None:
    if source is not None and end > start:
        found.append(MarkedRange(start, end - start, source))
