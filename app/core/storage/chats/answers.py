"""Holds streaming answers in memory. Their text is due to be written every 250 ms, or later after a failure.

This module only tracks which answers are due; the file's thread writes them.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.core.domain.messages import MessageState
from engine.records import RunStats, TokenSpan

FLUSH_S = 0.25
RETRY_S = 1.0


@dataclass(frozen=True, slots=True)
class Generation:
    """The models and counters of an answer, or of the last run of a continued answer."""

    target: str
    draft: str
    stats: RunStats
    is_continuation: bool = False


@dataclass(frozen=True, slots=True)
class AnswerEnding:
    """The end of an answer. ``keep`` False: the answer is discarded. ``cut``: it ended at the token limit.

    ``stats``: of the whole answer. ``run``: the last run, for the lifetime totals. ``thinking_ms``: time of reasoning.
    """

    state: MessageState
    stats: RunStats | None = None
    notice: str = ""
    keep: bool = True
    cut: bool = False
    run: Generation | None = None
    thinking_ms: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerSnapshot:
    """The complete state of one answer. Writing it twice is harmless."""

    message_id: int
    text: str
    spans: tuple[TokenSpan, ...]
    ending: AnswerEnding | None
    num_changes: int
    thinking_ms: int | None = None

    def as_fields(self) -> dict[str, Any]:
        """The changed fields of `MessageView`; includes time of reasoning and model only if known."""
        ending = self.ending or AnswerEnding(MessageState.STREAMING)
        fields: dict[str, Any] = {name: getattr(ending, name) for name in ("state", "stats", "notice", "cut")}
        if self.thinking_ms:
            fields["thinking_ms"] = self.thinking_ms
        if ending.run:
            fields["target"] = ending.run.target
        return {**fields, "text": self.text, "spans": self.spans}


@dataclass(slots=True)
class _StreamingAnswer:
    parts: list[str] = field(default_factory=list)
    spans: list[TokenSpan] = field(default_factory=list)
    ending: AnswerEnding | None = None
    num_changes: int = 0
    num_written: int = 0
    due_s: float = 0.0
    thinking_ms: int | None = None


class StreamingAnswers:
    """The streaming answers by message id. Thread-safe."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._answers: dict[int, _StreamingAnswer] = {}

    def begin(self, message_id: int, text: str = "", spans: Sequence[TokenSpan] = ()) -> None:
        """Begin tracking an answer that has a row in the file, with the row's ``text`` and ``spans``."""
        with self._lock:
            self._answers[message_id] = _StreamingAnswer([text], list(spans))

    def append(self, message_id: int, text: str, spans: Sequence[TokenSpan], thinking_ms: int | None = None) -> bool:
        """Add text and the time of reasoning so far. True if nothing was due before, so the writer has to be woken."""
        with self._lock:
            answer = self._answers[message_id]
            answer.parts.append(text)
            answer.spans.extend(spans)
            answer.thinking_ms = thinking_ms
            answer.num_changes += 1
            return answer.num_changes == answer.num_written + 1

    def end(self, message_id: int, ending: AnswerEnding) -> None:
        """End an answer, which is due at once."""
        with self._lock:
            answer = self._answers[message_id]
            answer.ending = ending
            answer.num_changes += 1
            answer.due_s = self._clock()

    def current(self, message_id: int) -> AnswerSnapshot | None:
        """The current state of an answer; None if it is not tracked."""
        with self._lock:
            answer = self._answers.get(message_id)
            return None if answer is None else self._snapshot(message_id, answer)

    @property
    def to_discard(self) -> tuple[int, ...]:
        """Ids of discarded answers that are still in the file because a write failed."""
        with self._lock:
            endings = ((number, answer.ending) for number, answer in self._answers.items())
            return tuple(number for number, ending in endings if ending is not None and not ending.keep)

    def due(self, *, everything: bool = False, ended: bool = False) -> list[AnswerSnapshot]:
        """The snapshots to write now. ``ended``: include all ended answers; ``everything``: all answers."""
        with self._lock:
            now = self._clock()
            return [
                self._snapshot(message_id, answer)
                for message_id, answer in self._answers.items()
                if answer.num_changes > answer.num_written
                and (everything or answer.due_s <= now or (ended and answer.ending is not None))
            ]

    def mark_written(self, snapshot: AnswerSnapshot) -> None:
        """Called after a snapshot was written."""
        with self._lock:
            answer = self._answers.get(snapshot.message_id)
            if answer is None:
                return
            if snapshot.ending is not None:
                del self._answers[snapshot.message_id]
                return
            answer.num_written = snapshot.num_changes
            if answer.ending is None:  # else it ended meanwhile and is due at once
                answer.due_s = self._clock() + FLUSH_S

    def mark_failed(self, snapshot: AnswerSnapshot) -> None:
        """Called after a failed write; the answer becomes due again later."""
        with self._lock:
            answer = self._answers.get(snapshot.message_id)
            if answer is not None:
                answer.due_s = self._clock() + RETRY_S

    def wait_s(self) -> float | None:
        """Seconds until the next answer is due; None without answers."""
        with self._lock:
            due = [answer.due_s for answer in self._answers.values() if answer.num_changes > answer.num_written]
            return max(0.0, min(due) - self._clock()) if due else None

    @property
    def num_unwritten(self) -> int:
        """The number of answers that are not completely written."""
        with self._lock:
            return sum(answer.num_changes > answer.num_written for answer in self._answers.values())

    @staticmethod
    def _snapshot(message_id: int, answer: _StreamingAnswer) -> AnswerSnapshot:
        if len(answer.parts) > 1:
            answer.parts = ["".join(answer.parts)]
        ending = answer.ending
        thinking_ms = answer.thinking_ms if ending is None or ending.thinking_ms is None else ending.thinking_ms
        text, spans = "".join(answer.parts), tuple(answer.spans)
        return AnswerSnapshot(message_id, text, spans, ending, answer.num_changes, thinking_ms)
