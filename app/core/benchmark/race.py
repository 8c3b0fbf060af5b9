"""A race: the same question in two or three modes, alternated in slices of time, so that all meet the same machine.

Each lane has a session of its own: lanes share no text and no cache, and only one of them computes at a time. A lane's
seconds are those of its own slices, reading the prompt excluded. Knows no terminal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from app.core.benchmark.ratios import ratio_of
from app.core.benchmark.runner import turns
from app.core.benchmark.runs import PLAIN, BenchmarkRun, Variant
from app.core.domain.speed.races import MODES_WITH_DRAFT
from engine.errors import EngineError
from engine.records import (
    ChatRequest,
    Event,
    Finished,
    FinishReason,
    Mode,
    PrefillProgress,
    RunStats,
    StatsUpdate,
    TextChunk,
)

SLICE_S = 0.25  # short against how a machine changes, long against what a change of lanes costs
QUESTION = "question"  # a race has one prompt

ShouldStop = Callable[[], bool]
OnText = Callable[["Variant", int, TextChunk], None]  # a lane, the round, and more of its answer there


class AnsweringSession(Protocol):
    """What a race needs of a session."""

    def generate(self, request: ChatRequest, should_stop: ShouldStop) -> Iterator[Event]:
        """Answer, as `Session.generate` does."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A mode and depth, and the session that answers in it."""

    variant: Variant
    session: AnsweringSession


@dataclass(frozen=True, slots=True)
class RacePlan:
    """How long to race: ``rounds`` at least, more until every ratio is known to ``until_percent``."""

    rounds: int = 3
    until_percent: float | None = None
    max_minutes: float | None = None  # no further round begins after them
    slice_s: float = SLICE_S


@dataclass(frozen=True, slots=True)
class SliceEnded:
    """A lane's slice is over; ``stats`` are its counters in this round, with the seconds of its own slices."""

    variant: Variant
    round: int
    stats: RunStats
    finished: bool


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """All lanes answered, or were stopped: then not ``complete``."""

    round: int
    runs: tuple[BenchmarkRun, ...]
    complete: bool


RaceEvent = SliceEnded | RoundEnded


class LaneFailedError(Exception):
    """A lane's engine failed; ``error`` says how."""

    def __init__(self, variant: Variant, error: EngineError) -> None:
        super().__init__(f"{variant.label}: {error.message}")
        self.variant, self.error = variant, error


