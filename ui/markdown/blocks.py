"""Parses streamed Markdown: keeps closed top-level blocks and parses only the open tail again. No Qt.

A top-level block is recognised once its first line is complete (for a table, its first two lines). The tail begins at
the last recognised block. Reference definitions are off, so that a closed block can never change its meaning later.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ui.markdown.html_writer import render_tokens
from ui.markdown.lists import PART_CLASS, RIGHT_TO_LEFT
from ui.markdown.parser import SafeParser
from ui.markdown.source_map import NO_SOURCE, SourceLines, SourceMap, code_positions, map_source
from ui.markdown.words import accepts_words, append_to_html, words_to_append
from ui.text.reading_direction import is_right_to_left

MAX_RUN_BLOCKS = 10
MAX_RUN_CHARS = 2_000
ROW_CHARS = 250  # layout cost of a table row, in characters of prose
_PARSER = SafeParser()  # keeps no state between calls
_FENCES = MarkdownIt("zero").enable("fence")
_FENCE_OPEN = re.compile(r"(`{3,}|~{3,})([^\n]*)\n")
_HALF_FENCE = re.compile(r"(?:^|\n) {0,3}(?:`{1,2}|~{1,2})$")
_CITATION = range(1, 100)
SLICE_CHARS = 400  # characters that one `SlicedParser` step parses, in about a millisecond
LIST_ITEMS = 12  # a longer list is split into parts, each with or without space between its items
TABLE_ROWS = 4  # rows that decide the column widths; also the number of rows in one part of a longer table
CONTINUED_CLASS = "more"  # CSS class of a part that continues a table
_WIDTH_STEPS = (4, 6, 9, 13, 18, 26, 36, 48)  # characters; few, so that a growing cell rarely widens its column
PAGE_CHARS = 60  # characters in a line of a small window with both side panes open
WIDE_CHARS, MIN_WIDTH = 45, 40  # a table of fewer characters is narrower than the page, but at least 40%
TokenGroup = Sequence[Token]  # a top-level block


def is_table(group: TokenGroup) -> bool:
    return group[0].type == "table_open"


def line_of_item(group: TokenGroup, number: int) -> int:
    """The line at which a list item begins; 0 if there is no such item."""
    if group[0].type not in ("bullet_list_open", "ordered_list_open"):
        return 0
    items = (token.map[0] for token in group if token.type == "list_item_open" and token.level == 1 and token.map)
    return next(islice(items, number, None), 0)


def number_of(group: TokenGroup) -> int:
    start = group[0].attrGet("start")
    return 1 if start is None else int(start)


def rows_of(group: TokenGroup) -> list[list[Token]]:
    rows: list[list[Token]] = []
    in_body = False
    for token in group:
        in_body = token.type == "tbody_open" or (in_body and token.type != "tbody_close")
        if in_body and token.type == "tr_open":
            rows.append([])
        if in_body and rows and token.type != "tbody_open":
            rows[-1].append(token)
    return rows


def line_of_row(row: Sequence[Token]) -> int:
    return row[0].map[0] if row[0].map else 0


def table_part(
    group: TokenGroup,
    rows: Sequence[TokenGroup],
    widths: Sequence[int],
    *,
    is_more: bool = False,
    has_more: bool = False,
) -> list[Token]:
    """Some rows of a table as a separate table, with column widths in percent.

    ``is_more``: the part continues a table above and has no header. ``has_more``: more rows follow. ``widths``: of the
    table, then of its columns.
    """
    opening = Token("table_open", "table", 1, map=group[0].map, block=True)
    opening.attrSet("width", f"{widths[0]}%")
    words = "".join(token.content for token in _head_of(group) if token.type == "inline")
    opening.meta = {RIGHT_TO_LEFT: is_right_to_left(words)}
    opening.attrSet("class", " ".join(["grid", *[CONTINUED_CLASS] * is_more, *[PART_CLASS] * has_more]))
    head = [] if is_more else [token for token in _head_of(group) if token.type != "table_open"]
    body = [token for row in rows for token in row]
    if body:
        body = [Token("tbody_open", "tbody", 1, level=1), *body, Token("tbody_close", "tbody", -1, level=1)]
    part = [opening, *head, *body, group[-1]]
    cells = (token for token in part if token.type in ("th_open", "td_open"))
    for cell, width in zip(cells, widths[1:], strict=False):  # all rows have the column widths of the first one
        cell.attrSet("width", f"{width}%")
    return part


def column_widths(group: TokenGroup) -> tuple[int, ...]:
    """The widths of a table and its columns in percent, from the longest cells of its first rows.

    Later rows do not change them, so that earlier rows do not move.
    """
    rows = [list(_head_of(group)), *rows_of(group)[:TABLE_ROWS]]
    longest: list[int] = []
    for row in rows:
        cells = (token for token in row if token.type == "inline")
        for number, cell in enumerate(cells):
            length = sum(len(child.content) for child in cell.children or ())
            if number < len(longest):
                longest[number] = max(longest[number], length)
            else:
                longest.append(length)
    wanted = [next((step for step in _WIDTH_STEPS if step >= length), _WIDTH_STEPS[-1]) + 2 for length in longest]
    sizes = _scaled_widths(wanted)
    all_of_it = min(max(round(100 * sum(wanted) / WIDE_CHARS), MIN_WIDTH), 100)
    return all_of_it, *(round(100 * size / sum(sizes)) for size in sizes)


def mirrored_table(table: TokenGroup) -> list[Token]:
    """A table with its columns from right to left, which Qt does not support otherwise."""
    made: list[Token] = []
    cells: list[list[Token]] = []
    for token in table:
        if token.type in ("th_open", "td_open"):
            cells.append([])
            token.attrSet("style", token.attrGet("style") or "text-align:right")
        if token.type == "tr_close":
            made += [each for cell in reversed(cells) for each in cell]
            cells = []
        (cells[-1] if cells else made).append(token)
    return made


def _scaled_widths(sizes: Sequence[int]) -> list[float]:
    """Fit columns to the page: if they are too wide, narrow ones keep their width and the others share the rest."""
    fitted, room = [float(size) for size in sizes], float(PAGE_CHARS)
    for num_left, size in zip(range(len(sizes), 0, -1), sorted(sizes), strict=True):
        if size * num_left > room:
            return [min(each, room / num_left) for each in fitted]
        room -= size
    return fitted


def _head_of(group: TokenGroup) -> Iterator[Token]:
    for token in group:
        if token.type in ("tbody_open", "table_close"):
            return
        yield token


@dataclass(frozen=True, slots=True)
class SegmentContent:
    """Prose as HTML, or the text of a code fence; with the source positions of its characters."""

    html: str = ""
    code: str = ""
    language: str = ""
    is_code: bool = False
    closed: bool = True
    source_map: SourceMap = NO_SOURCE
    has_more: bool = False  # the next segment continues the last list or table
    is_plain: bool = False  # ``code`` is plain text, shown literally


@dataclass(frozen=True, slots=True)
class Block(SegmentContent):
    num_rows: int = 0  # number of rows of a table

    @property
    def num_chars(self) -> int:
        return len(self.source_map.text)


@dataclass(frozen=True, slots=True)
class Segment(SegmentContent):
    """What one widget shows: a run of prose blocks, or one code fence."""

    num_blocks: int = 1


def plan_segments(blocks: Sequence[Block]) -> list[Segment]:
    """Group blocks into widgets from the front; prose runs are bounded so that updating the last one stays cheap."""
    return [_segment(run) for run in _block_runs(blocks)]


def plain_segments(text: str) -> list[Segment]:
    """Split plain text into segments at its code fences; it has no other markup."""
    segments, lines, line = list[Segment](), SourceLines.of(text), 0

    def add_words(end: int) -> None:
        start = lines.starts[line] if line < len(lines.starts) else len(text)
        words = "\n".join(lines.text[line:end])
        if end < len(lines.text) or segments:  # empty lines beside code are omitted
            start += len(words) - len(words.lstrip("\n"))
            words = words.strip("\n")
        if words:
            shown = SourceMap(words, range(start, start + len(words)))
            segments.append(Segment("", words, is_plain=True, source_map=shown))

    for token in _FENCES.parse(text) if "```" in text or "~~~" in text else ():
        if token.type == "fence" and token.map:
            add_words(token.map[0])
            line = token.map[1]
            shown = SourceMap(token.content, code_positions(token, text, lines, 0))
            language = next(iter(token.info.split(maxsplit=1)), "")
            segments.append(Segment("", token.content, language, is_code=True, source_map=shown))
    add_words(len(lines.text))
    return segments


def plan_tail(final: Sequence[Block], tail: Sequence[Block]) -> Segment | None:
    """The open blocks as a separate segment; None unless all of them join the prose run that ends ``final``."""
    if not tail or not final or final[-1].is_code:
        return None
    run = _block_runs(final)[-1]
    for block in tail:
        if not _joins_run(block, run):
            return None
        run.append(block)
    return _segment(tail)


def _block_runs(blocks: Sequence[Block]) -> list[list[Block]]:
    """The blocks of each widget: a code fence, or a run of prose."""
    runs: list[list[Block]] = []
    for block in blocks:
        if runs and _joins_run(block, runs[-1]):
            runs[-1].append(block)
        else:
            runs.append([block])
    return runs


def _joins_run(block: Block, run: Sequence[Block]) -> bool:
    return not block.is_code and not run[-1].is_code and not _is_full(run)


def _is_full(run: Sequence[Block]) -> bool:
    size = sum(item.num_chars + ROW_CHARS * item.num_rows for item in run)
    return len(run) >= MAX_RUN_BLOCKS or size >= MAX_RUN_CHARS


def _segment(run: Sequence[Block]) -> Segment:
    first = run[0]
    if first.is_code:
        return Segment("", first.code, first.language, is_code=True, closed=first.closed, source_map=first.source_map)
    positions: list[int] = []
    formulas: list[tuple[int, int]] = []
    for block in run:
        formulas += [(begin + len(positions), end + len(positions)) for begin, end in block.source_map.formulas]
        positions.extend(block.source_map.positions)
    shown = SourceMap("".join(block.source_map.text for block in run), tuple(positions), tuple(formulas))
    html = "".join(block.html for block in run)
    return Segment(html=html, num_blocks=len(run), source_map=shown, has_more=run[-1].has_more)


@dataclass(slots=True)
class BlockStream:
    """Parses text in chunks. The resulting blocks do not depend on how the text was split.

    ``base``: the position of the text in the source that block positions refer to. ``cites``: the start of the address
    of a citation such as ``[1]``; empty if such numbers are not links.
    """

    base: int = 0
    cites: str = ""
    _tail: str = ""
    _tail_blocks: list[Block] = field(default_factory=list)
    _finished: bool = False
    _tail_begin: int = 0  # offset of the tail, not counting removed carriage returns
    _num_fed: int = 0
    _carriage_returns: list[int] = field(
        default_factory=list
    )  # offsets of removed carriage returns, not counting earlier ones
    _accepts_words: bool = False  # whether the open block ends in plain words
    _next_number: int = 0  # number of the next item of a split ordered list
    _table_head: str = ""  # first two lines of a split table
    _widths: tuple[int, ...] = ()  # column widths of a split table
    words: str = ""  # words that the last chunk added to the open block, if nothing else changed

    def feed(self, text: str) -> list[Block]:
        """Add text; returns the blocks that became closed."""
        pieces = text.split("\r")
        for piece in pieces[:-1]:
            self._num_fed += len(piece)
            self._carriage_returns.append(self._num_fed)
        self._num_fed += len(pieces[-1])
        # Skip empty lines before a block, so that a fence is also recognised at the start of the text.
        num_known = len(self._tail)
        grown = self._tail + "".join(pieces)
        self._tail = grown.lstrip("\n")
        self._tail_begin += len(grown) - len(self._tail)
        self.words = ""
        return [] if self._grow_open_fence() or self._grow_words(num_known) else self._parse()

    def accepts_words(self, text: str) -> bool:
        """Whether this text would only add words to the open block."""
        if not self._accepts_words or "\r" in text:
            return False
        return bool(words_to_append(self._tail + text, len(self._tail)))

    def finish(self) -> list[Block]:
        """End the text; returns the remaining blocks."""
        self._finished = True
        final = self._parse() + [self._as_final(block) for block in self._tail_blocks]
        self._tail, self._tail_blocks = "", []
        return final

    @property
    def tail(self) -> Sequence[Block]:
        return self._tail_blocks

    def _as_final(self, block: Block) -> Block:
        return block if block.closed else replace(block, closed=True)

    def _grow_open_fence(self) -> bool:
        """Fast path for a long code block: no parsing until a line may close it."""
        opening = _FENCE_OPEN.match(self._tail)
        last = self._tail_blocks[-1] if self._tail_blocks else None
        if opening is None or last is None or not last.is_code or last.closed:
            return False
        marker = opening[1][:3]
        known = opening.end() + len(last.code)
        if self._tail.find(marker[0], max(opening.end(), known - 16)) != -1:
            return False
        code = self._tail[opening.end() :]
        start = self.base + self._tail_begin + opening.end()
        shown = self._to_source(SourceMap(code, range(start, start + len(code))))
        self._tail_blocks = [Block("", code, last.language, is_code=True, closed=False, source_map=shown)]
        return True

    def _grow_words(self, num_known: int) -> bool:
        """Fast path for prose: words without Markdown characters."""
        words = words_to_append(self._tail, num_known) if self._accepts_words else None
        if words is None:
            return False
        if words:
            block, start = self._tail_blocks[-1], self.base + self._tail_begin + len(self._tail[:num_known].rstrip(" "))
            more = self._to_source(SourceMap(words, range(start, start + len(words))))
            known = block.source_map
            shown = SourceMap(known.text + words, (*known.positions, *more.positions), known.formulas)
            grown = replace(block, html=append_to_html(block.html, words), source_map=shown)
            self._tail_blocks = [*self._tail_blocks[:-1], grown]
            self.words = words
        return True

    def _to_source(self, shown: SourceMap) -> SourceMap:
        """Convert positions in the parsed text to positions in the source, which still has its carriage returns."""
        if (
            not self._carriage_returns
            or not shown.positions
            or self._carriage_returns[0] > max(shown.positions) - self.base
        ):
            return shown
        positions = tuple(place + bisect_right(self._carriage_returns, place - self.base) for place in shown.positions)
        return replace(shown, positions=positions)

    def _parse(self) -> list[Block]:
        # One or two backticks alone on the last line usually begin a fence: wait for the third.
        known = self._tail
        if not self._finished and _HALF_FENCE.search(known):
            known = _HALF_FENCE.sub("", known)
        text = self._table_head + known
        groups = list(_top_level(_PARSER.parse(text, _references(self.cites))))
        # Number the rest of a split ordered list.
        if self._next_number and groups and groups[0][0].type == "ordered_list_open":
            groups[0][0].attrSet("start", self._next_number)
        parts = self._close_part(text, groups)
        if parts:
            return parts + self._parse()
        self._accepts_words = bool(groups) and known is self._tail and accepts_words(groups[-1])
        lines = SourceLines.of(text)
        blocks = [self._block(group, text, lines) for group in groups]
        if len(blocks) < 2:
            self._tail_blocks = blocks
            return []
        start = _line_offset(text, _first_line(groups[-1]))
        # A table may interrupt a paragraph, and is recognised only when its second line is complete.
        if text.count("\n", start) < (2 if is_table(groups[-1]) else 1):
            self._tail_blocks = blocks
            return []
        self._advance_to(start)
        self._tail_blocks = blocks[-1:]
        return [self._as_final(block) for block in blocks[:-1]]

    def _advance_to(self, place: int) -> None:
        """Start the tail at this offset; all text before it is closed."""
        self._tail = self._tail[place - len(self._table_head) :]
        self._tail_begin += place - len(self._table_head)
        self._next_number, self._table_head = 0, ""

    def _close_part(self, text: str, groups: list[list[Token]]) -> list[Block]:
        """Close the first items or rows of a long list or table, once the next one has begun."""
        for number, group in enumerate(groups):
            rows = rows_of(group) if is_table(group) else []
            line = line_of_row(rows[TABLE_ROWS]) if len(rows) > TABLE_ROWS else line_of_item(group, LIST_ITEMS)
            if not line or not self._is_whole(text, _line_offset(text, line)):
                continue
            lines = SourceLines.of(text)
            before = [self._as_final(self._block(each, text, lines)) for each in groups[:number]]
            part = self._close_rows(text, group, rows) if rows else self._close_items(text, group, line)
            if part:
                return before + part
        return []

    def _is_whole(self, text: str, place: int) -> bool:
        return self._finished or "\n" in text[place:]

    def _close_items(self, text: str, group: list[Token], line: int) -> list[Block]:
        """The list items before ``line``; empty if they cannot be split off."""
        first, place = _line_offset(text, _first_line(group)), _line_offset(text, line)
        part = list(_top_level(_PARSER.parse(text[first:place], _references(self.cites))))
        if len(part) != 1:
            return []
        items = part[0]
        if group[0].attrGet("start") is not None:
            items[0].attrSet("start", number_of(group))
        items[0].attrJoin("class", PART_CLASS)
        self._advance_to(first)
        block = self._block(items, text[first:place], SourceLines.of(text[first:place]))
        self._advance_to(place - first)
        self._next_number = number_of(items) + LIST_ITEMS
        return [replace(block, has_more=True)]

    def _close_rows(self, text: str, group: list[Token], rows: list[list[Token]]) -> list[Block]:
        """The complete parts of a table; keeps its first two lines for the rest."""
        first, lines = _first_line(group), SourceLines.of(text)
        is_more, widths = self._continues_group(group), self._widths_of(group)
        head = text[_line_offset(text, first) : _line_offset(text, first + 2)]
        blocks, place = [], 0
        for begin in range(0, len(rows) - TABLE_ROWS, TABLE_ROWS):
            end = _line_offset(text, line_of_row(rows[begin + TABLE_ROWS]))
            if not self._is_whole(text, end):
                break
            kept = rows[begin : begin + TABLE_ROWS]
            part, place = table_part(group, kept, widths, is_more=is_more or begin > 0, has_more=True), end
            blocks.append(self._table(part, kept, lines, has_more=True))
        self._advance_to(place)
        self._table_head, self._widths = head, widths
        return blocks

    def _continues_group(self, group: list[Token]) -> bool:
        """Whether this group is the rest of a split table, whose first rows are closed."""
        return bool(self._table_head) and _first_line(group) == 0

    def _widths_of(self, group: list[Token]) -> tuple[int, ...]:
        return self._widths if self._continues_group(group) else column_widths(group)

    def _table(
        self, group: list[Token], rows: list[list[Token]], lines: SourceLines, *, has_more: bool = False
    ) -> Block:
        is_mirrored = bool(group[0].meta.get(RIGHT_TO_LEFT))
        shown = self._to_source(map_source(group, lines, self._base, is_mirrored=is_mirrored))
        html = render_tokens(_PARSER, mirrored_table(group) if is_mirrored else group)
        return Block(html, source_map=shown, has_more=has_more, num_rows=len(rows))

    @property
    def _base(self) -> int:
        """The position of the parsed text in the source."""
        return self.base + self._tail_begin - len(self._table_head)

    def _block(self, group: list[Token], text: str, lines: SourceLines) -> Block:
        first = group[0]
        if first.type in ("fence", "code_block"):
            code, is_fence = first.content, first.type == "fence"
            language = first.info.strip().split(maxsplit=1)[0] if first.info.strip() else ""
            shown = self._to_source(SourceMap(code, code_positions(first, text, lines, self._base)))
            is_closed = is_fence and _is_closed(first, text)
            return Block("", code, language, is_code=True, closed=is_closed, source_map=shown)
        if is_table(group):
            rows, is_more = rows_of(group), self._continues_group(group)
            return self._table(table_part(group, rows, self._widths_of(group), is_more=is_more), rows, lines)
        shown = self._to_source(map_source(group, lines, self._base))
        return Block(render_tokens(_PARSER, group), source_map=shown)


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield group
            group = []


def _first_line(group: Sequence[Token]) -> int:
    return group[0].map[0] if group[0].map else 0


def _line_offset(text: str, line: int) -> int:
    offset = 0
    for _ in range(line):
        offset = text.index("\n", offset) + 1
    return offset


def _is_closed(token: Token, text: str) -> bool:
    first, last = token.map or (0, 0)
    lines = text.split("\n")
    closing = lines[last - 1].strip() if last - 1 > first else ""
    return last < len(lines) and len(closing) >= len(token.markup) and set(closing) == set(token.markup)


def _references(cites: str) -> dict[str, object]:
    numbers = {str(number): {"href": f"{cites}{number}", "title": ""} for number in _CITATION} if cites else {}
    return {"references": numbers}


@dataclass(slots=True)
class SlicedParser:
    """Parses a whole text in slices; ``base`` is the position of the text in the raw message."""

    text: str
    base: int = 0
    cites: str = ""
    _at: int = 0
    _blocks: list[Block] = field(default_factory=list)
    _stream: BlockStream = field(init=False)

    def __post_init__(self) -> None:
        self._stream = BlockStream(self.base, self.cites)

    def read_next(self) -> list[Segment] | None:
        """Parse the next slice. Returns the segments of the whole text at its end, None before."""
        num_open = sum(block.num_chars for block in self._stream.tail)
        end = self._at + max(SLICE_CHARS, num_open)  # an open block is parsed again in every slice
        cut = self.text.find("\n\n", end, end + SLICE_CHARS)
        end = cut + 2 if cut >= 0 else end
        self._blocks += self._stream.feed(self.text[self._at : end])
        self._at = end
        if end < len(self.text):
            return None
        return plan_segments([*self._blocks, *self._stream.finish()])
