"""A race: two or three lanes answer the same question in alternating time slices, under the same machine load.

Each lane has its own session: lanes share no text and no cache, and only one computes at a time. A lane's time is the
sum of its own slices, without prompt processing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from app.core.benchmark.ratios import ratio_of
from app.core.benchmark.runner import turns
from app.core.benchmark.runs import BenchmarkRun, Variant, variant_of
from app.core.domain.speed.races import (
    MODES_WITH_DRAFT,
    PLAIN_LANE,
    AnswerDifference,
    LaneChoice,
    LaneProgress,
    LaneText,
    LaneVerdict,
    RaceRoundBegan,
    RaceRoundEnded,
)
from engine.errors import EngineError
from engine.records import (
    ChatRequest,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    JobEvent,
    Mode,
    PrefillProgress,
    Problem,
    RunStats,
    StatsUpdate,
    TextChunk,
)
from engine.sentences import joined, phrase, said

SLICE_S = 0.25  # short compared with changes of machine load, long compared with the cost of a switch
QUESTION = "question"  # id of a race's only prompt

ShouldStop = Callable[[], bool]


class AnsweringSession(Protocol):
    @property
    def threads(self) -> int: ...
    def ready(self) -> EngineReady: ...
    def generate(self, request: ChatRequest, should_stop: ShouldStop) -> Iterator[Event]: ...


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane and its loaded session."""

    choice: LaneChoice
    session: AnsweringSession


@dataclass(frozen=True, slots=True)
class RacePlan:
    """At least ``rounds`` rounds; with ``until_percent`` more, until every ratio's interval is that narrow."""

    rounds: int = 3
    until_percent: float | None = None
    max_minutes: float | None = None  # no round begins after this time
    slice_s: float = SLICE_S


class LaneFailedError(Exception):
    """The engine of one lane failed; `problem` names the lane."""

    def __init__(self, choice: LaneChoice, error: EngineError) -> None:
        super().__init__(f"{choice.mode}: {error.message}")
        self.choice, self.error = choice, error

    @property
    def problem(self) -> Problem:
        problem, lane = self.error.problem, phrase("Modes", self.choice.mode.value)
        return replace(problem, message=said("The lane {lane}: {reason}", lane=lane, reason=joined([problem.message])))


