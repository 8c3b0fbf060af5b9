"""Maps shown characters to their positions in the Markdown source. Pure, no Qt.

Uses the line and inline positions of the parsed tokens, so marks, addresses and escapes do not shift what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from ui.markdown.inline import OFFSET
from ui.markdown.math_rules import BLOCK, INLINE

_LITERAL_BLOCKS = frozenset({"fence", "code_block", BLOCK})
_CELLS = frozenset({"th_open", "td_open"})


@dataclass(frozen=True, slots=True)
class SourceMap:
    """``text``: the shown characters; ``positions[i]``: the source position of ``text[i]``.

    ``formulas``: start and end of each formula's source in ``text``; a formula may be drawn as one character.
    """

    text: str = ""
    positions: Sequence[int] = ()
    formulas: tuple[tuple[int, int], ...] = ()


NO_SOURCE = SourceMap()


@dataclass(slots=True)
class SourceLines:
    """The lines of a source. ``used`` is the column in a line up to which table cells were mapped."""

    text: list[str]
    starts: list[int]
    used: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, source: str) -> SourceLines:
        """Split a source into lines."""
        text = source.split("\n")
        starts, place = [], 0
        for line in text:
            starts.append(place)
            place += len(line) + 1
        return cls(text, starts)

    def align(self, content: str, number: int, start: int | None = None) -> list[int]:
        """The positions of ``content`` at the end of line ``number``, else of its characters from ``start`` on."""
        if number >= len(self.text):
            return [self.starts[-1]] * len(content)
        line, begin = self.text[number], self.starts[number]
        if start is None and content and line.rstrip().endswith(content.rstrip()):
            first = begin + len(line.rstrip()) - len(content.rstrip())
            return list(range(first, first + len(content)))
        positions, place = [], start or 0
        for char in content:
            found = line.find(char, place)
            positions.append(begin + (found if found >= 0 else min(place, len(line))))
            place = found + 1 if found >= 0 else place
        self.used[number] = place
        return positions


class _MapBuilder:
    def __init__(self) -> None:
        self.text: list[str] = []
        self.positions: list[int] = []
        self.formulas: list[tuple[int, int]] = []

    def add(self, text: str, positions: Sequence[int], *, formula: bool = False) -> None:
        start = len(self.positions)
        self.text.append(text)
        self.positions.extend(positions)
        if formula:
            self.formulas.append((start, start + len(text)))

    def extend(self, other: _MapBuilder) -> None:
        start = len(self.positions)
        self.formulas += [(begin + start, end + start) for begin, end in other.formulas]
        self.text += other.text
        self.positions += other.positions


def map_source(tokens: Sequence[Token], lines: SourceLines, base: int = 0, *, is_mirrored: bool = False) -> SourceMap:
    """The source map of some top-level tokens; positions are counted from ``base``.

    A table that ``is_mirrored`` has the last cell of a row first.
    """
    builder = _MapBuilder()
    row: list[_MapBuilder] = []
    for index, token in enumerate(tokens):
        if token.type in _LITERAL_BLOCKS:
            _map_literal(token, lines, builder)
        elif token.type == "inline":
            row.append(_MapBuilder())
            _map_inline(token, _inline_positions(tokens, index, lines), row[-1] if is_mirrored else builder)
        elif token.type == "tr_close":
            for cell in reversed(row):
                builder.extend(cell)
            row = []
    positions = [place + base for place in builder.positions] if base else builder.positions
    return SourceMap("".join(builder.text), tuple(positions), tuple(builder.formulas))


def code_positions(token: Token, source: str, lines: SourceLines, base: int) -> Sequence[int]:
    first = (token.map or [0, 0])[0] + (1 if token.type == "fence" else 0)
    start = lines.starts[first] if first < len(lines.starts) else len(source)
    if source.startswith(token.content, start):
        return range(base + start, base + start + len(token.content))
    builder = _MapBuilder()
    _map_literal(token, lines, builder)
    return tuple(place + base for place in builder.positions)


def _map_literal(token: Token, lines: SourceLines, builder: _MapBuilder) -> None:
    first = (token.map or [0, 0])[0] + (1 if token.type == "fence" else 0)
    positions: list[int] = []
    for number, line in enumerate(token.content.split("\n"), start=first):
        if positions:
            positions.append(positions[-1] + 1)  # the line break
        elif number > first:
            positions.append(lines.starts[min(first, len(lines.starts) - 1)])
        positions += lines.align(line, number)
    builder.add(token.content, positions, formula=token.type == BLOCK and bool(token.info))


def _inline_positions(tokens: Sequence[Token], index: int, lines: SourceLines) -> list[int]:
    """The source position of every character of an inline block."""
    token, opening = tokens[index], tokens[index - 1]
    first = (token.map or opening.map or [0, 0])[0]
    if opening.type in ("th_open", "td_open"):
        return lines.align(token.content, first, lines.used.get(first, 0))
    if opening.type == "heading_open" and opening.markup.startswith("#"):
        line = lines.text[first] if first < len(lines.text) else ""
        at = line.find(opening.markup) + len(opening.markup)
        exact = line.find(token.content, at)
        return lines.align(token.content, first, exact if exact >= 0 else at)
    positions: list[int] = []
    for number, content in enumerate(token.content.split("\n"), start=first):
        if number > first:
            positions.append(positions[-1] + 1 if positions else 0)
        positions += lines.align(content, number)
    return positions


def _map_inline(token: Token, positions: Sequence[int], builder: _MapBuilder) -> None:
    src = token.content
    for child in token.children or ():
        begin = int(child.meta.get(OFFSET, 0))
        if child.type == "text" and src.startswith(child.content, begin):  # true for nearly all tokens
            builder.text.append(child.content)
            builder.positions += positions[begin : begin + len(child.content)]
        elif child.content or child.type == "image":
            shown = child.content or "image"
            builder.add(shown, [positions[i] for i in _offsets(child, shown, src, begin)], formula=child.type == INLINE)


def _offsets(child: Token, shown: str, src: str, begin: int) -> Sequence[int]:
    """Offsets of a token's characters in the inline source."""
    if child.type == "code_inline":
        begin += len(child.markup)
        words = src[begin:].replace("\n", " ")
        begin += 0 if words.startswith(shown + child.markup) else 1
    elif child.type == "text_special":
        begin += len(child.markup) - 1 if child.info == "escape" and len(shown) == 1 else 0
        if len(shown) != len(child.markup):
            return [min(begin, len(src) - 1)] * len(shown)
    elif not src.startswith(shown, begin):
        begin = next((place for place in (begin + 1, begin + 2) if src.startswith(shown, place)), -1)
    if begin < 0 or begin + len(shown) > len(src):
        return [min(int(child.meta.get(OFFSET, 0)), len(src) - 1)] * len(shown)
    return range(begin, begin + len(shown))