class Race:
    """Lanes and their question. `runs` are the answers of the complete rounds."""

    def __init__(
        self,
        lanes: Sequence[Lane],
        request: ChatRequest,
        plan: RacePlan,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """``request`` is the question; mode and depth are the lanes'. Above temperature 0 each round has a new seed."""
        self._lanes, self._request, self._plan, self._clock = tuple(lanes), request, plan, clock
        self.runs: list[BenchmarkRun] = []
        self.rounds = 0  # complete ones
        self.on_text: OnText = lambda _variant, _round, _chunk: None  # within a lane's time: it has to be quick

    def events(self, should_stop: ShouldStop = lambda: False) -> Iterator[RaceEvent]:
        """Race round after round; where ``should_stop`` says so, the answers end with what there is.

        Raises:
            LaneFailedError: a lane failed; the rounds before stay in `runs`.
        """
        minutes = self._plan.max_minutes
        deadline = None if minutes is None else self._clock() + minutes * 60.0
        while not self._is_enough() and not should_stop():
            if deadline is not None and self.rounds and self._clock() >= deadline:
                return
            ended = yield from self._round(should_stop)
            if ended.runs:
                yield ended
            if not ended.complete:
                return

    def _is_enough(self) -> bool:
        plan = self._plan
        if self.rounds < plan.rounds or plan.until_percent is None:
            return self.rounds >= plan.rounds
        widths = [width_percent(self.runs, lane.variant, self.base) for lane in self._lanes]
        return all(width is not None and width <= plan.until_percent for width in widths)

    @property
    def base(self) -> Variant:
        """What the others are compared with."""
        return base_of([lane.variant for lane in self._lanes])

    def _round(self, should_stop: ShouldStop) -> Generator[RaceEvent, None, RoundEnded]:
        request = seeded(self._request, self.rounds)
        for lane in self._lanes:
            _read_prompt(lane, request, should_stop)
        answers = [_LaneAnswer(lane, request, self._clock, should_stop) for lane in self._lanes]
        try:
            waiting = list(turns(answers, self.rounds, 0))  # each round another lane begins
            while waiting:
                for answer in waiting:
                    for chunk in answer.run_slice(self._plan.slice_s):
                        self.on_text(answer.variant, self.rounds, chunk)
                    yield SliceEnded(answer.variant, self.rounds, answer.stats, answer.finished)
                waiting = [answer for answer in waiting if not answer.finished]
        finally:
            for answer in answers:
                answer.close()
        complete = not any(answer.was_cancelled for answer in answers)
        runs = tuple(
            answer.as_run(self.rounds, request.sampling.temperature) for answer in answers if answer.stats.tokens
        )
        ended = RoundEnded(self.rounds, runs, complete)
        if complete:
            self.runs += runs
            self.rounds += 1
        return ended


def seeded(request: ChatRequest, round_number: int) -> ChatRequest:
    """The request of a round: above temperature 0 each has a seed of its own, the same for all lanes."""
    sampling = request.sampling
    if sampling.greedy:
        return request
    return replace(request, sampling=replace(sampling, seed=(sampling.seed or 0) + round_number))


class _LaneAnswer:
    """One lane's answer of one round, taken slice by slice."""

    def __init__(self, lane: Lane, request: ChatRequest, clock: Callable[[], float], should_stop: ShouldStop) -> None:
        self.variant = lane.variant
        self.stats = RunStats()
        self.token_ids: tuple[int, ...] = ()
        self.finished = self.was_cancelled = False
        self._clock, self._seconds = clock, 0.0
        self._events = lane.session.generate(in_variant(request, lane.variant), should_stop)

    def run_slice(self, slice_s: float) -> Iterator[TextChunk]:
        """Run the lane for a time slice; yield its text as it comes.

        Reading the prompt is not cut, so that its seconds can be taken off.
        """
        started = self._clock()
        try:
            for event in self._events:
                if isinstance(event, TextChunk):
                    yield event
                elapsed = self._clock() - started
                if isinstance(event, StatsUpdate | Finished):
                    decode_s = max(0.0, self._seconds + elapsed - event.stats.prompt_s)
                    self.stats = replace(event.stats, decode_s=decode_s, draft_prompt_s=0.0)  # which counts here
                if isinstance(event, Finished):  # what follows is the session's own: it ends by itself
                    self.token_ids, self.finished = event.token_ids, True
                    self.was_cancelled = event.reason is FinishReason.CANCELLED
                elif elapsed >= slice_s and not isinstance(event, PrefillProgress):
                    break
            else:
                if not self.finished:
                    raise RuntimeError("an answer ended without its last event")
        except EngineError as error:
            raise LaneFailedError(self.variant, error) from error
        self._seconds += self._clock() - started

    def close(self) -> None:
        """End it where it is; what listens to its passes is let go."""
        close = getattr(self._events, "close", None)
        if close is not None:
            close()

    def as_run(self, round_number: int, temperature: float) -> BenchmarkRun:
        """The answer as a benchmark keeps it."""
        stats = self.stats
        return BenchmarkRun(
            QUESTION, QUESTION, temperature, self.variant, stats, round_number, self.token_ids, stats.decode_s
        )


def base_of(variants: Sequence[Variant]) -> Variant:
    """What the others are compared with: plain decoding, else the first."""
    return PLAIN if PLAIN in variants else variants[0]


def in_variant(request: ChatRequest, variant: Variant) -> ChatRequest:
    """The same question in a lane's mode and depth."""
    return replace(request, mode=Mode(variant.mode), depth=variant.depth)


def width_percent(runs: Sequence[BenchmarkRun], variant: Variant, base: Variant) -> float | None:
    """Half of the interval over rounds of a lane's ratio, in percent of it; None while there is none."""
    if variant == base:
        return 0.0
    ratio = ratio_of(runs, variant, base)
    return ratio.half_width_percent if ratio is not None else None


def _read_prompt(lane: Lane, request: ChatRequest, should_stop: ShouldStop) -> None:
    """Have the lane's models read the prompt, and what is measured at a first answer be measured, off the clock."""
    variants = [(PLAIN, 1), (lane.variant, 2)]
    if Mode(lane.variant.mode) in MODES_WITH_DRAFT:
        variants[1:1] = [(Variant(mode.value, 1), 2) for mode in (Mode.DRAFT, Mode.HEAD)]  # one of them drafts
    for variant, max_tokens in variants:
        try:
            short = replace(in_variant(request, variant), max_tokens=max_tokens)
            for _ in lane.session.generate(short, should_stop):
                pass
        except EngineError as error:
            raise LaneFailedError(lane.variant, error) from error
