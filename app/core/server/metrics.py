"""Counters of a running server in the text format of Prometheus, version 0.0.4."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping

from app.core.domain.local_server import Activity, RequestState
from app.core.server.request_log import RequestLog
from engine.pacing.pass_trace import TracedPass
from engine.records import RunStats, Source

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_DRAFTED = (Source.NGRAM, Source.DRAFT, Source.HEAD)
_LLAMA_CPP = "llamacpp:"  # prefix of llama.cpp's metrics
_Sample = tuple[str, float]  # (labels in Prometheus' format, value)


class Metrics:
    """Counters since the start, and the latest ``requests``. Thread-safe."""

    def __init__(self, requests: RequestLog | None = None) -> None:
        self.requests = requests or RequestLog()
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._sums: Counter[str] = Counter()
        self._seconds = {"prompt": 0.0, "predicted": 0.0}
        self._proposed: Counter[Source] = Counter()
        self._accepted: Counter[Source] = Counter()
        self._tokens: Counter[Source] = Counter()

    def count_request(self, endpoint: str, status: int) -> None:
        """Count a response. ``endpoint``: a known path, or ``other``."""
        with self._lock:
            self._requests[endpoint, status] += 1

    def count_answer(self, stats: RunStats) -> None:
        """Add the counters of a complete or stopped answer."""
        with self._lock:
            self._sums["answers"] += 1
            self._sums["prompt"] += stats.prompt_tokens
            self._sums["cached"] += stats.prompt_cached_tokens
            self._sums["predicted"] += stats.tokens
            self._sums["passes"] += stats.passes
            self._sums["proposed"] += stats.proposed
            self._sums["accepted"] += stats.accepted
            self._seconds["prompt"] += stats.prompt_s
            self._seconds["predicted"] += stats.decode_s
            self._tokens.update(stats.provenance)

    def count_pass(self, traced: TracedPass) -> None:
        """Count proposed and accepted tokens of a pass, by source."""
        if traced.sources:
            with self._lock:
                self._proposed.update(traced.sources)
                self._accepted.update(traced.sources[: traced.accepted])

    def render(self, activity: Activity) -> str:
        states = Counter(row.state for row in self.requests.rows())
        with self._lock:
            lines = [*self._of_requests(activity), *_of_states(states), *self._of_tokens(), *self._of_speculation()]
            lines += self._as_llama_cpp(activity)
        return "\n".join(lines) + "\n"

    def _of_requests(self, activity: Activity) -> list[str]:
        requests = [
            (f'{{endpoint="{endpoint}",status="{status}"}}', float(count))
            for (endpoint, status), count in sorted(self._requests.items())
        ]
        return [
            *_metric("requests_total", "counter", "HTTP requests by path and status of the response.", requests),
            *_metric("requests_waiting", "gauge", "Requests in the queue.", [("", activity.num_waiting)]),
            *_metric("requests_running", "gauge", "Running answers.", [("", activity.num_running)]),
            *_metric(
                "tokens_per_second",
                "gauge",
                "Tokens per second of all running answers, over the last seconds.",
                [("", activity.tokens_per_second)],
            ),
            *_metric("answers_total", "counter", "Finished and stopped answers.", self._sum("answers")),
        ]

    def _of_tokens(self) -> list[str]:
        prompt_s, predicted_s = self._seconds["prompt"], self._seconds["predicted"]
        return [
            *_metric("prompt_tokens_total", "counter", "Tokens of prompts.", self._sum("prompt")),
            *_metric("prompt_tokens_cached_total", "counter", "Of these, tokens from the cache.", self._sum("cached")),
            *_metric("prompt_seconds_total", "counter", "Seconds of prompt processing.", [("", prompt_s)]),
            *_metric("predicted_tokens_total", "counter", "Tokens of answers.", self._sum("predicted")),
            *_metric("predicted_seconds_total", "counter", "Seconds of decoding.", [("", predicted_s)]),
            *_metric("passes_total", "counter", "Forward calls of the target.", self._sum("passes")),
        ]

    def _of_speculation(self) -> list[str]:
        sums = self._sums
        proposed, accepted = _by_source(self._proposed, _DRAFTED), _by_source(self._accepted, _DRAFTED)
        by_source = _by_source(self._tokens, Source)
        per_pass = [("", sums["predicted"] / sums["passes"])] if sums["passes"] else []
        rate = [("", sums["accepted"] / sums["proposed"])] if sums["proposed"] else []
        return [
            *_metric("drafted_tokens_total", "counter", "Tokens proposed to the target, by drafter.", proposed),
            *_metric("accepted_tokens_total", "counter", "Accepted tokens, by drafter.", accepted),
            *_metric("emitted_tokens_total", "counter", "Tokens of answers, by source.", by_source),
            *_metric("tokens_per_pass", "gauge", "Tokens of answers / passes, since the start.", per_pass),
            *_metric("acceptance_rate", "gauge", "Accepted / proposed tokens, since the start.", rate),
        ]

    def _as_llama_cpp(self, activity: Activity) -> list[str]:
        """The metrics with the names of llama.cpp's server; its prompt tokens exclude cached tokens."""
        prompt, predicted = float(self._sums["prompt"] - self._sums["cached"]), float(self._sums["predicted"])
        prompt_s, predicted_s = self._seconds["prompt"], self._seconds["predicted"]
        rows: tuple[tuple[str, str, str, float | None], ...] = (
            ("prompt_tokens_total", "counter", "Processed prompt tokens.", prompt),
            ("prompt_seconds_total", "counter", "Seconds of prompt processing.", prompt_s),
            ("tokens_predicted_total", "counter", "Tokens of answers.", predicted),
            ("tokens_predicted_seconds_total", "counter", "Seconds of decoding.", predicted_s),
            ("prompt_tokens_seconds", "gauge", "Prompt tokens per second.", prompt / prompt_s if prompt_s else None),
            (
                "predicted_tokens_seconds",
                "gauge",
                "Decoded tokens per second of an answer.",
                predicted / predicted_s if predicted_s else None,
            ),
            ("requests_processing", "gauge", "Running answers.", activity.num_running),
            ("requests_deferred", "gauge", "Requests in the queue.", activity.num_waiting),
        )
        lines: list[str] = []
        for name, kind, words, value in rows:
            lines += _metric(name, kind, words, [] if value is None else [("", value)], _LLAMA_CPP)
        return lines

    def _sum(self, name: str) -> list[_Sample]:
        return [("", float(self._sums[name]))]


def _by_source(counts: Counter[Source], sources: Iterable[Source]) -> list[_Sample]:
    return [(f'{{source="{source.value}"}}', float(counts[source])) for source in sources]


def _of_states(states: Mapping[RequestState, int]) -> list[str]:
    """Numbers of requests in progress, by state."""
    going = [state for state in RequestState if state is not RequestState.DONE]
    samples = [(f'{{state="{state.value}"}}', float(states.get(state, 0))) for state in going]
    return _metric("requests", "gauge", "Unfinished requests, by state.", samples)


def _metric(name: str, kind: str, words: str, samples: Iterable[_Sample], prefix: str = "paceline_") -> list[str]:
    full = f"{prefix}{name}"
    values = [f"{full}{labels} {value:.17g}" for labels, value in samples]
    return [f"# HELP {full} {words}", f"# TYPE {full} {kind}", *values]
