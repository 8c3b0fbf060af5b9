"""The source of each character of a rendered answer. Pure: text and spans in, ranges out; no Qt.

Rendering drops Markdown marks; a `SourceMap` has the raw position of each shown character. Widgets change spaces, so
only non-space characters are compared.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby

from engine.records import LAST_SOURCES, PassProbabilities, Source, TokenSpan
from ui.markdown.source_map import SourceMap

LOOK_AHEAD_CHARS = 40
_WORD_RUNS = re.compile(r"\s+|\S+")
_CHUNKS = re.compile(r"[!-~]+(?: [!-~]+)*(?!\S)|\s+|\S+")  # plain words of a line, spaces, or other characters
OBJECT_CHAR = "\N{OBJECT REPLACEMENT CHARACTER}"  # the character of a typeset formula in a document


@dataclass(frozen=True, slots=True)
class MarkedRange:
    """``length`` UTF-16 units from ``start`` on, of one source."""

    start: int
    length: int
    source: Source


@dataclass(frozen=True, slots=True)
class PassView:
    """One pass: the texts of its accepted tokens, the rejected text, and the recovered token."""

    accepted: tuple[str, ...]
    rejected: str
    last: str
    source: Source
    probabilities: PassProbabilities | None = None

    @property
    def rejected_texts(self) -> tuple[str, ...]:
        """The rejected text split into tokens, if their lengths are known."""
        lengths = self.probabilities.rejected_chars if self.probabilities is not None else ()
        if not lengths:
            return (self.rejected,) if self.rejected else ()
        ends = list(accumulate(lengths))
        return tuple(self.rejected[end - length : end] for end, length in zip(ends, lengths, strict=True))


@dataclass(slots=True)
class SourceRuns:
    """The source of each character of a raw text, and the token boundaries."""

    sources: list[Source] = field(default_factory=list)
    spans: list[TokenSpan] = field(default_factory=list)

    def extend(self, spans: Iterable[TokenSpan]) -> None:
        for span in spans:
            self.sources.extend([span.source] * span.num_chars)
            self.spans.append(span)

    def pass_at(self, raw: str, place: int) -> PassView | None:
        begin, end, first = 0, 0, 0
        for number, span in enumerate(self.spans):
            end += span.num_chars
            if span.probabilities is not None or span.source in LAST_SOURCES or number == len(self.spans) - 1:
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
        if last.source in LAST_SOURCES:
            return PassView(tuple(texts[:-1]), last.rejected, texts[-1], last.source, last.probabilities)
        return PassView(tuple(texts), "", "", last.source, last.probabilities)  # the answer ended within the pass

    def locate(self, shown: str, source_map: SourceMap) -> list[MarkedRange]:
        """The ranges of a shown text, each of one source; text after the last span has none."""
        return RangeLocator(self).locate(shown, source_map)


def source_positions(shown: str, source_map: SourceMap) -> list[int]:
    """The raw position of each shown character; -1 for spaces and foreign characters."""
    return SourceAligner().positions(shown, source_map)


@dataclass(slots=True)
class SourceAligner:
    """Walks a shown text along its source map; can continue with appended text."""

    number: int = 0  # index of the next character of the source map

    def positions(self, shown: str, source_map: SourceMap) -> list[int]:
        """Like `source_positions`, for text that follows the text of the previous call."""
        text, positions = source_map.text, []
        for run in _WORD_RUNS.findall(shown):
            if run.isspace():
                positions += [-1] * len(run)
                continue
            while self.number < len(text) and text[self.number].isspace():
                self.number += 1
            if text.startswith(run, self.number):  # true for nearly all runs
                positions += source_map.positions[self.number : self.number + len(run)]
                self.number += len(run)
            else:
                positions += self._char_positions(run, source_map)
        return positions

    def word_positions(self, words: str, source_map: SourceMap) -> Sequence[int]:
        """Like `positions`, for words that match the source map exactly; else returns nothing and does not advance."""
        text, number = source_map.text, self.number
        while number < len(text) and text[number].isspace():
            number += 1
        end = number + len(words)
        if text[number:end].replace("\n", " ") != words:  # a line may be broken elsewhere
            return ()
        self.number = end
        return source_map.positions[number:end]

    def _char_positions(self, run: str, source_map: SourceMap) -> list[int]:
        ends = dict(source_map.formulas)
        text, number, positions = source_map.text, self.number, []
        for char in run:
            while number < len(text) and text[number].isspace():
                number += 1
            if char == OBJECT_CHAR and number in ends:
                positions.append(source_map.positions[number])
                number = ends[number]
                continue
            if number >= len(text) or text[number] != char:
                found = text.find(char, number, number + LOOK_AHEAD_CHARS)
                if found < 0:
                    positions.append(-1)
                    continue
                number = found
            positions.append(source_map.positions[number])
            number += 1
        self.number = number
        return positions


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """The state between two calls: the scanned lengths and the results."""

    num_shown: int = 0
    num_mapped: int = 0
    unit: int = 0
    start: int = 0
    current: Source | None = None
    before: str = ""
    num_closed: int = 0


class RangeLocator:
    """The marked ranges of a growing text; unchanged text is not scanned again."""

    def __init__(self, runs: SourceRuns) -> None:
        self.runs = runs
        self._shown, self._source_map = "", SourceMap()
        self._checkpoints = [_Checkpoint()]
        self._closed: list[MarkedRange] = []
        self._unit = self._start = 0  # state while scanning
        self._current: Source | None = None
        self._before = ""

    def locate(self, shown: str, source_map: SourceMap) -> list[MarkedRange]:
        """The ranges, in UTF-16 units of ``shown``."""
        # Return to the last checkpoint before the first difference.
        while len(self._checkpoints) > 1 and not self._is_still_valid(self._checkpoints[-1], shown, source_map):
            self._checkpoints.pop()
        del self._closed[self._checkpoints[-1].num_closed :]
        known = self._checkpoints[-1]
        self._unit, self._start, self._current = known.unit, known.start, known.current
        self._before, aligner = known.before, SourceAligner(known.num_mapped)
        added = shown[known.num_shown :]
        self._shown, self._source_map = shown, source_map
        for words in _CHUNKS.findall(added):
            if not self._scan_words(words, aligner, source_map):
                for run in _WORD_RUNS.findall(words):
                    self._scan(run, aligner.positions(run, source_map))
        if added:
            here = (self._unit, self._start, self._current, self._before, len(self._closed))
            self._checkpoints.append(_Checkpoint(len(shown), aligner.number, *here))
        return [*self._closed, *self._open_range()]

    def _scan_words(self, words: str, aligner: SourceAligner, source_map: SourceMap) -> bool:
        """Scan plain words token by token; False if they need a scan by runs."""
        if self._before or words[0].isspace() or not words.isascii():
            return False
        number, known = aligner.number, self.runs.sources
        positions = aligner.word_positions(words, source_map)
        if not positions or min(positions) < 0 or max(positions) >= len(known):
            aligner.number = number
            return False
        sources = [known[place] for place in positions]
        begin = 0
        for source, same in groupby(sources):
            length = len(list(same))
            part = words[begin : begin + length].lstrip(" ")
            begin += length
            self._unit += length - len(part)  # spaces belong to the token before them
            if part and source is not self._current:
                self._close_range(source)
            self._unit += len(part)
        return True

    def _scan(self, run: str, positions: Sequence[int]) -> None:
        """Scan spaces, or a word, which usually matches the raw text exactly."""
        first, length = positions[0], len(run)
        if run == " " and not self._before:
            self._unit += 1
            return
        together = run.isascii() and not self._before and first >= 0 and positions == list(range(first, first + length))
        sources = self.runs.sources[first : first + length] if together else []
        if len(sources) == length:
            for source, same in groupby(sources):
                if source is not self._current:
                    self._close_range(source)
                self._unit += len(list(same))
        else:
            self._scan_chars(run, positions)

    def _scan_chars(self, run: str, positions: Sequence[int]) -> None:
        sources = self.runs.sources
        for char, place in zip(run, positions, strict=True):
            if place >= 0 and char != OBJECT_CHAR != self._before:
                source = sources[place] if place < len(sources) else None
            else:
                source = self._source_of(char, place)
            if source is not self._current:
                self._close_range(source)
            self._unit += 2 if ord(char) > 0xFFFF else 1

    def _source_of(self, char: str, place: int) -> Source | None:
        """The source of a space, a formula, its neighbours, or a character that the raw text lacks."""
        if OBJECT_CHAR in (char, self._before):  # a formula is marked separately
            self._close_range(None)
        self._before = char if char == OBJECT_CHAR else ""
        if char.isspace():
            return None if char in "\n\u2029" else self._current  # a range across table cells would mark whole cells
        return self.runs.sources[place] if 0 <= place < len(self.runs.sources) else None

    def _is_still_valid(self, known: _Checkpoint, shown: str, source_map: SourceMap) -> bool:
        end = known.num_mapped
        return (
            shown.startswith(self._shown[: known.num_shown])
            and source_map.text.startswith(self._source_map.text[:end])
            and source_map.positions[:end] == self._source_map.positions[:end]
            and [each for each in source_map.formulas if each[0] < end]
            == [each for each in self._source_map.formulas if each[0] < end]
        )

    def _close_range(self, following: Source | None) -> None:
        self._closed += self._open_range()
        self._current, self._start = following, self._unit

    def _open_range(self) -> list[MarkedRange]:
        if self._current is None or self._unit <= self._start:
            return []
        return [MarkedRange(self._start, self._unit - self._start, self._current)]


def common_length(known: Sequence[MarkedRange], ranges: Sequence[MarkedRange]) -> int:
    limit = min(len(known), len(ranges))
    if known[:limit] == ranges[:limit]:
        return limit
    pairs = enumerate(zip(known, ranges, strict=False))
    return next((number for number, pair in pairs if pair[0] != pair[1]), limit)  # a list never equals a tuple


def formula_units(shown: str) -> frozenset[int]:
    """UTF-16 units with typeset formulas."""
    if OBJECT_CHAR not in shown:
        return frozenset()
    units, unit = set(), 0
    for char in shown:
        if char == OBJECT_CHAR:
            units.add(unit)
        unit += 2 if ord(char) > 0xFFFF else 1
    return frozenset(units)
