"""Deterministic fakes without weights: models for tests of the decoding loop, a worker for tests of the window."""

import functools
import itertools
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from engine.interfaces import Rows, TokenIds
from engine.records import (
    ChatRequest,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    Mode,
    ModelInfo,
    Problem,
    RunStats,
    Source,
    StatsUpdate,
    TextChunk,
    TokenSpan,
)
from engine.requests import OnEvent, Request, SetDraft, failure_event
from tests.scripted_pair import MarkovModel


class RecurrentModel(MarkovModel):
    """A `MarkovModel` with a recurrent state: only the last ``num_snapshots`` tokens of a pass can be dropped."""

    def __init__(self, logits: NDArray[np.float32], n_ctx: int = 256, *, num_snapshots: int = 0) -> None:
        super().__init__(logits, n_ctx)
        self.num_snapshots = num_snapshots
        self._reach = 0
        self._kept: list[int] | None = None
        self.num_saves = self.num_restores = 0

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        self._reach = min(len(ids) - 1, self.num_snapshots or 0)
        return super().forward(ids, n_rows)

    def rollback(self, num_past: int) -> bool:
        if num_past < self.num_past and self.num_past - num_past > self._reach:
            return False
        self._reach = 0
        return super().rollback(num_past)

    def save(self) -> bool:
        self._kept = list(self._ids)
        self.num_saves += 1
        return True

    def restore(self) -> bool:
        if self._kept is None:
            self.clear()
            return False
        self._ids[:] = self._kept
        self._reach = 0
        self.num_restores += 1
        return True

    def clear(self) -> None:
        """Clear the cache and the saved state."""
        super().clear()
        self._reach, self._kept = 0, None


@dataclass(frozen=True, slots=True)
class Script:
    """The text and speed of the scripted worker; ``tokens_per_pass`` tokens arrive together.

    ``answers`` by question replace ``answer``. ``parallel``: number of answers that run at once.
    """

    answer: str = "This answer comes from a script."
    answers: Mapping[str, str] = field(default_factory=dict)
    parallel: int = 1
    tokens_per_second: float = 200.0
    tokens_per_pass: int = 3
    context_size: int = 4096
    reasoning_start_tag: str = ""


class ScriptedWorker:
    """Replaces `engine.session.worker.EngineWorker` without a model; sleeps while a model would compute."""

    def __init__(self, on_event: Callable[[Event], None], script: Script | None = None) -> None:
        self._on_event = on_event
        self._script = script or Script()
        self._requests: queue.SimpleQueue[ChatRequest | None] = queue.SimpleQueue()
        make_thread = functools.partial(threading.Thread, target=self._run, name="scripted engine", daemon=True)
        self._threads = [make_thread() for _ in range(self._script.parallel)]
        self._stops: dict[int, threading.Event] = {}  # by request number
        self._draft: ModelInfo | None = None

    def start(self) -> None:
        """Start one thread for each parallel answer."""
        for thread in self._threads:
            thread.start()

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        """Pretend to load, count words as tokens, or stream the script."""
        answer: Event | None
        if isinstance(request, ChatRequest):
            self._stops[request.request_id] = threading.Event()
            self._requests.put(request)
            return
        if isinstance(request, LoadRequest):
            self._draft = self._info(request.draft) if request.draft else None
            answer = replace(self._ready(request.target), request_id=request.request_id)
        elif isinstance(request, SetDraft):
            self._draft = self._info(request.path) if request.path else None
            answer = replace(self._ready("scripted.gguf"), request_id=request.request_id)
        else:  # a job needs a session
            answer = failure_event(request, Problem("No session", "There is no model.", "Use a real one."))
        if answer is not None:
            (on_event or self._on_event)(answer)

    def cancel(self, number: int) -> None:
        """Stop an answer."""
        if (stop := self._stops.get(number)) is not None:
            stop.set()

    def skip_summary(self, number: int) -> None:
        """Do nothing: the scripted worker writes no summaries."""

    def close(self, timeout_s: float) -> bool:
        for stop in list(self._stops.values()):
            stop.set()
        for _ in self._threads:
            self._requests.put(None)
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout_s)
        return not any(thread.is_alive() for thread in self._threads)

    def _run(self) -> None:
        while (request := self._requests.get()) is not None:
            for event in self._answer(request):
                self._on_event(event)

    def _answer(self, request: ChatRequest) -> Iterator[Event]:
        script, started, reasoning_start_tag = self._script, time.perf_counter(), self._script.reasoning_start_tag
        question = request.messages[-1].content if request.messages else ""
        words = re.findall(r"\s*\S+\s*?", script.answers.get(question, script.answer))
        per_pass = 1 if request.mode is Mode.OFF else script.tokens_per_pass
        stats = RunStats(mode=request.mode, context_size=script.context_size)
        for number in itertools.count():
            block = words[number * per_pass : (number + 1) * per_pass]
            if not block:
                yield Finished(request.request_id, FinishReason.END, stats)
                return
            if self._stops[request.request_id].wait(len(block) / script.tokens_per_second):
                yield Finished(request.request_id, FinishReason.CANCELLED, stats)
                return
            spans = tuple(TokenSpan(len(word), _source(request.mode, i, per_pass)) for i, word in enumerate(block))
            yield TextChunk(request.request_id, "".join(block), spans, (), reasoning_start_tag)
            reasoning_start_tag = ""
            stats = self._count(stats, len(block), per_pass, time.perf_counter() - started)
            yield StatsUpdate(request.request_id, stats)

    def _count(self, stats: RunStats, num_tokens: int, per_pass: int, seconds: float) -> RunStats:
        passes = stats.passes + 1
        proposed = tuple([passes] * (per_pass - 1))
        return RunStats(
            mode=stats.mode,
            depth=per_pass - 1,
            tokens=stats.tokens + num_tokens,
            passes=passes,
            proposed=passes * (per_pass - 1),
            accepted=stats.accepted + num_tokens - 1,
            proposed_by_depth=proposed,
            accepted_by_depth=proposed,
            time_to_first_token_s=stats.time_to_first_token_s or seconds,
            decode_s=seconds,
            verify_s=seconds,
            context_used=stats.tokens + num_tokens,
            context_size=stats.context_size,
        )

    def _ready(self, target: str) -> EngineReady:
        unavailable = {} if self._draft else {Mode.DRAFT: "No draft model is chosen."}
        return EngineReady(self._info(target), self._draft, unavailable)

    def _info(self, path: str) -> ModelInfo:
        return ModelInfo(
            path,
            "scripted",
            "script",
            0,
            0,
            0,
            self._script.context_size,
            0,
            1,
            0,
            "none",
            reasoning_start_tag=self._script.reasoning_start_tag,
            parallel=self._script.parallel,
        )


def _source(mode: Mode, index: int, per_pass: int) -> Source:
    if mode is Mode.OFF:
        return Source.TARGET
    if index == per_pass - 1:
        return Source.BONUS
    return Source.NGRAM if mode in (Mode.NGRAM, Mode.SUFFIX) else Source.DRAFT
