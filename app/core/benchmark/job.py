"""A race as a job on the engine's thread: lanes on the loaded models, round after round, and what came of it."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING

from app.core.domain.errors import RaceStoreError
from app.core.domain.model_name import model_name, name_of_file, shown_name
from app.core.domain.speed.pair_speed import RaceSpeed, credited_draft
from app.core.domain.speed.races import (
    SURE_PERCENT,
    UNTIL_MINUTES,
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
)
from app.core.domain.sums import summed
from app.core.storage.pair_speeds import PairSpeeds
from app.core.storage.races import RaceStore
from engine.errors import EngineError
from engine.records import ChatRequest, Mode, Problem, RunStats, TextChunk, TokenSpan
from engine.requests import OnEvent
from engine.sentences import joined, phrase, said

if TYPE_CHECKING:  # NumPy and llama.cpp are loaded on the engine's thread
    from app.core.benchmark.opened_lanes import OpenLane
    from app.core.benchmark.race import LaneFailedError, Race
    from app.core.benchmark.race_report import RaceVerdict
    from app.core.benchmark.runs import BenchmarkRun, Variant
    from engine.session.session import Session

log = logging.getLogger(__name__)

OTHER_THREADS = said(
    "Other programs wanted the processor during the race, and the lanes ended with different numbers of threads. "
    "Close them and race again for a better verdict."
)
TOO_SHORT = said(
    "The answers took less time than one turn of a lane, which says little. Ask for something longer, or use a larger "
    "model."
)


@dataclass(slots=True)
class _LatestAnswer:
    """The answer of a lane in its last round, as it was reported."""

    round: int = -1
    text: str = ""
    spans: tuple[TokenSpan, ...] = ()


class RaceJob:
    """One race, to be given to the engine's thread once."""

    def __init__(self, setup: RaceSetup, request: ChatRequest, store: RaceStore, speeds: PairSpeeds) -> None:
        """``request`` is the question with the settings of all lanes; mode and depth are each lane's own.

        What came of it is kept in ``store``, and how fast the pair was in ``speeds``.
        """
        self._setup, self._request, self._store, self._speeds = setup, request, store, speeds
        self._latest = [_LatestAnswer() for _ in setup.lanes]

    def run(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> None:
        """Race, and report it; a failure is reported with what there is by then."""
        from app.core.benchmark.opened_lanes import LaneModels, open_beside  # noqa: PLC0415
        from app.core.benchmark.race import LaneFailedError  # noqa: PLC0415  (as above)

        variants = [_variant(choice) for choice in self._setup.lanes]
        own = {_variant(one): LaneModels(one.target, one.draft) for one in self._setup.lanes if one.target or one.draft}
        with ExitStack() as stack:
            on_event(RaceRoundBegan(0))
            try:
                lanes = open_beside(variants, session, self._request, stack, should_stop, own)
            except LaneFailedError as error:
                on_event(RaceEnded(problem=_lane_problem(error)))
            except EngineError as error:
                on_event(RaceEnded(problem=error.problem))
            else:
                on_event(self._race(lanes, should_stop, on_event, between_steps))

    def _race(
        self,
        lanes: Sequence[OpenLane],
        should_stop: Callable[[], bool],
        on_event: OnEvent,
        between_steps: Callable[[], None],
    ) -> RaceEnded:
        from app.core.benchmark.race import Lane, LaneFailedError, Race, RacePlan, SliceEnded  # noqa: PLC0415

        setup, problem = self._setup, None
        plan = RacePlan(setup.rounds) if setup.rounds is not None else RacePlan(2, SURE_PERCENT, UNTIL_MINUTES)
        race = Race([Lane(lane.variant, lane.session) for lane in lanes], self._request, plan)
        numbers = {lane.variant: number for number, lane in enumerate(lanes)}
        race.on_text = lambda variant, number, chunk: self._add_text(numbers[variant], number, chunk, on_event)
        partial: Sequence[BenchmarkRun] = ()
        try:
            for event in race.events(should_stop):
                if isinstance(event, SliceEnded):
                    on_event(LaneProgress(numbers[event.variant], event.round, event.stats, event.finished))
                    between_steps()
                elif event.complete:
                    on_event(RaceRoundEnded(race.rounds, self._verdicts(race.runs, numbers)))
                    if not _is_last(setup, event.round):
                        on_event(RaceRoundBegan(race.rounds))
                else:
                    partial = event.runs
        except LaneFailedError as error:
            problem = _lane_problem(error)
        runs = race.runs or list(partial)
        if not runs:
            return RaceEnded(problem=problem)
        result = self._result(race, lanes, runs)
        notices = [OTHER_THREADS] if len({lane.session.threads for lane in lanes}) > 1 else []
        if sum(run.stats.decode_s for run in runs) < plan.slice_s * len(runs):
            notices.append(TOO_SHORT)
        try:
            result = self._store.keep(result)
        except RaceStoreError as error:
            problem = problem or error.problem
        self._keep_speeds(result, lanes)
        return RaceEnded(result, problem, tuple(notices))

    def _keep_speeds(self, result: RaceResult, lanes: Sequence[OpenLane]) -> None:
        """Note how fast the pair of each lane was against plain decoding of its target."""
        for verdict in result.verdicts:
            lane, base = result.lanes[verdict.lane], result.lanes[verdict.base]
            if not (verdict.is_complete and verdict.are_alike) or verdict.ratio is None:
                continue
            if base.choice.mode is not Mode.OFF:
                continue
            ready = lanes[verdict.lane].ready
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
                self._speeds.add_race(
                    model_name(ready.target), credited_draft(lane.stats, model_name(ready.draft)), speed
                )
            except OSError:
                log.exception("how fast the pair was could not be kept")

    def _add_text(self, lane: int, number: int, chunk: TextChunk, on_event: OnEvent) -> None:
        latest = self._latest[lane]
        if latest.round != number:
            latest.round, latest.text, latest.spans = number, "", ()
        latest.text += chunk.text
        latest.spans += chunk.spans
        on_event(LaneText(lane, number, chunk.text, chunk.spans))

    def _result(self, race: Race, lanes: Sequence[OpenLane], runs: Sequence[BenchmarkRun]) -> RaceResult:
        from app.core.benchmark.opened_lanes import why_inexact_of  # noqa: PLC0415
        from app.core.benchmark.race_report import judge, make_race_report  # noqa: PLC0415

        numbers = {lane.variant: number for number, lane in enumerate(lanes)}
        is_complete = bool(race.runs)
        verdicts = judge(runs, why_inexact_of(lanes), complete=is_complete, targets=self._targets)
        usual = [choice.draft == choice.target == "" for choice in self._setup.lanes]
        own = [lane.ready for lane, is_usual in zip(lanes, usual, strict=True) if is_usual]
        ready = max(own or [lane.ready for lane in lanes], key=lambda one: one.draft is not None)
        report = make_race_report(ready, self._settings(race), runs, verdicts)
        figures = {(row.mode, row.depth, row.engine): row for row in report.measured.rows}
        results = []
        for choice, lane, latest in zip(self._setup.lanes, lanes, self._latest, strict=True):
            row = figures.get((lane.variant.mode, lane.variant.depth, lane.variant.engine))
            stats = _sum_of(runs, lane.variant)
            if row is not None:
                stats = replace(
                    stats, inter_token_ms_p50=row.inter_token_ms_p50, inter_token_ms_p95=row.inter_token_ms_p95
                )
            results.append(LaneResult(choice, stats, latest.text, latest.spans))
        return RaceResult(
            setup=replace(
                self._setup,
                before=tuple(replace(one, pictures=()) for one in self._setup.before),
                pictures=(),
                lost_pictures=self._setup.num_pictures,
            ),
            target=shown_name(ready.target),
            draft=shown_name(ready.draft),
            target_path=ready.target.path,
            draft_path=ready.draft.path if ready.draft else "",
            processor=str(report.measured.machine["processor"] or report.measured.machine["system"]),
            threads=lanes[0].session.threads,
            gpu_layers=ready.target.gpu_layers,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            lanes=tuple(results),
            verdicts=tuple(_verdict(verdict, numbers) for verdict in verdicts),
            num_rounds=race.rounds,
            is_complete=is_complete,
            temperature=self._request.sampling.temperature,
            report=json.dumps({"question": self._setup.question, **report.as_dict()}, ensure_ascii=False, indent=1),
            markdown=report.as_markdown(),
        )

    def _verdicts(self, runs: Sequence[BenchmarkRun], numbers: dict[Variant, int]) -> tuple[LaneVerdict, ...]:
        from app.core.benchmark.race_report import judge  # noqa: PLC0415

        return tuple(_verdict(verdict, numbers) for verdict in judge(runs, targets=self._targets))

    @property
    def _targets(self) -> dict[Variant, str]:
        """The targets of the lanes that have one of their own."""
        return {_variant(choice): choice.target for choice in self._setup.lanes if choice.target}

    def _settings(self, race: Race) -> dict[str, object]:
        from app.core.benchmark.race_report import decoding_settings  # noqa: PLC0415

        return {
            "lanes": [_variant(choice).label for choice in self._setup.lanes],
            **decoding_settings(self._request),
            "rounds": self._setup.rounds,
            "until_percent": SURE_PERCENT if self._setup.rounds is None else None,
            "complete_rounds": race.rounds,
        }


def _variant(choice: LaneChoice) -> Variant:
    """A lane as the benchmark names it; one with models of its own is another engine for it."""
    from app.core.benchmark.runs import OURS, Variant  # noqa: PLC0415

    own = [name_of_file(path) for path in (choice.target, choice.draft) if path]
    engine = f"{OURS} with {' and '.join(own)}" if own else OURS
    return Variant(choice.mode.value, choice.depth, engine)


def _is_last(setup: RaceSetup, number: int) -> bool:
    """Whether a race of a fixed number of rounds is over; of one that goes on until it is sure nobody knows."""
    return setup.rounds is not None and number + 1 >= setup.rounds


def _sum_of(runs: Sequence[BenchmarkRun], variant: Variant) -> RunStats:
    own = [run.stats for run in runs if run.variant == variant]
    return reduce(lambda one, other: summed(one, other) or other, own) if own else RunStats()


def _verdict(verdict: RaceVerdict, numbers: dict[Variant, int]) -> LaneVerdict:
    ratio = verdict.ratio
    return LaneVerdict(
        lane=numbers[verdict.variant],
        base=numbers[verdict.base],
        ratio=ratio.value if ratio else None,
        low=ratio.measured_low if ratio else None,
        high=ratio.measured_high if ratio else None,
        num_rounds=verdict.rounds,
        parting=verdict.difference,
        temperature=verdict.temperature,
        is_complete=verdict.complete,
        are_alike=verdict.alike,
    )


def _lane_problem(error: LaneFailedError) -> Problem:
    """A failure with the lane that it came from."""
    problem = error.error.problem
    lane = phrase("Modes", error.variant.mode)
    return replace(problem, message=said("The lane {lane}: {reason}", lane=lane, reason=joined([problem.message])))
