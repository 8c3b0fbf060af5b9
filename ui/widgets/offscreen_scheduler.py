"""Schedules offscreen work into idle iterations of the event loop.

A scroll step is visibly late if the same iteration also creates a card.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QTimer

SCROLLING_S = 0.1  # scrolling counts as ended this long after the last step
PAINT_S = 0.004  # time to paint a scroll step
BETWEEN_S = 0.001
FRAME_S = 0.014  # one slice runs per frame; the rest of the frame is for painting
BETWEEN_SLICES_MS = 2  # lets the result of a slice be painted before the next slice
URGENT_PAGES = 2  # missing cards this near are built with ever shorter pauses
NUM_SLICES = 40  # maximum number of slices for an answer
USUAL_SLICE_S = 0.002
URGENT_SLICE_S = 0.0015  # for a card that will soon be visible and would then be built in one iteration
URGENT_S = 0.12
SCROLLING_SLICE_S = 0.0008  # a scroll step takes most of a frame


class OffscreenScheduler:
    """Decides when and how long offscreen work may run, from the movement of a scroll bar."""

    worked_s = staticmethod(time.thread_time)  # CPU time of this thread, so other programs do not shorten a slice

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._scrolled_s = self._worked_s = -math.inf
        self._postponed: set[QTimer] = set()  # timers of work that was postponed once
        self._skipped: set[QTimer] = set()  # timers of work that skipped an iteration in which scrolling may paint
        self._is_busy = False  # idle iterations are rare now
        self._is_auto_scrolling = False
        self._place = self._speed = 0.0  # in page heights, and in page heights per second

    def scrolled_to(self, place: float) -> None:
        now, before = self._clock(), self._place
        self._place = place
        if not self._is_auto_scrolling:
            passed_s = now - self._scrolled_s
            self._speed = abs(place - before) / max(passed_s, FRAME_S) if passed_s <= SCROLLING_S else 0.0
            self._scrolled_s = now

    @contextmanager
    def auto_scrolling(self) -> Iterator[None]:
        """In this context the program scrolls, not the user."""
        was, self._is_auto_scrolling = self._is_auto_scrolling, True
        try:
            yield
        finally:
            self._is_auto_scrolling = was

    @property
    def is_scrolling(self) -> bool:
        return self._clock() - self._scrolled_s <= SCROLLING_S

    def slice_s(self, pages: float) -> float:
        """The seconds that a slice of work may take at this distance; a started step is finished."""
        if not self.is_scrolling:
            return USUAL_SLICE_S
        is_soon = self._is_busy or pages < self._speed * URGENT_S
        return URGENT_SLICE_S if is_soon else SCROLLING_SLICE_S

    def pause_ms(self, pages: float) -> int:
        """The milliseconds between two slices at this distance in page heights."""
        if not self.is_scrolling:
            return BETWEEN_SLICES_MS
        left_ms = 1000 * pages / self._speed / NUM_SLICES if self._speed else math.inf
        return max(BETWEEN_SLICES_MS, round(min(FRAME_S * 1000 * min(pages / URGENT_PAGES, 1), left_ms)))

    def run(self, timer: QTimer, work: Callable[[], object]) -> None:
        """Run a slice of ``timer``'s work, or postpone it once to an idle iteration of the event loop.

        After that it runs in any case: if no iteration is idle, more waiting would make the work too late.
        """
        wait_ms = self.wait_ms()
        if wait_ms and timer not in self._postponed and not self._is_busy:
            self._postponed.add(timer)
            timer.start(wait_ms)
            return
        if self.is_scrolling and not self._is_busy and timer not in self._skipped:
            self._skipped.add(timer)
            timer.start(0)
            return
        self._skipped.discard(timer)
        self._postponed.discard(timer)
        self._is_busy = wait_ms > 0
        work()
        self._worked_s = self._clock()

    def wait_ms(self) -> int:
        """The milliseconds to wait before the next slice; may be 0."""
        now = self._clock()
        left_s = max(self._scrolled_s + PAINT_S, self._worked_s + BETWEEN_S) - now
        return math.ceil(left_s * 1000) if left_s > 0 else 0
