"""Code to coloured ranges with Pygments, and a highlighter that lays them over a document without touching its text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from ui.theme.palette import Palette

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Range = tuple[int, int, str]  # start, length, palette field
Marked = tuple[int, int, QTextCharFormat]  # start, length, what is laid over
_FIELDS: tuple[tuple[str, str], ...] = (  # Pygments' kinds of tokens
    ("Comment", "code_comment"),
    ("Keyword.Type", "code_type"),
    ("Keyword", "code_keyword"),
    ("Operator.Word", "code_keyword"),
    ("Literal.String", "code_string"),
    ("Literal.Number", "code_number"),
    ("Name.Class", "code_type"),
    ("Name.Builtin", "code_type"),
    ("Name.Decorator", "code_name"),
    ("Name.Function", "code_name"),
    ("Name.Tag", "code_keyword"),
    ("Name.Attribute", "code_name"),
)

MAX_LINE_CHARS = 1_000  # many lexers take the square of a line's length: for some lines of 60,000 characters minutes
_LEXERS: dict[str, Lexer | None] = {}  # by the names that were met


def is_loaded(language: str) -> bool:
    """Whether code of this language is coloured without its lexer being made first, which takes up to 30 ms."""
    return not language or language in _LEXERS


def load(language: str) -> None:
    """Make the lexer of a language; from any thread."""
    # Imported with the first code that is seen: the window does not wait for it.
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415
    from pygments.util import ClassNotFound  # noqa: PLC0415

    try:
        _LEXERS[language] = get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        _LEXERS[language] = None


def _lexer(language: str) -> Lexer | None:
    if not is_loaded(language):
        load(language)
    return _LEXERS.get(language)


@cache
def _field(kind: object) -> str:
    name = str(kind).removeprefix("Token.") + "."
    return next((field for parent, field in _FIELDS if name.startswith(parent + ".")), "")


def line_ranges(code: str, language: str) -> list[list[Range]]:
    """For each line of ``code`` the ranges that are not plain text; empty lists for an unknown language."""
    lines: list[list[Range]] = [[] for _ in range(code.count("\n") + 1)]
    for line, part in ranges(code, language):
        if part is not None and line < len(lines):
            lines[line].append(part)
    return lines


def ranges(code: str, language: str) -> Iterator[tuple[int, Range | None]]:
    """Each token's line and its range, None where it is plain text; in order, and only as far as it is asked for."""
    lexer = _lexer(language) if language and max(map(len, code.split("\n"))) <= MAX_LINE_CHARS else None
    line = column = 0
    for kind, value in lexer.get_tokens(code) if lexer is not None else ():
        field = _field(kind)
        for index, part in enumerate(value.split("\n")):
            if index:
                line, column = line + 1, 0
            length = utf16_length(part)
            yield line, (column, length, field) if part and field else None
            column += length


def utf16_length(text: str) -> int:
    """Length as Qt counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


class RangeHighlighter(QSyntaxHighlighter):
    """Colours lines from ranges computed once; another palette only redraws."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._ranges: list[list[Range]] = []
        self._formats: dict[str, QTextCharFormat] = {}
        self._marks: dict[int, list[Marked]] = {}

    def set_marks(self, marks: dict[int, list[Marked]], first: int = 0) -> None:
        """Lay these formats over the colours of lines from ``first`` on, and over no others there."""
        for line in range(first, self.document().blockCount()):
            wanted = marks.get(line, [])
            if self._marks.get(line, []) != wanted:
                self._marks[line] = wanted
                self.rehighlightBlock(self.document().findBlockByNumber(line))

    def forget_marks(self) -> None:
        """Another text is about to come."""
        self._marks.clear()

    def reset(self) -> None:
        """Another text is about to come, and nothing is known of it."""
        self._ranges = []
        self._marks.clear()

    def set_palette(self, tokens: Palette) -> None:
        fields = {field for _, field in _FIELDS}
        self._formats = {field: _format(str(getattr(tokens, field)), field) for field in fields}
        if self._ranges:
            self.rehighlight()

    def set_ranges(self, ranges: list[list[Range]]) -> None:
        """Colour the document, one list of ranges a line."""
        self._ranges = ranges
        self.rehighlight()

    def clear(self) -> None:
        if self._ranges:
            self.set_ranges([])

    def set_line(self, line: int, parts: list[Range]) -> None:
        """Colour one line more; those before it are known. One that has these colours is left alone."""
        self._ranges += [[] for _ in range(line + 1 - len(self._ranges))]
        if self._ranges[line] == parts:
            return
        self._ranges[line] = parts
        self.rehighlightBlock(self.document().findBlockByNumber(line))

    def highlightBlock(self, text: str) -> None:  # noqa: ARG002
        line = self.currentBlock().blockNumber()
        if line < len(self._ranges):
            for start, length, field in self._ranges[line]:
                self.setFormat(start, length, self._formats[field])
        for start, length, shape in self._marks.get(line, ()):
            self._lay_over(start, start + length, shape)

    def _lay_over(self, start: int, end: int, shape: QTextCharFormat) -> None:
        """Keep the colours below."""
        while start < end:
            below, stop = self.format(start), start + 1
            while stop < end and self.format(stop) == below:
                stop += 1
            below.merge(shape)
            self.setFormat(start, stop - start, below)
            start = stop


def _format(color: str, field: str) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setForeground(QColor(color))
    result.setFontItalic(field == "code_comment")
    return result