class Race:
    """``runs``: answers of complete rounds. ``partial``: answers of a round that was stopped."""

    def __init__(
        self,
        lanes: Sequence[Lane],
        request: ChatRequest,
        plan: RacePlan,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """``request`` is the question; each lane sets mode and depth. Above temperature 0 each round has a new seed."""
        self._lanes, self._request, self._plan, self._clock = tuple(lanes), request, plan, clock
        self._choices = [lane.choice for lane in lanes]
        self.runs: list[BenchmarkRun] = []
        self.partial: list[BenchmarkRun] = []
        self.rounds = 0  # number of complete rounds

    def events(self, should_stop: ShouldStop = lambda: False) -> Iterator[JobEvent]:
        """Run rounds until the plan is fulfilled or ``should_stop`` returns True.

        Text is yielded while a lane's time is measured, so the caller must handle it quickly.

        Raises:
            LaneFailedError: a lane failed; `runs` keeps the earlier rounds.
        """
        minutes = self._plan.max_minutes
        deadline = None if minutes is None else self._clock() + minutes * 60.0
        while not self._is_enough() and not self.partial and not should_stop():
            if deadline is not None and self.rounds and self._clock() >= deadline:
                return
            yield RaceRoundBegan(self.rounds)
            yield from self._round(should_stop)

    def _is_enough(self) -> bool:
        plan = self._plan
        if self.rounds < plan.rounds or plan.until_percent is None:
            return self.rounds >= plan.rounds
        base = self._choices[base_lane(self._choices)]
        widths = [_half_width_percent(self.runs, choice, base) for choice in self._choices]
        return all(width is not None and width <= plan.until_percent for width in widths)

    def _round(self, should_stop: ShouldStop) -> Iterator[JobEvent]:
        request = seeded(self._request, self.rounds)
        for lane in self._lanes:
            _read_prompt(lane, request, should_stop)
        answers = [
            _LaneAnswer(number, self.rounds, lane, request, self._clock, should_stop)
            for number, lane in enumerate(self._lanes)
        ]
        try:
            waiting = list(turns(answers, self.rounds, 0))  # each round starts with another lane
            while waiting:
                for answer in waiting:
                    yield from answer.run_slice(self._plan.slice_s)
                waiting = [answer for answer in waiting if not answer.finished]
        finally:
            for answer in answers:
                answer.close()
        runs = [answer.as_run(request.sampling.temperature) for answer in answers if answer.stats.tokens]
        if any(answer.was_cancelled for answer in answers):
            self.partial = runs
            return
        self.runs += runs
        self.rounds += 1
        yield RaceRoundEnded(self.rounds, tuple(judge(self.runs, self._choices)))


def seeded(request: ChatRequest, round_number: int) -> ChatRequest:
    """The request of a round. Above temperature 0 each round has its own seed, the same for all lanes."""
    sampling = request.sampling
    if sampling.greedy:
        return request
    return replace(request, sampling=replace(sampling, seed=(sampling.seed or 0) + round_number))


class _LaneAnswer:
    """One lane's answer of one round, computed slice by slice."""

    def __init__(
        self,
        number: int,
        round_number: int,
        lane: Lane,
        request: ChatRequest,
        clock: Callable[[], float],
        should_stop: ShouldStop,
    ) -> None:
        self._number, self._round, self._lane = number, round_number, lane
        self.stats = RunStats()
        self.token_ids: tuple[int, ...] = ()
        self.finished = self.was_cancelled = False
        self._clock, self._seconds = clock, 0.0
        self._events = lane.session.generate(_request_of_lane(request, lane.choice), should_stop)

    def run_slice(self, slice_s: float) -> Iterator[JobEvent]:
        """Run the lane for a time slice. Prompt processing is never interrupted, so that its time can be subtracted."""
        started = self._clock()
        try:
            for event in self._events:
                if isinstance(event, TextChunk):
                    yield LaneText(self._number, self._round, event.text, event.spans)
                elapsed = self._clock() - started
                if isinstance(event, StatsUpdate | Finished):
                    decode_s = max(0.0, self._seconds + elapsed - event.stats.prompt_s)
                    self.stats = replace(event.stats, decode_s=decode_s, draft_prompt_s=0.0)  # decode_s includes it
                if isinstance(event, Finished):  # the generator ends by itself after this
                    self.token_ids, self.finished = event.token_ids, True
                    self.was_cancelled = event.reason is FinishReason.CANCELLED
                elif elapsed >= slice_s and not isinstance(event, PrefillProgress):
                    break
            else:
                if not self.finished:
                    raise RuntimeError("an answer ended without its last event")
        except EngineError as error:
            raise LaneFailedError(self._lane.choice, error) from error
        self._seconds += self._clock() - started
        yield LaneProgress(self._number, self._round, self.stats, self.finished)

    def close(self) -> None:
        close = getattr(self._events, "close", None)
        if close is not None:
            close()

    def as_run(self, temperature: float) -> BenchmarkRun:
        stats, variant = self.stats, variant_of(self._lane.choice)
        return BenchmarkRun(
            QUESTION, QUESTION, temperature, variant, stats, self._round, self.token_ids, stats.decode_s
        )


def base_lane(choices: Sequence[LaneChoice]) -> int:
    """The index of the base lane, with which the other lanes are compared: plain decoding, else the first."""
    return choices.index(PLAIN_LANE) if PLAIN_LANE in choices else 0


def _request_of_lane(request: ChatRequest, choice: LaneChoice) -> ChatRequest:
    return replace(request, mode=choice.mode, depth=choice.depth)


def _half_width_percent(runs: Sequence[BenchmarkRun], choice: LaneChoice, base: LaneChoice) -> float | None:
    """Half of the interval of a lane's ratio over rounds, in percent of the ratio; None if there is no interval yet."""
    if choice == base:
        return 0.0
    ratio = ratio_of(runs, variant_of(choice), variant_of(base))
    return ratio.half_width_percent if ratio is not None else None


def _read_prompt(lane: Lane, request: ChatRequest, should_stop: ShouldStop) -> None:
    """Before timing, let the lane's models process the prompt, and the session make its one-time measurements."""
    choices = [(PLAIN_LANE, 1), (lane.choice, 2)]
    if lane.choice.mode in MODES_WITH_DRAFT:
        choices[1:1] = [(LaneChoice(mode, 1), 2) for mode in (Mode.DRAFT, Mode.HEAD)]  # one of them is available
    for choice, max_tokens in choices:
        try:
            short = replace(_request_of_lane(request, choice), max_tokens=max_tokens)
            for _ in lane.session.generate(short, should_stop):
                pass
        except EngineError as error:
            raise LaneFailedError(lane.choice, error) from error


def judge(
    runs: Sequence[BenchmarkRun], choices: Sequence[LaneChoice], inexact: str | None = None, *, complete: bool = True
) -> list[LaneVerdict]:
    """A verdict for each lane with an answer, except the base lane.

    ``inexact`` is the target's `ModelInfo.inexact_reason`; None if unknown.
    """
    answered = {run.variant for run in runs}
    present = [number for number, choice in enumerate(choices) if variant_of(choice) in answered]
    if not present:
        return []
    base = present[base_lane([choices[number] for number in present])]
    num_rounds = len({run.round for run in runs})
    verdicts = []
    for number in present:
        if number == base:
            continue
        own, other = variant_of(choices[number]), variant_of(choices[base])
        are_alike = choices[number].target == choices[base].target
        ratio = ratio_of(runs, own, other)
        verdicts.append(
            LaneVerdict(
                lane=number,
                base=base,
                ratio=ratio.value if ratio else None,
                low=ratio.measured_low if ratio else None,
                high=ratio.measured_high if ratio else None,
                num_rounds=num_rounds,
                parting=find_difference(runs, own, other, inexact) if are_alike else None,
                temperature=runs[0].temperature,
                is_complete=complete,
                are_alike=are_alike,
            )
        )
    return verdicts


def find_difference(
    runs: Sequence[BenchmarkRun], variant: Variant, base: Variant, inexact: str | None = None
) -> AnswerDifference | None:
    """The first difference between the answers of two lanes. A truncated answer is compared up to its end."""
    answers = {(run.round, run.variant): run.token_ids for run in runs}
    first, num_rounds = None, 0
    for number in sorted({run.round for run in runs}):
        own, other = answers.get((number, variant), ()), answers.get((number, base), ())
        index = next((i for i, (a, b) in enumerate(zip(own, other, strict=False)) if a != b), None)
        if index is not None:
            num_rounds += 1
            first = index if first is None else first
    return None if first is None else AnswerDifference(first + 1, num_rounds, inexact)
