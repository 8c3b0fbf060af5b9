"""Delivers the engine's events to the GUI thread, batched: one delivery every 25 to 250 ms.

No timer runs while the engine is idle.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal

from app.core.domain.speed.races import LaneText
from engine.process.channel import SWITCH_S
from engine.records import Event, LoadProgress, PrefillProgress, StatsUpdate, SummaryUpdate, TextChunk
from engine.requests import Engine, OnEvent

MIN_INTERVAL_MS, MAX_INTERVAL_MS = 25.0, 50.0
MAX_UNREAD_INTERVAL_MS = 150.0  # interval for fast answers: each delivery has several lines
READING_TOKENS_S = 60.0
MAX_RUSH_INTERVAL_MS = 250.0  # for very fast answers: showing text must not slow them
RUSH_TOKENS_S = 300.0
CORE_SHARE = 0.0125  # share of each core's time that the window may use
_WEIGHT = 0.2  # weight of the newest delivery in the moving averages
_MAX_COST_MS = 15.0  # a longer delivery counts as this: opening a dialog is an outlier


class EventThrottle:
    """Chooses the interval of deliveries by the CPU time that they take on this thread."""

    def __init__(self, num_cores: int | None = None, own_s: Callable[[], float] = time.thread_time) -> None:
        """``own_s``: CPU seconds of this thread so far."""
        self._share = CORE_SHARE * (num_cores or os.cpu_count() or 2)
        self._own_s = own_s
        self._before_s = own_s()
        self._cost_ms = 0.0
        self._tokens_s = 0.0

    @property
    def interval_ms(self) -> float:
        """Minimum time between two deliveries."""
        longest_ms = MAX_INTERVAL_MS
        if self._tokens_s > READING_TOKENS_S:
            rush_ms = MAX_RUSH_INTERVAL_MS * min(1.0, self._tokens_s / RUSH_TOKENS_S)
            longest_ms = max(MAX_UNREAD_INTERVAL_MS, rush_ms)
        return min(longest_ms, max(MIN_INTERVAL_MS, self._cost_ms / self._share))

    def delivered(self, elapsed_ms: float, num_tokens: int) -> None:
        """Record a delivery: the time since the previous one, and its tokens."""
        now_s = self._own_s()
        cost_ms, self._before_s = 1000.0 * (now_s - self._before_s), now_s
        if 0.0 < elapsed_ms <= 2.0 * MAX_RUSH_INTERVAL_MS:  # a longer gap: the engine was idle
            self._cost_ms += (min(cost_ms, _MAX_COST_MS) - self._cost_ms) * _WEIGHT
            self._tokens_s += (1000.0 * num_tokens / elapsed_ms - self._tokens_s) * _WEIGHT


# The engine's thread needs Python's GIL several times a pass. With Python's default switch interval it waits up to 5 ms
# each time while the window computes, but a drafted token takes only 0.5 ms.


_ANSWER_EVENTS = TextChunk | StatsUpdate | PrefillProgress | SummaryUpdate  # events of a running answer
MakeWorker = Callable[[OnEvent], Engine]


class EngineBridge(QObject):
    event_arrived = Signal(object)
    _woken = Signal()

    def __init__(self, make_worker: MakeWorker) -> None:
        super().__init__()
        sys.setswitchinterval(min(SWITCH_S, sys.getswitchinterval()))
        self._lock = threading.Lock()
        self._waiting: list[Event] = []
        self._wake_sent = False
        self._since_drain = QElapsedTimer()
        self._pace = EventThrottle()
        self._timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._drain)
        self._woken.connect(self._on_woken, Qt.ConnectionType.QueuedConnection)
        self._closed = False
        self.num_wake_ups = 0
        self.worker = make_worker(self.post)

    def post(self, event: Event) -> None:
        with self._lock:
            if self._closed:
                return
            self._waiting.append(event)
            if self._wake_sent:
                return
            self._wake_sent = True
        self._woken.emit()

    def shutdown(self, timeout_s: float) -> bool:
        ended = self.worker.close(timeout_s)
        with self._lock:
            self._closed = True
            self._waiting.clear()
        self._timer.stop()
        return ended

    def _on_woken(self) -> None:
        self.num_wake_ups += 1
        wait_ms = self._pace.interval_ms - self._since_drain.elapsed() if self._since_drain.isValid() else 0.0
        if wait_ms > 0.0:
            self._timer.start(round(wait_ms))
        else:
            self._drain()

    def _drain(self) -> None:
        with self._lock:
            events, self._waiting = self._waiting, []
            self._wake_sent = False
        if self._since_drain.isValid():
            num_tokens = sum(len(event.spans) for event in events if isinstance(event, TextChunk | LaneText))
            self._pace.delivered(self._since_drain.restart(), num_tokens)
        else:
            self._since_drain.start()
        for event in merge_events(events):
            self.event_arrived.emit(event)


def merge_events(events: Iterable[Event]) -> list[Event]:
    """Merge adjacent events: text is joined; only the newest progress and counters are kept.

    Events of several kinds and answers may be interleaved; only the order of text within an answer matters.
    """
    kept: list[Event] = []
    for _, run in groupby(events, key=_merge_key):
        by_kind: dict[tuple[type, int], list[Event]] = {}
        for event in run:
            number = event.request_id if isinstance(event, _ANSWER_EVENTS) else 0
            by_kind.setdefault((type(event), number), []).append(event)
        kept += [_join_events(alike) for alike in by_kind.values()]
    return kept


def _merge_key(event: Event) -> tuple[object, ...]:
    """Adjacent events with equal keys are merged; the key is unique if an event cannot be merged."""
    if isinstance(event, _ANSWER_EVENTS):
        return (TextChunk,)
    if isinstance(event, LaneText):
        return LaneText, event.lane, event.round
    if isinstance(event, LoadProgress):
        return LoadProgress, event.path
    return (id(event),)


def _join_events(alike: list[Event]) -> Event:
    last = alike[-1]
    if isinstance(last, TextChunk | LaneText):
        chunks = [event for event in alike if isinstance(event, TextChunk | LaneText)]
        spans = tuple(span for chunk in chunks for span in chunk.spans)
        return replace(chunks[0], text="".join(chunk.text for chunk in chunks), spans=spans)
    return last
