"""A race: two or three lanes answer the same question in alternating time slices, under the same machine load.

Each lane has its own session: lanes share no text and no cache, and only one computes at a time. A lane's time is the
sum of its own slices, without prompt processing.
"""

import json
import logging
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import cast

from app.core.benchmark.opened_lanes import Lane, LaneFailedError, ShouldStop, open_lanes
from app.core.benchmark.report import ratio_of, sum_of
from app.core.benchmark.runner import rotated
from app.core.benchmark.runs import BenchmarkRun, Variant, variant_of
from app.core.domain.model_name import model_name, shown_name
from app.core.domain.speed.pair_speed import RaceSpeed, credited_draft
from app.core.domain.speed.races import (
    PLAIN_LANE,
    AnswerDifference,
    LaneChoice,
    LaneProgress,
    LaneResult,
    LaneText,
    LaneVerdict,
    RaceEnded,
    RaceResult,
    RaceRoundBegan,
    RaceRoundEnded,
    RaceSetup,
    base_lane,
)
from app.core.storage.chats.codec import spans_to_text, stats_to_text
from app.core.storage.pair_speeds import PairSpeeds
from engine.errors import EngineError
from engine.llama.library import processor_name
from engine.records import (
    ChatRequest,
    Event,
    Finished,
    FinishReason,
    JobEvent,
    Mode,
    PrefillProgress,
    RunStats,
    StatsUpdate,
    TextChunk,
    TokenSpan,
)
from engine.session.session import Session

log = logging.getLogger(__name__)

SLICE_S = 0.25  # short compared with changes of machine load, long compared with the cost of a switch
QUESTION = "question"  # id of a race's only prompt


@dataclass(frozen=True, slots=True)
class RacePlan:
    rounds: int = 3
    slice_s: float = SLICE_S


class Rounds:
    """The rounds of a race on open lanes.

    ``runs``: answers of complete rounds. ``partial``: answers of a round that was stopped.
    """

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
        self.num_rounds = 0  # complete ones

    def events(self, should_stop: ShouldStop = lambda: False) -> Iterator[JobEvent]:
        """Run all rounds, or until ``should_stop`` returns True.

        Text is yielded while a lane's time is measured, so the caller must handle it quickly.

        Raises:
            LaneFailedError: a lane failed; `runs` keeps the earlier rounds.
        """
        while self.num_rounds < self._plan.rounds and not self.partial and not should_stop():
            yield RaceRoundBegan(self.num_rounds)
            yield from self._round(should_stop)

    def _round(self, should_stop: ShouldStop) -> Iterator[JobEvent]:
        request, sampling = self._request, self._request.sampling
        if not sampling.greedy:  # the same seed for all lanes
            request = replace(request, sampling=replace(sampling, seed=(sampling.seed or 0) + self.num_rounds))
        for lane in self._lanes:
            _read_prompt(lane, request, should_stop)
        answers = [
            _LaneAnswer(number, self.num_rounds, lane, request, self._clock, should_stop)
            for number, lane in enumerate(self._lanes)
        ]
        try:
            waiting = list(rotated(answers, self.num_rounds, 0))  # each round starts with another lane
            while waiting:
                for answer in waiting:
                    yield from answer.run_slice(self._plan.slice_s)
                waiting = [answer for answer in waiting if not answer.finished]
        finally:
            for answer in answers:
                answer.events.close()
        runs = [answer.as_run(sampling.temperature) for answer in answers if answer.stats.tokens]
        if any(answer.was_cancelled for answer in answers):
            self.partial = runs
            return
        self.runs += runs
        self.num_rounds += 1
        yield RaceRoundEnded(self.num_rounds, tuple(lane_verdicts(self.runs, self._choices)))


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
        events = lane.session.generate(_request_of_lane(request, lane.choice), should_stop)
        self.events = cast(Generator[Event], events)

    def run_slice(self, slice_s: float) -> Iterator[JobEvent]:
        """Run the lane for a time slice. Prompt processing is never interrupted, so that its time can be subtracted."""
        started = self._clock()
        try:
            for event in self.events:
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
        except EngineError as error:
            raise LaneFailedError(self._lane.choice, error) from error
        self._seconds += self._clock() - started
        yield LaneProgress(self._number, self._round, self.stats, self.finished)

    def as_run(self, temperature: float) -> BenchmarkRun:
        variant = variant_of(self._lane.choice)
        return BenchmarkRun(QUESTION, QUESTION, temperature, variant, self.stats, self._round, self.token_ids)


def _request_of_lane(request: ChatRequest, choice: LaneChoice) -> ChatRequest:
    return replace(request, mode=choice.mode, depth=choice.depth)


def _read_prompt(lane: Lane, request: ChatRequest, should_stop: ShouldStop) -> None:
    """Before timing, let the lane's models process the prompt, and the session make its one-time measurements."""
    choices = [(PLAIN_LANE, 1), (lane.choice, 2)]
    if lane.choice.uses_draft:
        choices[1:1] = [(LaneChoice(mode, 1), 2) for mode in (Mode.DRAFT, Mode.HEAD)]  # one of them is available
    for choice, max_tokens in choices:
        try:
            short = replace(_request_of_lane(request, choice), max_tokens=max_tokens)
            for _ in lane.session.generate(short, should_stop):
                pass
        except EngineError as error:
            raise LaneFailedError(lane.choice, error) from error


