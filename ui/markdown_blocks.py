"""Markdown that arrives in pieces: closed top-level blocks are kept, only the open tail is parsed again. No Qt.

A new top-level block is certain only when its first line is complete (of a table the second, too); until then
everything from the last certain block on is the tail. Reference definitions are off, so that a closed block can never
change its meaning later.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from markdown_it.token import Token

from ui.markdown_html import render_tokens
from ui.markdown_parser import SafeParser
from ui.markdown_places import NOTHING_DRAWN, Drawn, Lines, code_places, drawn
from ui.markdown_words import grow_html, takes_words, words_after

MAX_RUN_BLOCKS = 10
MAX_RUN_CHARS = 3_000
LIST_ITEMS = 12  # a longer list is laid out in parts, each of which decides for itself whether its items stand apart
_PARSER = SafeParser()  # keeps nothing between calls
_FENCE_OPEN = re.compile(r"(`{3,}|~{3,})([^\n]*)\n")
_HALF_FENCE = re.compile(r"(?:^|\n) {0,3}(?:`{1,2}|~{1,2})$")


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level block: prose as HTML for a text document, or the text of a code fence; and what of it is shown."""

    html: str = ""
    code: str = ""
    language: str = ""
    is_code: bool = False
    closed: bool = True
    num_chars: int = 0
    drawn: Drawn = NOTHING_DRAWN
    goes_on: bool = False  # a part of a list, of which the next block is more


@dataclass(frozen=True, slots=True)
class Segment:
    """What one widget shows: a run of prose blocks, or one code fence."""

    html: str = ""
    code: str = ""
    language: str = ""
    is_code: bool = False
    closed: bool = True
    num_blocks: int = 1
    drawn: Drawn = NOTHING_DRAWN


def plan_segments(blocks: Sequence[Block]) -> list[Segment]:
    """Blocks to widgets, greedily from the front: prose runs are cut so that re-setting the last one stays cheap."""
    segments: list[Segment] = []
    run: list[Block] = []
    for block in blocks:
        if run and (block.is_code or _is_full(run)):
            segments.append(_prose(run))
            run = []
        if block.is_code:
            segments.append(
                Segment("", block.code, block.language, is_code=True, closed=block.closed, drawn=block.drawn)
            )
        else:
            run.append(block)
    if run:
        segments.append(_prose(run))
    return segments


def plan_tail(final: Sequence[Block], tail: Sequence[Block]) -> Segment | None:
    """The open blocks as a segment of its own, where all of them join the run of prose that ``final`` ends with."""
    run: list[Block] = []
    for block in final:
        if block.is_code or _is_full(run):
            run = []
        if not block.is_code:
            run.append(block)
    if not run or not tail or final[-1].is_code:
        return None
    for block in tail:
        if block.is_code or _is_full(run):
            return None
        run.append(block)
    return _prose(tail)


def _is_full(run: Sequence[Block]) -> bool:
    return len(run) >= MAX_RUN_BLOCKS or sum(item.num_chars for item in run) >= MAX_RUN_CHARS


def _prose(run: Sequence[Block]) -> Segment:
    places: list[int] = []
    formulas: list[tuple[int, int]] = []
    for block in run:
        formulas += [(begin + len(places), end + len(places)) for begin, end in block.drawn.formulas]
        places.extend(block.drawn.places)
    shown = Drawn("".join(block.drawn.text for block in run), tuple(places), tuple(formulas))
    return Segment(html="".join(block.html for block in run), num_blocks=len(run), drawn=shown)


