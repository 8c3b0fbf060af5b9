"""Runs a race: opens the lanes, alternates them, and stores the result."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce

from app.core.benchmark.opened_lanes import open_lanes
from app.core.benchmark.race import Lane, LaneFailedError, Race, RacePlan, ShouldStop, judge
from app.core.benchmark.race_report import decoding_settings, race_as_dict, race_as_markdown
from app.core.benchmark.report import Report, machine, models
from app.core.benchmark.runs import BenchmarkRun, Variant, variant_of
from app.core.benchmark.summary import ALL, summarise
from app.core.domain.errors import RaceStoreError
from app.core.domain.model_name import model_name, shown_name
from app.core.domain.speed.pair_speed import RaceSpeed, credited_draft
from app.core.domain.speed.races import (
    OPEN_END_MINUTES,
    SURE_PERCENT,
    LaneResult,
    LaneText,
    RaceEnded,
    RaceResult,
    RaceRoundBegan,
    RaceSetup,
)
from app.core.domain.sums import summed
from app.core.storage.pair_speeds import PairSpeeds
from app.core.storage.races import RaceStore
from engine.errors import EngineError
from engine.records import ChatRequest, JobEvent, Mode, RunStats, TokenSpan
from engine.sentences import said
from engine.session.session import Session

log = logging.getLogger(__name__)

OTHER_THREADS = said(
    "Other programs used the processor during the race, and the lanes ended with different numbers of threads. Close "
    "those programs and race again for a reliable verdict."
)
TOO_SHORT = said("The answers are too short for a reliable verdict. Ask for something longer, or use a larger model.")


class RaceRun:
    """One race. Without ``store`` and ``speeds`` nothing is stored."""

    def __init__(
        self,
        setup: RaceSetup,
        request: ChatRequest,
        plan: RacePlan | None = None,
        store: RaceStore | None = None,
        speeds: PairSpeeds | None = None,
    ) -> None:
        self._setup, self._request, self._store, self._speeds = setup, request, store, speeds
        until_sure = RacePlan(2, SURE_PERCENT, OPEN_END_MINUTES)
        self._plan = plan or (until_sure if setup.rounds is None else RacePlan(setup.rounds))
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
        race, problem = Race(lanes, self._request, self._plan), None
        try:
            for event in race.events(should_stop):
                if isinstance(event, LaneText):
                    number, text, spans = self._texts[event.lane]
                    before = (text, spans) if number == event.round else ("", ())
                    self._texts[event.lane] = (event.round, before[0] + event.text, before[1] + event.spans)
                if event != RaceRoundBegan(0):  # the first round was reported before the lanes were opened
                    yield event
        except LaneFailedError as error:
            problem = error.problem
        runs = race.runs or race.partial
        if not runs:
            yield RaceEnded(problem=problem)
            return
        result = self._result(race, lanes, runs)
        notices = [OTHER_THREADS] if len({lane.session.threads for lane in lanes}) > 1 else []
        if sum(run.stats.decode_s for run in runs) < self._plan.slice_s * len(runs):
            notices.append(TOO_SHORT)
        if self._store is not None:
            try:
                result = self._store.add(result)
            except RaceStoreError as error:
                problem = problem or error.problem
        if self._speeds is not None:
            self._keep_speeds(self._speeds, result, lanes)
        yield RaceEnded(result, problem, tuple(notices))

    @staticmethod
    def _keep_speeds(speeds: PairSpeeds, result: RaceResult, lanes: Sequence[Lane]) -> None:
        """Record the speed of each lane's pair against plain decoding of its target."""
        for verdict in result.verdicts:
            lane, base = result.lanes[verdict.lane], result.lanes[verdict.base]
            if not (verdict.is_complete and verdict.are_alike) or verdict.ratio is None:
                continue
            if base.choice.mode is not Mode.OFF:
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
                log.exception("the speed of the pair could not be kept")

    def _result(self, race: Race, lanes: Sequence[Lane], runs: Sequence[BenchmarkRun]) -> RaceResult:
        choices, readies = self._setup.lanes, [lane.session.ready() for lane in lanes]
        inexact = next((ready.target.inexact_reason for ready in readies if ready.target.inexact_reason), "")
        verdicts = tuple(judge(runs, choices, inexact, complete=bool(race.runs)))
        usual = [one for one, choice in zip(readies, choices, strict=True) if choice.draft == choice.target == ""]
        ready = max(usual or readies, key=lambda one: one.draft is not None)
        report = Report(
            machine(), models(ready), self._settings(race), tuple(summarise(runs, seeded=True)), (), tuple(runs)
        )
        stats = [_sum_of(runs, variant_of(choice), report) for choice in choices]
        labels = [variant_of(choice).label for choice in choices]
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
            processor=str(report.machine["processor"] or report.machine["system"]),
            threads=lanes[0].session.threads,
            gpu_layers=ready.target.gpu_layers,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            lanes=tuple(
                LaneResult(choice, own, text, spans)
                for choice, own, (_round, text, spans) in zip(choices, stats, self._texts, strict=True)
            ),
            verdicts=verdicts,
            num_rounds=race.rounds,
            is_complete=bool(race.runs),
            temperature=self._request.sampling.temperature,
            report=json.dumps(
                {"question": self._setup.question, **race_as_dict(report, verdicts, labels)},
                ensure_ascii=False,
                indent=1,
            ),
            markdown=race_as_markdown(report, verdicts, labels, stats),
        )

    def _settings(self, race: Race) -> dict[str, object]:
        plan = self._plan
        return {
            "lanes": [variant_of(choice).label for choice in self._setup.lanes],
            **decoding_settings(self._request),
            "slice_s": plan.slice_s,
            "rounds": plan.rounds,
            "until_percent": plan.until_percent,
            "max_minutes": plan.max_minutes,
            "complete_rounds": race.rounds,
        }


def _sum_of(runs: Sequence[BenchmarkRun], variant: Variant, report: Report) -> RunStats:
    """The summed counters of all rounds, with the report's median times between tokens."""
    own = [run.stats for run in runs if run.variant == variant]
    stats = reduce(lambda one, other: summed(one, other) or other, own) if own else RunStats()
    row = next((r for r in report.rows if r.category == ALL and Variant(r.mode, r.depth, r.engine) == variant), None)
    if row is None:
        return stats
    return replace(stats, inter_token_ms_p50=row.inter_token_ms_p50, inter_token_ms_p95=row.inter_token_ms_p95)
