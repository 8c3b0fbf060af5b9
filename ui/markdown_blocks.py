"""Markdown that arrives in pieces: closed top-level blocks are kept, only the open tail is parsed again. No Qt.

A new top-level block is certain only when its first line is complete (of a table the second, too); until then
everything from the last certain block on is the tail. Reference definitions are off, so that a closed block can never
change its meaning later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from ui.markdown_html import SafeParser, render_tokens

MAX_RUN_BLOCKS = 10
MAX_RUN_CHARS = 3_000
_PARSER = SafeParser()  # keeps nothing between calls
_FENCE_OPEN = re.compile(r"(`{3,}|~{3,})([^\n]*)\n")
_HALF_FENCE = re.compile(r"(?:^|\n) {0,3}(?:`{1,2}|~{1,2})$")


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level block: prose as HTML for a text document, or the text of a code fence."""

    html: str = ""
    code: str = ""
    language: str = ""
    is_code: bool = False
    closed: bool = True
    num_chars: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """What one widget shows: a run of prose blocks, or one code fence."""

    html: str = ""
    code: str = ""
    language: str = ""
    is_code: bool = False
    closed: bool = True
    num_blocks: int = 1


def plan_segments(blocks: Sequence[Block]) -> list[Segment]:
    """Blocks to widgets, greedily from the front: prose runs are cut so that re-setting the last one stays cheap."""
    segments: list[Segment] = []
    run: list[Block] = []
    for block in blocks:
        full = len(run) >= MAX_RUN_BLOCKS or sum(item.num_chars for item in run) >= MAX_RUN_CHARS
        if run and (block.is_code or full):
            segments.append(_prose(run))
            run = []
        if block.is_code:
            segments.append(Segment("", block.code, block.language, is_code=True, closed=block.closed))
        else:
            run.append(block)
    if run:
        segments.append(_prose(run))
    return segments


def _prose(run: Sequence[Block]) -> Segment:
    return Segment(html="".join(block.html for block in run), num_blocks=len(run))


@dataclass(slots=True)
class BlockStream:
    """Feeds on text, gives blocks. The result does not depend on where the text was cut."""

    _tail: str = ""
    _tail_blocks: list[Block] = field(default_factory=list)
    _finished: bool = False

    def feed(self, text: str) -> list[Block]:
        """Take the next piece; returns the blocks that became final with it."""
        # Empty lines before a block mean nothing, and without them a fence is recognised at the very start.
        self._tail = (self._tail + text.replace("\r", "")).lstrip("\n")
        if self._grow_open_fence():
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
        return Block(block.html, block.code, block.language, block.is_code, closed=True, num_chars=block.num_chars)

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
        self._tail_blocks = [Block("", code, last.language, is_code=True, closed=False, num_chars=len(code))]
        return True

    def _parse(self) -> list[Block]:
        # One or two backticks alone on the last line are most often the beginning of a fence: wait for the third.
        text = self._tail if self._finished else _HALF_FENCE.sub("", self._tail)
        tokens = _PARSER.parse(text)
        groups = list(_top_level(tokens))
        blocks = [self._block(group, text) for group in groups]
        if len(blocks) < 2:
            self._tail_blocks = blocks
            return []
        start = _line_offset(text, _first_line(groups[-1]))
        # A table may break into a paragraph, and only its second line, once whole, makes it one.
        if text.count("\n", start) < (2 if groups[-1][0].type == "table_open" else 1):
            self._tail_blocks = blocks
            return []
        self._tail = self._tail[start:]
        self._tail_blocks = blocks[-1:]
        return [self._as_final(block) for block in blocks[:-1]]

    def _block(self, group: list[Token], text: str) -> Block:
        first = group[0]
        if first.type == "fence":
            language = first.info.strip().split(maxsplit=1)[0] if first.info.strip() else ""
            return Block("", first.content, language, True, _is_closed(first, text), len(first.content))
        if first.type == "code_block":
            return Block("", first.content, "", is_code=True, closed=False, num_chars=len(first.content))
        html = render_tokens(_PARSER, group)
        return Block(html, num_chars=sum(len(token.content) for token in group if token.type == "inline"))


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
    """Whether the fence's closing line has come, with its line end."""
    first, last = token.map or (0, 0)
    lines = text.split("\n")
    closing = lines[last - 1].strip() if last - 1 > first else ""
    return last < len(lines) and len(closing) >= len(token.markup) and set(closing) == set(token.markup)
