"""Tests a race of scripted sessions on a scripted clock: order of the lanes, and their times."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest

from app.core.benchmark.opened_lanes import Lane, LaneFailedError
from app.core.benchmark.race import RacePlan, Rounds, lane_verdicts
from app.core.benchmark.report import ratio_of
from app.core.benchmark.runs import AUTO as AUTO_VARIANT
from app.core.benchmark.runs import PLAIN as PLAIN_VARIANT
from app.core.benchmark.runs import BenchmarkRun
from app.core.domain.speed.races import AUTO_LANE, PLAIN_LANE, AnswerDifference, LaneChoice, LaneProgress, LaneVerdict
from engine.errors import DecodeError
from engine.records import (
    ChatRequest,
    Event,
    Finished,
    FinishReason,
    JobEvent,
    Mode,
    PrefillProgress,
    RunStats,
    SamplingParams,
    StatsUpdate,
)
from tests.app.core.benchmark.made_runs import made_run

GREEDY = ChatRequest(raw_prompt="Once", sampling=SamplingParams(temperature=0.0, seed=7), max_tokens=6)
DRAFT = LaneChoice(Mode.DRAFT, 3)
PLAIN, AUTO = 0, 1
CHOICES = (DRAFT, PLAIN_LANE, AUTO_LANE)
SAME = (1, 2, 3)


class Clock:
    """A clock that only advances during computation."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class ScriptedSession:
    """Emits a token every ``token_s`` seconds, after ``prompt_s`` seconds for the prompt."""

    clock: Clock
    token_s: float
    prompt_s: float = 0.0
    fails_at: int | None = None
    asked: list[ChatRequest] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    closed: int = 0
    threads: int = 1

    def generate(self, request: ChatRequest, should_stop: Callable[[], bool]) -> Iterator[Event]:
        self.asked.append(request)
        short = (request.max_tokens or 0) < 6
        try:
            for i in range(2):
                self.clock.now += self.prompt_s / 2
                yield PrefillProgress(0, i, 1)
            stats = RunStats(mode=request.mode, prompt_s=self.prompt_s, decode_s=1e6)
            reason = FinishReason.LENGTH
            for i in range(request.max_tokens or 0):
                if should_stop():
                    reason = FinishReason.CANCELLED
                    break
                if self.fails_at == i and not short:
                    raise DecodeError("The pass failed.")
                self.clock.now += self.token_s
                stats = replace(stats, tokens=i + 1, passes=i + 1)
                if not short:
                    self.log.append(request.mode.value)
                yield StatsUpdate(0, stats)
            yield Finished(0, reason, stats, tuple(range(stats.tokens)))
        finally:
            self.closed += 1


def race_of(
    plan: RacePlan,
    *sessions: ScriptedSession,
    request: ChatRequest = GREEDY,
    choices: tuple[LaneChoice, ...] = (PLAIN_LANE, AUTO_LANE),
) -> Rounds:
    lanes = [Lane(choice, session) for choice, session in zip(choices, sessions, strict=True)]
    return Rounds(lanes, request, plan, sessions[0].clock)


def slices(events: list[JobEvent]) -> list[LaneProgress]:
    return [event for event in events if isinstance(event, LaneProgress)]


def test_slices_alternate_until_all_have_answered() -> None:
    clock, log = Clock(), list[str]()
    plain, auto = ScriptedSession(clock, 0.25, log=log), ScriptedSession(clock, 0.125, log=log)
    events = list(race_of(RacePlan(rounds=1, slice_s=0.5), plain, auto).events())
    order = [(event.lane, event.stats.tokens, event.finished) for event in slices(events)]
    assert order[:4] == [(PLAIN, 2, False), (AUTO, 4, False), (PLAIN, 4, False), (AUTO, 6, True)]
    assert order[4:] == [(PLAIN, 6, False), (PLAIN, 6, True)]
    assert log == ["off", "off", *["auto"] * 4, "off", "off", "auto", "auto", "off", "off"]


def test_a_lane_has_the_seconds_of_its_own_slices_without_the_prompt() -> None:
    clock = Clock()
    plain, auto = ScriptedSession(clock, 0.1, prompt_s=5.0), ScriptedSession(clock, 0.03)
    race = race_of(RacePlan(rounds=2, slice_s=0.2), plain, auto)
    events = list(race.events())
    assert [run.stats.decode_s for run in race.runs] == pytest.approx([0.6, 0.18] * 2)
    first = slices(events)[0]
    assert first.stats.tokens == 1  # the slice ended with the prompt, and continues to the first token
    assert first.stats.decode_s == pytest.approx(0.1)


