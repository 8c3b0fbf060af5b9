"""The answers in the making: text grows in memory and goes to the file at most every 250 ms, again after a failure.

Knows neither thread nor SQLite: it says what is due, and is told what was written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.messages import MessageState
from engine.records import RunStats, TokenSpan

FLUSH_S = 0.25
RETRY_S = 1.0


@dataclass(frozen=True, slots=True)
class Run:
    """What gave an answer, or the last part of one that goes on: names of the models, and this run's own counters."""

    target: str
    draft: str
    stats: RunStats
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Ending:
    """How an answer ended. One that is not to be kept leaves no row; ``cut``: at the longest allowed length.

    ``stats`` are the whole answer's figures, ``run`` is what the lifetime totals count, ``thinking_ms`` is how long it
    reasoned.
    """

    state: MessageState
    stats: RunStats | None = None
    notice: str = ""
    keep: bool = True
    cut: bool = False
    run: Run | None = None
    thinking_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that is to be written of one answer: always the whole text, so that writing it twice does no harm."""

    message_id: int
    text: str
    spans: tuple[TokenSpan, ...]
    ending: Ending | None
    num_changes: int
    thinking_ms: int | None = None

    def as_fields(self) -> dict[str, Any]:
        """What a message has by it, as fields of its view; of the time that it reasoned and of its model if known."""
        ending = self.ending or Ending(MessageState.STREAMING)
        fields: dict[str, Any] = {name: getattr(ending, name) for name in ("state", "stats", "notice", "cut")}
        if self.thinking_ms:
            fields["thinking_ms"] = self.thinking_ms
        if ending.run:
            fields["target"] = ending.run.target
        return {**fields, "text": self.text, "spans": self.spans}


@dataclass(slots=True)
class _Growing:
    parts: list[str] = field(default_factory=list)
    spans: list[TokenSpan] = field(default_factory=list)
    ending: Ending | None = None
    num_changes: int = 0
    num_written: int = 0
    due_s: float = 0.0
    thinking_ms: int | None = None


class GrowingAnswers:
    """Answers by message id. Every method may be called from any thread."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._growing: dict[int, _Growing] = {}

    def begin(self, message_id: int, text: str = "", spans: Sequence[TokenSpan] = ()) -> None:
        """Start an answer whose row is in the file already, with the text that it has there."""
        with self._lock:
            self._growing[message_id] = _Growing([text], list(spans))

    def append(self, message_id: int, text: str, spans: Sequence[TokenSpan], thinking_ms: int | None = None) -> bool:
        """Add text, and how long it reasoned so far; True where the writer is to be woken: nothing waited before."""
        with self._lock:
            answer = self._growing[message_id]
            answer.parts.append(text)
            answer.spans.extend(spans)
            answer.thinking_ms = thinking_ms
            return self._changed(answer)

    def end(self, message_id: int, ending: Ending) -> None:
        """Close the answer; it is due at once."""
        with self._lock:
            answer = self._growing[message_id]
            answer.ending = ending
            self._changed(answer)
            answer.due_s = self._clock()

    def current(self, message_id: int) -> Snapshot | None:
        """Give an answer as it is now, written or not; None where it does not grow."""
        with self._lock:
            answer = self._growing.get(message_id)
            return None if answer is None else self._snapshot(message_id, answer)

    @property
    def going(self) -> tuple[int, ...]:
        """The answers that are not to be kept, but stand in the file for as long as the disk takes nothing."""
        with self._lock:
            endings = ((number, answer.ending) for number, answer in self._growing.items())
            return tuple(number for number, ending in endings if ending is not None and not ending.keep)

    def due(self, *, everything: bool = False, ended: bool = False) -> list[Snapshot]:
        """Give what should be written now; ``everything`` does not wait for its time, nor does what ``ended``."""
        with self._lock:
            now = self._clock()
            return [
                self._snapshot(message_id, answer)
                for message_id, answer in self._growing.items()
                if answer.num_changes > answer.num_written
                and (everything or answer.due_s <= now or (ended and answer.ending is not None))
            ]

    def written(self, snapshot: Snapshot) -> None:
        """Note that a snapshot is in the file for good."""
        with self._lock:
            answer = self._growing.get(snapshot.message_id)
            if answer is None:
                return
            if snapshot.ending is not None:
                del self._growing[snapshot.message_id]
                return
            answer.num_written = snapshot.num_changes
            if answer.ending is None:  # one that ended while it was written is due at once
                answer.due_s = self._clock() + FLUSH_S

    def failed(self, snapshot: Snapshot) -> None:
        """Note that writing failed; it is due again in a while."""
        with self._lock:
            answer = self._growing.get(snapshot.message_id)
            if answer is not None:
                answer.due_s = self._clock() + RETRY_S

    def wait_s(self) -> float | None:
        """Tell how long until something is due; None where nothing waits."""
        with self._lock:
            due = [answer.due_s for answer in self._growing.values() if answer.num_changes > answer.num_written]
            return max(0.0, min(due) - self._clock()) if due else None

    @property
    def num_unwritten(self) -> int:
        """How many answers hold something that is not in the file."""
        with self._lock:
            return sum(answer.num_changes > answer.num_written for answer in self._growing.values())

    @staticmethod
    def _changed(answer: _Growing) -> bool:
        was_clean = answer.num_changes == answer.num_written
        answer.num_changes += 1
        return was_clean

    @staticmethod
    def _snapshot(message_id: int, answer: _Growing) -> Snapshot:
        if len(answer.parts) > 1:
            answer.parts = ["".join(answer.parts)]
        ending = answer.ending
        thinking_ms = answer.thinking_ms if ending is None or ending.thinking_ms is None else ending.thinking_ms
        text, spans = "".join(answer.parts), tuple(answer.spans)
        return Snapshot(message_id, text, spans, ending, answer.num_changes, thinking_ms)
