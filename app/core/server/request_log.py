"""Counters of a running server in the text format of Prometheus, version 0.0.4, and its latest requests.

The log of requests is for the user of this computer: program, path and result, never the content; in memory only.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from app.core.domain.local_server import GONE, Activity, LoggedRequest, RequestState
from app.core.server.errors import ApiError
from app.core.server.scheduler import JobEvent
from engine.records import Finished, PrefillProgress, RunStats, Source, TextChunk

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_Sample = tuple[str, float]  # (labels in Prometheus' format, value)
_Metric = tuple[str, str, str, list[_Sample] | float | None]  # (name, kind, help, values)
MAX_ROWS = 200
MAX_PROGRAM_CHARS, MAX_PATH_CHARS = 40, 60


class RequestLog:
    """Holds the latest requests. Thread-safe. ``on_change`` is called often, on any thread."""

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self._on_change = on_change
        self._lock = threading.Lock()
        self._num_requests = 0
        self._entries: deque[RequestEntry] = deque(maxlen=MAX_ROWS)

    def begin(self, path: str, user_agent: str) -> RequestEntry:
        with self._lock:
            self._num_requests += 1
            program = _printable(user_agent.partition("(")[0], MAX_PROGRAM_CHARS)  # for example ``OpenAI/Python 1.109``
            first = LoggedRequest(self._num_requests, time.time(), program, _printable(path, MAX_PATH_CHARS))
            entry = RequestEntry(first, self._on_change)
            self._entries.append(entry)
        self._on_change()
        return entry

    def rows(self) -> tuple[LoggedRequest, ...]:
        """The latest requests, newest first."""
        with self._lock:
            return tuple(entry.row for entry in reversed(self._entries))


class RequestEntry:
    """The log entry of a running request; ``row`` is its current state."""

    def __init__(self, row: LoggedRequest, on_change: Callable[[], None]) -> None:
        self.row = row
        self._on_change = on_change
        self._lock = threading.RLock()
        self._decode_s = 0.0
        self._is_awaited = False  # True while the engine's result is awaited

    def set_queued(self, model: str) -> None:
        """The request was queued for this model."""
        self._is_awaited = True
        self._change(model=_printable(model, MAX_PATH_CHARS), state=RequestState.WAITING)

    def set_begun(self) -> None:
        self._change(state=RequestState.RUNNING)

    def count_event(self, event: JobEvent) -> None:
        if self.row.state is RequestState.DONE:
            return  # the client has disconnected
        if not isinstance(event, TextChunk | PrefillProgress):
            self._is_awaited = False
        if isinstance(event, Finished):
            self._decode_s += event.stats.generation_s
            total = (self.row.tokens or 0) + event.stats.tokens
            self._change(tokens=total, tokens_per_second=total / self._decode_s if self._decode_s > 0 else None)
        elif isinstance(event, ApiError):
            self._change(status=event.status)

    def set_status(self, status: int) -> None:
        with self._lock:
            self._change(status=self.row.status or status)

    def end(self) -> None:
        """The response was sent, or the client has disconnected."""
        with self._lock:
            self._change(status=GONE if self._is_awaited else self.row.status, state=RequestState.DONE)

    def _change(self, **changes: Any) -> None:  # noqa: ANN401  (fields of the row)
        with self._lock:
            self.row = replace(self.row, **changes)
        self._on_change()


def format_log_line(row: LoggedRequest, method: str, seconds: float) -> str:
    """Format a finished request as a log line, without its content."""
    status = "gone" if row.status == GONE else row.status or "-"
    tokens = "" if row.tokens is None else f"{row.tokens:,} tokens"
    told = (f"{method} {row.path}", str(status), f"{seconds:.2f} s", tokens, row.model, row.program)
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(row.at))} {', '.join(filter(None, told))}"


def _printable(text: str, max_chars: int) -> str:
    """Make an untrusted text safe for display, with at most ``max_chars`` characters."""
    printable = "".join(char if char.isprintable() else " " for char in text).strip()
    return printable if len(printable) <= max_chars else f"{printable[: max_chars - 1]}…"


class Metrics:
    """Counters since the start, and the latest ``requests``, whose changes call ``on_change``. Thread-safe."""

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self.requests = RequestLog(on_change)
        self.paths: Collection[str] = ()  # the known paths; others are counted together
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._sums: defaultdict[str, float] = defaultdict(float)
        self._tokens: Counter[Source] = Counter()

    def count_request(self, path: str, status: int) -> None:
        """Count a response."""
        endpoint = next((known for known in (path, f"/v1{path}") if known in self.paths), "other")
        with self._lock:
            self._requests[endpoint, status] += 1

    def count_answer(self, stats: RunStats) -> None:
        """Add the counters of a complete or stopped answer."""
        with self._lock:
            self._tokens.update(stats.provenance)
            for name, value in (
                ("answers", 1),
                ("prompt", stats.prompt_tokens),
                ("cached", stats.prompt_cached_tokens),
                ("predicted", stats.tokens),
                ("passes", stats.passes),
                ("proposed", stats.proposed),
                ("accepted", stats.accepted),
                ("prompt_s", stats.prompt_s),
                ("predicted_s", stats.decode_s),
            ):
                self._sums[name] += value

    def render(self, activity: Activity) -> str:
        states = Counter(row.state for row in self.requests.rows())
        lines = list[str]()
        with self._lock:
            for name, kind, words, values in self._rows(activity, states):
                lines += [f"# HELP paceline_{name} {words}", f"# TYPE paceline_{name} {kind}"]
                samples = values if isinstance(values, list) else [] if values is None else [("", values)]
                lines += [f"paceline_{name}{labels} {value:.17g}" for labels, value in samples]
        return "\n".join(lines) + "\n"

    def _rows(self, activity: Activity, states: Mapping[RequestState, int]) -> tuple[_Metric, ...]:
        sums = self._sums
        requests = [
            (f'{{endpoint="{endpoint}",status="{status}"}}', float(count))
            for (endpoint, status), count in sorted(self._requests.items())
        ]
        unfinished = [
            (f'{{state="{state.value}"}}', float(states.get(state, 0)))
            for state in RequestState
            if state is not RequestState.DONE
        ]
        rate = activity.tokens_per_second
        per_pass, acceptance = _ratio(sums["predicted"], sums["passes"]), _ratio(sums["accepted"], sums["proposed"])
        tokens = [(f'{{source="{source.value}"}}', float(self._tokens[source])) for source in Source]
        return (
            ("requests_total", "counter", "HTTP requests by path and status of the response.", requests),
            ("requests_waiting", "gauge", "Requests in the queue.", activity.num_waiting),
            ("requests_running", "gauge", "Running answers.", activity.num_running),
            ("tokens_per_second", "gauge", "Tokens per second of all running answers.", rate),
            ("answers_total", "counter", "Complete and stopped answers.", sums["answers"]),
            ("requests", "gauge", "Unfinished requests, by state.", unfinished),
            ("prompt_tokens_total", "counter", "Tokens of prompts.", sums["prompt"]),
            ("prompt_tokens_cached_total", "counter", "Of these, tokens from the cache.", sums["cached"]),
            ("prompt_seconds_total", "counter", "Seconds of prompt processing.", sums["prompt_s"]),
            ("predicted_tokens_total", "counter", "Tokens of answers.", sums["predicted"]),
            ("predicted_seconds_total", "counter", "Seconds of decoding.", sums["predicted_s"]),
            ("passes_total", "counter", "Forward calls of the target.", sums["passes"]),
            ("drafted_tokens_total", "counter", "Tokens proposed to the target.", sums["proposed"]),
            ("accepted_tokens_total", "counter", "Accepted tokens.", sums["accepted"]),
            ("emitted_tokens_total", "counter", "Tokens of answers, by source.", tokens),
            ("tokens_per_pass", "gauge", "Tokens of answers / passes, since the start.", per_pass),
            ("acceptance_rate", "gauge", "Accepted / proposed tokens, since the start.", acceptance),
        )


def _ratio(value: float, whole: float) -> float | None:
    return value / whole if whole else None
