"""Delivers the engine's events to the GUI thread, batched: one delivery every 50 to 250 ms.

No timer runs while the engine is idle.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal

from app.core.domain.speed.races import LaneText
from engine.process.channel import SWITCH_S
from engine.records import Event, LoadProgress, PrefillProgress, StatsUpdate, SummaryUpdate, TextChunk
from engine.requests import Engine, OnEvent

INTERVAL_MS = 50.0  # between two deliveries
UNREAD_INTERVAL_MS = 150.0  # for answers faster than people read: each delivery has several lines
READING_TOKENS_S = 60.0
RUSH_INTERVAL_MS = 250.0  # for very fast answers: showing text must not slow them
RUSH_TOKENS_S = 300.0
_WEIGHT = 0.2  # weight of the newest delivery in the moving average


def interval_ms(tokens_s: float) -> float:
    """Minimum time between two deliveries to a window that shows so many tokens a second."""
    if tokens_s <= READING_TOKENS_S:
        return INTERVAL_MS
    return max(UNREAD_INTERVAL_MS, RUSH_INTERVAL_MS * min(1.0, tokens_s / RUSH_TOKENS_S))


_ANSWER_EVENTS = TextChunk | StatsUpdate | PrefillProgress | SummaryUpdate  # events of a running answer
MakeWorker = Callable[[OnEvent], Engine]


class EngineBridge(QObject):
    event_arrived = Signal(object)
    _woken = Signal()

    def __init__(self, make_worker: MakeWorker) -> None:
        super().__init__()
        # The engine's thread needs Python's GIL several times a pass. With the default interval it waits up to 5 ms
        # each time while the window computes, but a drafted token takes only 0.5 ms.
        sys.setswitchinterval(min(SWITCH_S, sys.getswitchinterval()))
        self._lock = threading.Lock()
        self._waiting: list[Event] = []
        self._wake_sent = False
        self._since_drain = QElapsedTimer()
        self._tokens_s = 0.0  # moving average over deliveries
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
        wait_ms = interval_ms(self._tokens_s) - self._since_drain.elapsed() if self._since_drain.isValid() else 0.0
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
            elapsed_ms = self._since_drain.restart()
            if 0 < elapsed_ms <= 2.0 * RUSH_INTERVAL_MS:  # a longer gap: the engine was idle
                self._tokens_s += (1000.0 * num_tokens / elapsed_ms - self._tokens_s) * _WEIGHT
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
