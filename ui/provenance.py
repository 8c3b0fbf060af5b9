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


@dataclass(slots=True)
class SourceRuns:
    """The sources of a raw text, one for each of its characters."""

    sources: list[Source] = field(default_factory=list)

    def extend(self, spans: Iterable[TokenSpan]) -> None:
        """More characters at the end."""
        for span in spans:
            self.sources.extend([span.source] * span.num_chars)

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
