"""Code to coloured ranges with Pygments, and a highlighter that lays them over a document without touching its text."""

from __future__ import annotations

from functools import cache, lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from ui.palette import Palette

Range = tuple[int, int, str]  # start, length, palette field
_FIELDS: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "code_comment"),
    (Keyword.Type, "code_type"),
    (Keyword, "code_keyword"),
    (Operator.Word, "code_keyword"),
    (String, "code_string"),
    (Number, "code_number"),
    (Name.Class, "code_type"),
    (Name.Builtin, "code_type"),
    (Name.Decorator, "code_name"),
    (Name.Function, "code_name"),
    (Name.Tag, "code_keyword"),
    (Name.Attribute, "code_name"),
)


@lru_cache(maxsize=32)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _is_kind(kind: _TokenType, parent: _TokenType) -> bool:
    return tuple(kind[: len(parent)]) == tuple(parent)


@cache
def _field(kind: _TokenType) -> str:
    return next((field for parent, field in _FIELDS if _is_kind(kind, parent)), "")


def line_ranges(code: str, language: str) -> list[list[Range]]:
    """For each line of ``code`` the ranges that are not plain text; empty lists for an unknown language."""
    lines: list[list[Range]] = [[] for _ in range(code.count("\n") + 1)]
    lexer = _lexer(language) if language else None
    if lexer is None:
        return lines
    line = column = 0
    for kind, value in lexer.get_tokens(code):
        field = _field(kind)
        for index, part in enumerate(value.split("\n")):
            if index:
                line, column = line + 1, 0
            if part and field and line < len(lines):
                lines[line].append((column, utf16_length(part), field))
            column += utf16_length(part)
    return lines


def utf16_length(text: str) -> int:
    """Length as Qt counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


class RangeHighlighter(QSyntaxHighlighter):
    """Colours lines from ranges computed once; another palette only redraws."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._ranges: list[list[Range]] = []
        self._formats: dict[str, QTextCharFormat] = {}

    def set_palette(self, tokens: Palette) -> None:
        """Take the colours of a palette."""
        fields = {field for _, field in _FIELDS}
        self._formats = {field: _format(str(getattr(tokens, field)), field) for field in fields}
        if self._ranges:
            self.rehighlight()

    def set_ranges(self, ranges: list[list[Range]]) -> None:
        """Colour the document, one list of ranges a line."""
        self._ranges = ranges
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:  # noqa: ARG002
        """Called by Qt for each line."""
        line = self.currentBlock().blockNumber()
        if line < len(self._ranges):
            for start, length, field in self._ranges[line]:
                self.setFormat(start, length, self._formats[field])


def _format(color: str, field: str) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setForeground(QColor(color))
    result.setFontItalic(field == "code_comment")
    return result