def test_all_read_the_prompt_before_the_clock_runs_and_in_their_own_mode() -> None:
    clock = Clock()
    plain, draft = ScriptedSession(clock, 0.1), ScriptedSession(clock, 0.1)
    list(race_of(RacePlan(rounds=1), plain, draft, choices=(PLAIN_LANE, DRAFT)).events())
    asked = [(request.mode, request.depth, request.max_tokens) for request in draft.asked]
    before = [(Mode.OFF, None, 1), (Mode.DRAFT, 1, 2), (Mode.HEAD, 1, 2)]  # a draft or a head
    assert asked == [*before, (Mode.DRAFT, 3, 2), (Mode.DRAFT, 3, 6)]
    assert [request.mode for request in plain.asked] == [Mode.OFF] * 3


def test_seeds_differ_by_round_above_temperature_0_only() -> None:
    clock = Clock()
    sampled = replace(GREEDY, sampling=SamplingParams(temperature=0.8, seed=7))
    for request, seeds in ((sampled, [7, 8]), (GREEDY, [7, 7])):
        sessions = ScriptedSession(clock, 0.1), ScriptedSession(clock, 0.1)
        list(race_of(RacePlan(rounds=2), *sessions, request=request).events())
        for session in sessions:
            own = [asked.sampling.seed for asked in session.asked if asked.max_tokens == 6]
            assert own == seeds


def test_a_stop_ends_all_answers_with_what_there_is() -> None:
    clock, stopped = Clock(), list[bool]()
    plain, auto = ScriptedSession(clock, 0.25), ScriptedSession(clock, 0.25)
    race = race_of(RacePlan(rounds=3, slice_s=0.5), plain, auto)
    for event in race.events(lambda: bool(stopped)):
        if isinstance(event, LaneProgress) and event.round == 1:
            stopped.append(True)
    assert [run.stats.tokens for run in race.partial] == [2]  # the other lane had not begun
    assert race.num_rounds == 1
    assert len(race.runs) == 2
    assert plain.closed == len(plain.asked)
    assert auto.closed == len(auto.asked)


def test_a_lane_that_fails_is_named_and_the_others_are_let_go() -> None:
    clock = Clock()
    plain, auto = ScriptedSession(clock, 0.1), ScriptedSession(clock, 0.1, fails_at=3)
    race = race_of(RacePlan(rounds=1, slice_s=0.1), plain, auto)
    with pytest.raises(LaneFailedError) as failed:
        list(race.events())
    assert failed.value.choice == AUTO_LANE
    assert failed.value.error.message == "The pass failed."
    assert plain.closed == len(plain.asked)
    assert race.runs == []


def rounds(*ids: tuple[int, ...], spread: float = 0.0) -> list[BenchmarkRun]:
    """Plain answers 1, 2, 3 in two seconds, and answers of `auto` with one of ``ids`` per round in about one."""
    runs = []
    for number, own in enumerate(ids):
        seconds = 1.0 + spread * (number % 2)
        for variant, time_s, tokens in ((PLAIN_VARIANT, 2.0, SAME), (AUTO_VARIANT, seconds, own)):
            run = made_run("question", variant, time_s, round_number=number)
            runs.append(replace(run, token_ids=tokens))
    return runs


def test_a_verdict_has_the_ratio_with_its_interval() -> None:
    runs = rounds(*[SAME] * 4, spread=0.05)
    (verdict,) = lane_verdicts(runs, CHOICES)
    ratio = ratio_of(runs, AUTO_VARIANT, PLAIN_VARIANT)
    assert ratio is not None
    expected = LaneVerdict(2, 1, ratio.value, ratio.measured_low, ratio.measured_high, 4, None, 0.0)
    assert verdict == expected
    (single,) = lane_verdicts(rounds(SAME), CHOICES)
    assert (single.ratio, single.low, single.high) == (pytest.approx(2.0), None, None)


@pytest.mark.parametrize(("inexact", "is_fault"), [("On a GPU.", False), ("", True), (None, False)])
def test_different_answers_are_reported_with_place_and_reason(inexact: str | None, is_fault: bool) -> None:
    (verdict,) = lane_verdicts(rounds(SAME, (1, 9, 3)), CHOICES, inexact)
    assert verdict.parting == AnswerDifference(2, 1, inexact)
    assert verdict.parting.is_fault is is_fault
