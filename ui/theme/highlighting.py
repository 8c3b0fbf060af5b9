"""Splits code into coloured ranges with Pygments; a highlighter applies them without changing the text."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from shiboken6 import isValid

from ui.theme.palette import Palette

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Range = tuple[int, int, str]  # start, length, palette field
Marked = tuple[int, int, QTextCharFormat]  # start, length, format applied over the colours
_FIELDS: tuple[tuple[str, str], ...] = (  # Pygments token types
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

MAX_LINE_CHARS = 1_000  # many lexers take quadratic time: minutes for some lines of 60,000 characters
_LEXERS: dict[str, Lexer | None] = {}  # loaded lexers by language name
SYNCHRONOUS_CHARS = 600  # colouring takes less than two milliseconds
SLICE_S = 0.002
PAUSE_MS = 4
LOAD_AFTER_MS = 80  # loading holds the interpreter lock, so the content is painted first
TOKENS_PER_CHECK = 16  # tokens between two checks of the time
GROWTH_MS = 250  # pause between two updates of growing code: a line is coloured soon after it is complete
GROWTH_PAUSE_FACTOR = 20.0  # minimum pause as a multiple of the last update's duration


def is_loaded(language: str) -> bool:
    """Whether the lexer of a language is loaded; loading takes up to 30 ms."""
    return not language or language in _LEXERS


def load(language: str) -> None:
    """Load a language's lexer; may be called on any thread."""
    # Imported with the first code: the window does not wait for it.
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415
    from pygments.util import ClassNotFound  # noqa: PLC0415

    try:
        _LEXERS[language] = get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        _LEXERS[language] = None


def lexer_of(code: str, language: str) -> Lexer | None:
    """The lexer for this code; None if there is none, or if it would take too long."""
    if not language or max(map(len, code.split("\n"))) > MAX_LINE_CHARS:
        return None
    if not is_loaded(language):
        load(language)
    return _LEXERS.get(language)


@cache
def _field(kind: object) -> str:
    name = str(kind).removeprefix("Token.") + "."
    return next((field for parent, field in _FIELDS if name.startswith(parent + ".")), "")


def line_ranges(code: str, language: str) -> list[list[Range]]:
    """The coloured ranges of each line; empty for an unknown language."""
    lines: list[list[Range]] = [[] for _ in range(code.count("\n") + 1)]
    for line, part in ranges(code, language):
        if part is not None and line < len(lines):
            lines[line].append(part)
    return lines


def ranges(code: str, language: str) -> Iterator[tuple[int, Range | None]]:
    """Yield the line of each token and its range; the range is None for plain text."""
    lexer = lexer_of(code, language)
    line = column = 0
    for kind, value in lexer.get_tokens(code) if lexer is not None else ():
        field = _field(kind)
        for index, part in enumerate(value.split("\n")):
            if index:
                line, column = line + 1, 0
            length = len(part) if part.isascii() else len(part.encode("utf-16-le")) // 2
            yield line, (column, length, field) if part and field else None
            column += length


class RangeHighlighter(QSyntaxHighlighter):
    """Colours lines by precomputed ranges; a palette change only repaints."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._ranges: list[list[Range]] = []
        self._formats: dict[str, QTextCharFormat] = {}
        self._marks: dict[int, list[Marked]] = {}

    def set_marks(self, marks: dict[int, list[Marked]], first: int = 0) -> None:
        """Apply these formats over the colours of the lines from ``first`` on, and remove others there."""
        for line in range(first, self.document().blockCount()):
            wanted = marks.get(line, [])
            if self._marks.get(line, []) != wanted:
                self._marks[line] = wanted
                self.rehighlightBlock(self.document().findBlockByNumber(line))

    def forget_marks(self) -> None:
        self._marks.clear()

    def reset(self) -> None:
        """Clear all state before another text."""
        self._ranges = []
        self._marks.clear()

    def set_palette(self, tokens: Palette) -> None:
        fields = {field for _, field in _FIELDS}
        self._formats = {field: _format(str(getattr(tokens, field)), field) for field in fields}
        if self._ranges:
            self.rehighlight()

    def set_ranges(self, ranges: list[list[Range]]) -> None:
        self._ranges = ranges
        self.rehighlight()

    def clear(self) -> None:
        if self._ranges:
            self.set_ranges([])

    def set_line(self, line: int, parts: list[Range]) -> None:
        """Set the next line's ranges; skipped if they are the same."""
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
            self._apply_over(start, start + length, shape)

    def _apply_over(self, start: int, end: int, shape: QTextCharFormat) -> None:
        """Apply a format, keeping the colours below."""
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