@dataclass(slots=True)
class BlockStream:
    """Feeds on text, gives blocks. The result does not depend on where the text was cut.

    ``base``: where the text begins in the one that the places of the blocks are counted in.
    """

    base: int = 0
    _tail: str = ""
    _tail_blocks: list[Block] = field(default_factory=list)
    _finished: bool = False
    _begin: int = 0  # of the tail, without what is left out
    _num_fed: int = 0
    _left_out: list[int] = field(default_factory=list)  # places of carriage returns, without those before them
    _takes_words: bool = False  # whether the open block ends in plain words
    _next_number: int = 0  # of the ordered list whose part comes next
    words: str = ""  # by which the open block grew with the last piece, where nothing else changed

    def feed(self, text: str) -> list[Block]:
        """Take the next piece; returns the blocks that became final with it."""
        pieces = text.split("\r")
        for piece in pieces[:-1]:
            self._num_fed += len(piece)
            self._left_out.append(self._num_fed)
        self._num_fed += len(pieces[-1])
        # Empty lines before a block mean nothing, and without them a fence is recognised at the very start.
        num_known = len(self._tail)
        grown = self._tail + "".join(pieces)
        self._tail = grown.lstrip("\n")
        self._begin += len(grown) - len(self._tail)
        self.words = ""
        if self._grow_open_fence() or self._grow_words(num_known):
            return []
        return self._parse()

    def finish(self) -> list[Block]:
        """No more text will come: returns the last blocks."""
        self._finished = True
        final = self._parse() + [self._as_final(block) for block in self._tail_blocks]
        self._tail, self._tail_blocks = "", []
        return final

    @property
    def tail(self) -> Sequence[Block]:
        """The blocks that may still change."""
        return self._tail_blocks

    def _as_final(self, block: Block) -> Block:
        return block if block.closed else replace(block, closed=True)

    def _grow_open_fence(self) -> bool:
        """The fast path of a long code block: no parsing while no line can close it."""
        opening = _FENCE_OPEN.match(self._tail)
        last = self._tail_blocks[-1] if self._tail_blocks else None
        if opening is None or last is None or not last.is_code or last.closed:
            return False
        marker = opening[1][:3]
        known = opening.end() + len(last.code)
        if self._tail.find(marker[0], max(opening.end(), known - 16)) != -1:
            return False
        code = self._tail[opening.end() :]
        start = self.base + self._begin + opening.end()
        shown = self._in_source(Drawn(code, range(start, start + len(code))))
        self._tail_blocks = [Block("", code, last.language, True, False, len(code), shown)]
        return True

    def _grow_words(self, num_known: int) -> bool:
        """The fast path of prose: words without any sign of Markdown."""
        words = words_after(self._tail, num_known) if self._takes_words else None
        if words is None:
            return False
        if words:
            block, start = self._tail_blocks[-1], self.base + self._begin + len(self._tail[:num_known].rstrip(" "))
            more = self._in_source(Drawn(words, range(start, start + len(words))))
            known = block.drawn
            shown = Drawn(known.text + words, (*known.places, *more.places), known.formulas)
            grown = replace(block, html=grow_html(block.html, words), num_chars=len(shown.text), drawn=shown)
            self._tail_blocks = [*self._tail_blocks[:-1], grown]
            self.words = words
        return True

    def _in_source(self, shown: Drawn) -> Drawn:
        """Count the carriage returns in, which were left out of the text that was parsed."""
        if not self._left_out or not shown.places or self._left_out[0] > max(shown.places) - self.base:
            return shown
        places = tuple(place + bisect_right(self._left_out, place - self.base) for place in shown.places)
        return replace(shown, places=places)

    def _parse(self) -> list[Block]:
        # One or two backticks alone on the last line are most often the beginning of a fence: wait for the third.
        text = self._tail
        if not self._finished and _HALF_FENCE.search(text):
            text = _HALF_FENCE.sub("", text)
        groups = list(_top_level(_PARSER.parse(text)))
        parts = self._close_part(text, groups)
        if parts:
            return parts + self._parse()
        self._go_on_counting(groups)
        self._takes_words = bool(groups) and text is self._tail and takes_words(groups[-1])
        lines = Lines.of(text)
        blocks = [self._block(group, text, lines) for group in groups]
        if len(blocks) < 2:
            self._tail_blocks = blocks
            return []
        start = _line_offset(text, _first_line(groups[-1]))
        # A table may break into a paragraph, and only its second line, once whole, makes it one.
        if text.count("\n", start) < (2 if groups[-1][0].type == "table_open" else 1):
            self._tail_blocks = blocks
            return []
        self._tail = self._tail[start:]
        self._begin += start
        self._next_number = 0
        self._tail_blocks = blocks[-1:]
        return [self._as_final(block) for block in blocks[:-1]]

    def _close_part(self, text: str, groups: list[list[Token]]) -> list[Block]:
        """Cut the first long list behind its first items, if the one behind them has certainly begun."""
        for number, group in enumerate(groups):
            line = _line_of_item(group, LIST_ITEMS)
            place = _line_offset(text, line) if line else 0
            if not line or (not self._finished and "\n" not in text[place:]):
                continue
            first = _line_offset(text, _first_line(group))
            part = list(_top_level(_PARSER.parse(text[first:place])))
            if len(part) != 1:
                continue
            self._go_on_counting(groups[:1] if number else part)
            lines = Lines.of(text)
            blocks = [self._as_final(self._block(each, text, lines)) for each in groups[:number]]
            self._next_number = _number_of(part[0]) + LIST_ITEMS
            self._tail, self._begin = text[first:], self._begin + first
            part[0][0].attrSet("class", "part")
            blocks.append(replace(self._block(part[0], text[first:place], Lines.of(text[first:place])), goes_on=True))
            self._tail, self._begin = self._tail[place - first :], self._begin + place - first
            return blocks
        return []

    def _go_on_counting(self, groups: list[list[Token]]) -> None:
        """An ordered list that was cut goes on with the number that comes next, whatever is written."""
        if self._next_number and groups and groups[0][0].type == "ordered_list_open":
            groups[0][0].attrSet("start", self._next_number)

    def _block(self, group: list[Token], text: str, lines: Lines) -> Block:
        first, base = group[0], self.base + self._begin
        if first.type in ("fence", "code_block"):
            code, is_fence = first.content, first.type == "fence"
            language = first.info.strip().split(maxsplit=1)[0] if first.info.strip() else ""
            shown = self._in_source(Drawn(code, code_places(first, text, lines, base)))
            return Block("", code, language, True, is_fence and _is_closed(first, text), len(code), shown)
        shown = self._in_source(drawn(group, lines, base))
        return Block(render_tokens(_PARSER, group), num_chars=len(shown.text), drawn=shown)


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield group
            group = []


def _first_line(group: Sequence[Token]) -> int:
    return group[0].map[0] if group[0].map else 0


def _line_of_item(group: Sequence[Token], number: int) -> int:
    """The line at which an item of a list begins, counted from 0; 0 where it has no so many."""
    if group[0].type not in ("bullet_list_open", "ordered_list_open"):
        return 0
    items = (token.map[0] for token in group if token.type == "list_item_open" and token.level == 1 and token.map)
    return next(islice(items, number, None), 0)


def _number_of(group: Sequence[Token]) -> int:
    """With which number an ordered list begins."""
    start = group[0].attrGet("start")
    return 1 if start is None else int(start)


def _line_offset(text: str, line: int) -> int:
    offset = 0
    for _ in range(line):
        offset = text.index("\n", offset) + 1
    return offset


def _is_closed(token: Token, text: str) -> bool:
    """Whether the fence's closing line has come, with its line end."""
    first, last = token.map or (0, 0)
    lines = text.split("\n")
    closing = lines[last - 1].strip() if last - 1 > first else ""
    return last < len(lines) and len(closing) >= len(token.markup) and set(closing) == set(token.markup)