def clip_tokens(tokens: Sequence[Token], lines: SourceLines, begin: int, end: int) -> list[Token]:
    """The tokens that show a range of their source; empty tokens are dropped."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        if token.type in _LITERAL_BLOCKS:
            builder = _MapBuilder()
            _map_literal(token, lines, builder)
            inside = [begin <= place < end for place in builder.positions]
            cut = "".join(char for char, stays in zip(token.content, inside, strict=True) if stays)
            content = token.content if token.type == BLOCK and any(inside) else cut
            kept += [token.copy(content=content)] if content else []
        elif token.type == "inline":
            children = _clip_inline(token, _inline_positions(tokens, index, lines), begin, end)
            kept += [token.copy(children=children)] if children or tokens[index - 1].type in _CELLS else []
        elif token.type == "hr":
            kept += [token] if begin <= lines.starts[(token.map or [0])[0]] < end else []
        elif token.nesting < 0:
            _close(kept, token)
        else:
            kept.append(token)
    return kept


def _clip_inline(token: Token, positions: Sequence[int], begin: int, end: int) -> list[Token]:
    kept: list[Token] = []
    for child in token.children or ():
        if child.content or child.type == "image":
            shown = child.content or "image"
            offsets = _offsets(child, shown, token.content, int(child.meta.get(OFFSET, 0)))
            inside = [begin <= positions[offset] < end for offset in offsets]
            whole = all(inside) or (child.type in (INLINE, "image") and any(inside))
            cut = "".join(char for char, stays in zip(shown, inside, strict=True) if stays)
            kept += [child] if whole else [child.copy(content=cut)] if cut and child.type != "image" else []
        elif child.nesting < 0:
            _close(kept, child)
        elif child.nesting or (kept and kept[-1].nesting <= 0):  # no line break at the start
            kept.append(child)
    while kept and not kept[-1].content and not kept[-1].nesting and kept[-1].type != "image":
        kept.pop()
    return kept


def _close(kept: list[Token], closing: Token) -> None:
    """Close the last open token, or drop it if it is empty (a row if all its cells are empty)."""
    if closing.type == "tr_close":
        first = next(index for index in range(len(kept) - 1, -1, -1) if kept[index].type == "tr_open")
        if not any(token.children for token in kept[first:]):
            del kept[first:]
            return
    if kept and kept[-1].nesting > 0:
        kept.pop()
    else:
        kept.append(closing)