@dataclass(slots=True, eq=False)
class _Job:
    highlighter: RangeHighlighter
    code: str
    language: str
    found: Iterator[tuple[int, Range | None]] | None = None
    line: int = 0
    parts: list[Range] = field(default_factory=list)
    spent_s: float = 0.0

    def work(self, until: float) -> bool:
        """Colour lines until the deadline; False if all are done."""
        if self.found is None:
            self.found = ranges(self.code, self.language)
        for number, (line, part) in enumerate(self.found, start=1):
            if line != self.line:
                self.highlighter.set_line(self.line, self.parts)
                self.line, self.parts = line, []
            if part is not None:
                self.parts.append(part)
            if number % TOKENS_PER_CHECK == 0 and time.perf_counter() > until:
                return True
        self.highlighter.set_line(self.line, self.parts)
        return False


class HighlightQueue(QObject):
    """Colours code without blocking the event loop: long code in slices, lexers loaded on a thread.

    Short code of a loaded language is coloured at once. Growing code is coloured line by line; its lexer restarts each
    time, at intervals that limit its cost to a twentieth of the time.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: list[_Job] = []
        self._loading: dict[str, Thread] = {}
        self._growing: dict[RangeHighlighter, tuple[str, str]] = {}  # code and language that still have to be coloured
        self._rest_until: dict[RangeHighlighter, float] = {}
        self._growth = QTimer(self, singleShot=True, interval=GROWTH_MS)
        self._growth.timeout.connect(self._update_growing)
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self._work)

    def highlight(self, highlighter: RangeHighlighter, code: str, language: str, *, at_once: bool = True) -> None:
        """Colour ``code``, the text of the highlighter's document; if not ``at_once``, in a later event loop iteration.

        Existing colours stay until their line is reached.
        """
        has_grown = highlighter in self._rest_until
        self.cancel(highlighter)
        if at_once and is_loaded(language) and len(code) <= SYNCHRONOUS_CHARS:
            highlighter.set_ranges(line_ranges(code, language))
            return
        self._load(language)
        if not has_grown:
            highlighter.clear()
        self._jobs.append(_Job(highlighter, code, language))
        self._timer.start()

    def highlight_growing(self, highlighter: RangeHighlighter, code: str, language: str) -> None:
        """Colour the complete lines of growing code."""
        whole = code[: code.rfind("\n") + 1]
        if not language or not whole:
            return
        self._rest_until.setdefault(highlighter, 0.0)
        self._growing[highlighter] = (whole, language)
        if not self._growth.isActive():
            self._growth.start()

    def _update_growing(self) -> None:
        self._growing = {one: given for one, given in self._growing.items() if isValid(one)}
        self._rest_until = {one: until for one, until in self._rest_until.items() if isValid(one)}
        now, at_work = time.perf_counter(), {job.highlighter for job in self._jobs}
        for highlighter, (code, language) in list(self._growing.items()):
            if highlighter not in at_work and now >= self._rest_until[highlighter]:
                del self._growing[highlighter]
                self._load(language)
                self._jobs.append(_Job(highlighter, code, language))
                self._timer.start()
        if self._growing:
            self._growth.start()

    def _load(self, language: str) -> None:
        if not is_loaded(language) and language not in self._loading:
            self._loading[language] = Thread(target=load, args=(language,), daemon=True)
            QTimer.singleShot(LOAD_AFTER_MS, self, self._loading[language].start)

    def cancel(self, highlighter: RangeHighlighter) -> None:
        self._growing.pop(highlighter, None)
        self._rest_until.pop(highlighter, None)
        self._jobs = [job for job in self._jobs if job.highlighter is not highlighter]

    def _work(self) -> None:
        self._jobs = [job for job in self._jobs if isValid(job.highlighter)]
        job = next((job for job in self._jobs if is_loaded(job.language)), None)
        if job is not None:
            began = time.perf_counter()
            is_left = job.work(began + SLICE_S)
            ended = time.perf_counter()
            job.spent_s += ended - began
            if not is_left:
                self._jobs.remove(job)
            if job.highlighter in self._rest_until:
                self._rest_until[job.highlighter] = ended + GROWTH_PAUSE_FACTOR * job.spent_s
        if self._jobs:
            self._timer.start()
