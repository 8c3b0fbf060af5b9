"""Colours code without holding the event loop: long code a little in every turn, lexers loaded on a thread.

Code that still grows is coloured line by line as well: all of it anew, since a lexer begins at the beginning, but so
seldom that it takes a twentieth of the time at most.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Thread

from PySide6.QtCore import QObject, QTimer
from shiboken6 import isValid

from ui.theme.highlighting import Range, RangeHighlighter, is_loaded, line_ranges, load, ranges

AT_ONCE_CHARS = 600  # coloured in less than two milliseconds
TURN_S = 0.002
PAUSE_MS = 4
LOAD_AFTER_MS = 80  # the thread holds the interpreter too: what is being opened is painted first
TOKENS_A_LOOK = 16  # between looks at the clock
GROWTH_MS = 250  # between two looks at code that grows: a line is coloured soon after it is whole
GROWTH_REST = 20.0  # times what the last look took, before the next


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
        """Colour lines until the clock says so; False where all are done."""
        if self.found is None:
            self.found = ranges(self.code, self.language)
        for number, (line, part) in enumerate(self.found, start=1):
            if line != self.line:
                self.highlighter.set_line(self.line, self.parts)
                self.line, self.parts = line, []
            if part is not None:
                self.parts.append(part)
            if number % TOKENS_A_LOOK == 0 and time.perf_counter() > until:
                return True
        self.highlighter.set_line(self.line, self.parts)
        return False


class HighlightQueue(QObject):
    """One queue for all code that is to be coloured; what is short, in a language that was met before, at once."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: list[_Job] = []
        self._loading: dict[str, Thread] = {}
        self._growing: dict[RangeHighlighter, tuple[str, str]] = {}  # code and language that were not looked at yet
        self._rest_until: dict[RangeHighlighter, float] = {}
        self._growth = QTimer(self, singleShot=True, interval=GROWTH_MS)
        self._growth.timeout.connect(self._look_at_growth)
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self._work)

    def highlight(self, highlighter: RangeHighlighter, code: str, language: str, *, at_once: bool = True) -> None:
        """Colour ``code``, which is the highlighter's document; not ``at_once`` where this turn has work enough.

        What was coloured while it grew stays until its line comes.
        """
        has_grown = highlighter in self._rest_until
        self.cancel(highlighter)
        if at_once and is_loaded(language) and len(code) <= AT_ONCE_CHARS:
            highlighter.set_ranges(line_ranges(code, language))
            return
        self._load(language)
        if not has_grown:
            highlighter.clear()
        self._jobs.append(_Job(highlighter, code, language))
        self._timer.start()

    def follow(self, highlighter: RangeHighlighter, code: str, language: str) -> None:
        """Colour the whole lines of code that is being written; what is coloured of it stays."""
        whole = code[: code.rfind("\n") + 1]
        if not language or not whole:
            return
        self._rest_until.setdefault(highlighter, 0.0)
        self._growing[highlighter] = (whole, language)
        if not self._growth.isActive():
            self._growth.start()

    def _look_at_growth(self) -> None:
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
        """Highlight it no more: its text changed or went away."""
        self._growing.pop(highlighter, None)
        self._rest_until.pop(highlighter, None)
        self._jobs = [job for job in self._jobs if job.highlighter is not highlighter]

    def _work(self) -> None:
        self._jobs = [job for job in self._jobs if isValid(job.highlighter)]
        job = next((job for job in self._jobs if is_loaded(job.language)), None)
        if job is not None:
            began = time.perf_counter()
            is_left = job.work(began + TURN_S)
            ended = time.perf_counter()
            job.spent_s += ended - began
            if not is_left:
                self._jobs.remove(job)
            if job.highlighter in self._rest_until:
                self._rest_until[job.highlighter] = ended + GROWTH_REST * job.spent_s
        if self._jobs:
            self._timer.start()