def lane_verdicts(
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
    verdicts = []
    for number in present:
        if number == base:
            continue
        own, other = variant_of(choices[number]), variant_of(choices[base])
        ratio = ratio_of(runs, own, other)
        verdicts.append(
            LaneVerdict(
                lane=number,
                base=base,
                ratio=ratio.value if ratio else None,
                low=ratio.measured_low if ratio else None,
                high=ratio.measured_high if ratio else None,
                num_rounds=len({run.round for run in runs}),
                parting=find_difference(runs, own, other, inexact),
                temperature=runs[0].temperature,
                is_complete=complete,
            )
        )
    return verdicts


def find_difference(
    runs: Sequence[BenchmarkRun], variant: Variant, base: Variant, inexact: str | None = None
) -> AnswerDifference | None:
    """The first difference between the answers of two lanes. A truncated answer is compared up to its end."""
    answers = {(run.round, run.variant): run.token_ids for run in runs}
    indices = []
    for number in sorted({run.round for run in runs}):
        own, other = answers.get((number, variant), ()), answers.get((number, base), ())
        index = next((i for i, (a, b) in enumerate(zip(own, other, strict=False)) if a != b), None)
        if index is not None:
            indices.append(index)
    return AnswerDifference(indices[0] + 1, len(indices), inexact) if indices else None


class Race:
    """One race: opens the lanes, runs the rounds, and stores the measured speeds of its pairs."""

    def __init__(self, setup: RaceSetup, request: ChatRequest, speeds: PairSpeeds) -> None:
        self._setup, self._request, self._speeds = setup, request, speeds
        self._texts: list[tuple[int, str, tuple[TokenSpan, ...]]] = [(-1, "", ()) for _ in setup.lanes]

    def events(self, session: Session, should_stop: ShouldStop) -> Iterator[JobEvent]:
        """Run the race with the models of ``session``. The last event is `RaceEnded`, also after a failure."""
        yield RaceRoundBegan(0)
        with ExitStack() as stack:
            try:
                lanes = open_lanes(self._setup.lanes, session, self._request, stack, should_stop)
            except (LaneFailedError, EngineError) as error:
                yield RaceEnded(problem=error.problem)
                return
            yield from self._race(lanes, should_stop)

    def _race(self, lanes: Sequence[Lane], should_stop: ShouldStop) -> Iterator[JobEvent]:
        rounds, problem = Rounds(lanes, self._request, RacePlan(self._setup.rounds)), None
        try:
            for event in rounds.events(should_stop):
                if isinstance(event, LaneText):
                    number, text, spans = self._texts[event.lane]
                    before = (text, spans) if number == event.round else ("", ())
                    self._texts[event.lane] = (event.round, before[0] + event.text, before[1] + event.spans)
                if event != RaceRoundBegan(0):  # the first round was reported before the lanes were opened
                    yield event
        except LaneFailedError as error:
            problem = error.problem
        runs = rounds.runs or rounds.partial
        if not runs:
            yield RaceEnded(problem=problem)
            return
        result = self._result(rounds, lanes, runs)
        _store_speeds(self._speeds, result, lanes)
        yield RaceEnded(result, problem)

    def _result(self, rounds: Rounds, lanes: Sequence[Lane], runs: Sequence[BenchmarkRun]) -> RaceResult:
        setup, choices, readies = self._setup, self._setup.lanes, [lane.session.ready() for lane in lanes]
        inexact = next((ready.target.inexact_reason for ready in readies if ready.target.inexact_reason), "")
        verdicts = tuple(lane_verdicts(runs, choices, inexact, complete=bool(rounds.runs)))
        usual = [one for one, choice in zip(readies, choices, strict=True) if not choice.draft]
        ready = max(usual or readies, key=lambda one: one.draft is not None)
        variants = [variant_of(choice) for choice in choices]
        stats = [sum_of([run.stats for run in runs if run.variant == variant]) for variant in variants]
        return RaceResult(
            setup=replace(setup, before=tuple(replace(one, pictures=()) for one in setup.before), pictures=()),
            target=shown_name(ready.target),
            draft=shown_name(ready.draft),
            processor=processor_name(),
            threads=lanes[0].session.threads,
            gpu_layers=ready.target.gpu_layers,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            lanes=tuple(
                LaneResult(choice, own, text, spans)
                for choice, own, (_round, text, spans) in zip(choices, stats, self._texts, strict=True)
            ),
            verdicts=verdicts,
            num_rounds=rounds.num_rounds,
            is_complete=bool(rounds.runs),
            temperature=self._request.sampling.temperature,
        )


def race_as_dict(result: RaceResult) -> dict[str, object]:
    """A race as JSON, without pictures."""
    lanes = [
        {
            "choice": asdict(lane.choice),
            "stats": json.loads(stats_to_text(lane.stats) or "null"),
            "text": lane.text,
            "spans": spans_to_text(lane.spans),
        }
        for lane in result.lanes
    ]
    setup = asdict(replace(result.setup, before=(), pictures=()))
    setup["before"] = [{"role": message.role, "content": message.content} for message in result.setup.before]
    return {**asdict(replace(result, setup=RaceSetup(""), lanes=())), "setup": setup, "lanes": lanes}


def _store_speeds(speeds: PairSpeeds, result: RaceResult, lanes: Sequence[Lane]) -> None:
    """Record the speed of each lane's pair against plain decoding of its target."""
    for verdict in result.verdicts:
        lane, base = result.lanes[verdict.lane], result.lanes[verdict.base]
        if not verdict.is_complete or verdict.ratio is None or base.choice.mode is not Mode.OFF:
            continue
        ready = lanes[verdict.lane].session.ready()
        speed = RaceSpeed(
            time.time(),
            lane.choice.mode.value,
            verdict.temperature,
            verdict.ratio,
            verdict.low if verdict.has_interval else None,
            verdict.high if verdict.has_interval else None,
            verdict.num_rounds,
            lane.stats.tokens,
        )
        try:
            speeds.add_race(model_name(ready.target), credited_draft(lane.stats, model_name(ready.draft)), speed)
        except OSError:
            log.exception("the speed of the pair could not be stored")
