"""Tests a whole race on the engine's thread with the built-in pair: order of events, result, ways to end."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.benchmark.job import RaceJob
from app.core.domain.speed.races import (
    AUTO_LANE,
    PLAIN_LANE,
    LaneChoice,
    LaneProgress,
    LaneText,
    RaceEnded,
    RaceResult,
    RaceRoundBegan,
    RaceRoundEnded,
    RaceSetup,
)
from app.core.paths import builtin_draft, builtin_target
from app.core.storage.pair_speeds import PairSpeeds
from engine.records import ChatRequest, Event, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session
from tests.engine.vision_factory import picture, write_pair
from tests.exact import require_exact

SETUP = RaceSetup("Repeat: red, green, blue, red, green, blue.", rounds=2, max_tokens=16)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    made = Session()
    made.load(LoadRequest(str(builtin_target()), str(builtin_draft()), n_ctx=512))
    yield made
    made.close()


def request(setup: RaceSetup, temperature: float = 0.0) -> ChatRequest:
    return ChatRequest(
        messages=(*setup.before, Message("user", setup.question)),
        sampling=SamplingParams(temperature=temperature, seed=1),
        max_tokens=setup.max_tokens,
        ignore_eos=True,
    )


def race(
    session: Session,
    speeds: PairSpeeds,
    setup: RaceSetup = SETUP,
    temperature: float = 0.0,
    should_stop: Callable[[list[Event]], bool] = lambda _told: False,
) -> list[Event]:
    told: list[Event] = []
    RaceJob(setup, request(setup, temperature), speeds).run(
        session, lambda: should_stop(told), told.append, lambda: None
    )
    return told


def test_lanes_are_shown_the_pictures(tmp_path: Path, speeds: PairSpeeds) -> None:
    """With another picture a lane would give another answer."""
    pair = write_pair(tmp_path, "llava")
    seeing = Session()
    seeing.load(LoadRequest(str(pair.model), gpu_layers=0, threads=1, mmproj=""))
    texts = []
    for seed in (0, 1):
        lanes = (PLAIN_LANE, LaneChoice(Mode.SUFFIX, 4))
        setup = RaceSetup("ab ab", lanes, rounds=1, max_tokens=16, pictures=((0, picture(seed)),))
        asked = replace(request(setup), messages=(Message("user", "ab ab", pictures=setup.pictures),))
        told = list[Event]()
        RaceJob(setup, asked, speeds).run(seeing, lambda: False, told.append, lambda: None)
        result = result_of(told)
        assert result.verdicts[0].parting is None
        assert result.setup.pictures == ()
        texts.append(result.lanes[0].text)
    assert texts[0] != texts[1]
    seeing.close()


@pytest.fixture
def speeds(tmp_path: Path) -> PairSpeeds:
    return PairSpeeds(tmp_path / "speeds.json")


def result_of(told: list[Event]) -> RaceResult:
    ended = told[-1]
    assert isinstance(ended, RaceEnded)
    assert ended.result is not None
    return ended.result


def test_events_tell_of_rounds_texts_and_slices_and_the_end_comes_last(session: Session, speeds: PairSpeeds) -> None:
    told = race(session, speeds)
    began = [event.round for event in told if isinstance(event, RaceRoundBegan)]
    assert began == [0, 1]
    assert [event.num_rounds for event in told if isinstance(event, RaceRoundEnded)] == [1, 2]
    assert sum(isinstance(event, RaceEnded) for event in told) == 1
    ends = [(event.lane, event.round) for event in told if isinstance(event, LaneProgress) and event.finished]
    assert sorted(ends) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for lane in (0, 1):
        texts = [event for event in told if isinstance(event, LaneText) and (event.lane, event.round) == (lane, 1)]
        assert sum(len(event.spans) for event in texts) == 16
        assert "".join(event.text for event in texts) == result_of(told).lanes[lane].text


def test_the_result_has_the_sums_of_all_rounds(session: Session, speeds: PairSpeeds) -> None:
    result = result_of(race(session, speeds))
    assert [lane.stats.tokens for lane in result.lanes] == [32, 32]
    assert result.lanes[0].stats.tokens_per_pass == 1.0
    assert result.lanes[0].text == result.lanes[1].text
    assert result.is_complete
    assert result.num_rounds == 2
    (verdict,) = result.verdicts
    assert (verdict.lane, verdict.base, verdict.parting) == (1, 0, None)
    assert verdict.ratio == pytest.approx(
        (result.lanes[1].stats.tokens_per_second or 0) / (result.lanes[0].stats.tokens_per_second or 1)
    )


def test_answers_that_are_drawn_with_a_seed_are_the_same(session: Session, speeds: PairSpeeds) -> None:
    require_exact(str(builtin_target()))
    setup = replace(SETUP, rounds=1, greedy=False, lanes=(PLAIN_LANE, LaneChoice(Mode.DRAFT, 3)))
    result = result_of(race(session, speeds, setup, temperature=1.2))
    assert result.temperature == 1.2
    assert result.verdicts[0].parting is None


def test_a_stop_in_the_first_round_leaves_what_there_is(session: Session, speeds: PairSpeeds) -> None:
    setup = replace(SETUP, max_tokens=200)
    told = race(session, speeds, setup, should_stop=lambda told: sum(isinstance(e, LaneText) for e in told) > 4)
    result = result_of(told)
    assert (result.num_rounds, result.is_complete) == (0, False)
    assert all(not verdict.is_complete for verdict in result.verdicts)


def test_a_stop_before_anything_came_leaves_nothing(session: Session, speeds: PairSpeeds) -> None:
    told = race(session, speeds, should_stop=lambda _told: True)
    assert told[-1] == RaceEnded()


def test_the_pair_of_each_drafted_lane_gets_its_figure(session: Session, speeds: PairSpeeds) -> None:
    lanes = (PLAIN_LANE, LaneChoice(Mode.DRAFT, 3), LaneChoice(Mode.SUFFIX, 4))
    result = result_of(race(session, speeds, replace(SETUP, lanes=lanes)))
    pair = speeds.get("paceline-tiny-target", "paceline-tiny-draft").race
    assert pair is not None
    assert (pair.mode, pair.rounds, pair.tokens) == ("draft", 2, 32)
    assert pair.speedup == pytest.approx(result.verdicts[0].ratio, rel=1e-4)
    alone = speeds.get("paceline-tiny-target", "").race
    assert alone is not None
    assert alone.mode == "suffix"


def test_a_failure_names_its_lane(speeds: PairSpeeds) -> None:
    alone = Session()
    alone.load(LoadRequest(str(builtin_target()), n_ctx=512))
    told = race(alone, speeds, replace(SETUP, lanes=(AUTO_LANE, LaneChoice(Mode.DRAFT, 3))))
    alone.close()
    ended = told[-1]
    assert isinstance(ended, RaceEnded)
    assert ended.problem is not None
    assert ended.problem.message == "The lane draft: No draft model is chosen."
