"""Colours code without holding the event loop: long code a little in every turn, lexers loaded on a thread."""

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


@dataclass(slots=True, eq=False)
class _Job:
    highlighter: RangeHighlighter
    code: str
    language: str
    found: Iterator[tuple[int, Range | None]] | None = None
    line: int = 0
    parts: list[Range] = field(default_factory=list)

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
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self._work)

    def highlight(self, highlighter: RangeHighlighter, code: str, language: str, *, at_once: bool = True) -> None:
        """Colour ``code``, which is the highlighter's document; not ``at_once`` where this turn has work enough."""
        self.cancel(highlighter)
        if at_once and is_loaded(language) and len(code) <= AT_ONCE_CHARS:
            highlighter.set_ranges(line_ranges(code, language))
            return
        if not is_loaded(language) and language not in self._loading:
            self._loading[language] = Thread(target=load, args=(language,), daemon=True)
            QTimer.singleShot(LOAD_AFTER_MS, self, self._loading[language].start)
        highlighter.clear()
        self._jobs.append(_Job(highlighter, code, language))
        self._timer.start()

    def cancel(self, highlighter: RangeHighlighter) -> None:
        """Highlight it no more: its text changed or went away."""
        self._jobs = [job for job in self._jobs if job.highlighter is not highlighter]

    def _work(self) -> None:
        self._jobs = [job for job in self._jobs if isValid(job.highlighter)]
        job = next((job for job in self._jobs if is_loaded(job.language)), None)
        if job is not None and not job.work(time.perf_counter() + TURN_S):
            self._jobs.remove(job)
        if self._jobs:
            self._timer.start()
