"""Tests lanes on loaded models: contexts are as large as the question needs, and rejected if they do not fit."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from app.core.benchmark import opened_lanes
from app.core.benchmark.opened_lanes import open_lanes, read_lanes
from app.core.domain.speed.races import AUTO_LANE, PLAIN_LANE, LaneChoice
from app.core.paths import builtin_draft, builtin_target
from engine.errors import NotEnoughMemoryError, PromptTooLongError
from engine.fit.fit import estimate
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session

QUESTION = ChatRequest(
    messages=(Message("user", "Repeat: red, green, blue."),), sampling=SamplingParams(temperature=0.0), max_tokens=16
)
DRAFT = LaneChoice(Mode.DRAFT, 3)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    made = Session()
    made.load(LoadRequest(str(builtin_target()), str(builtin_draft()), n_ctx=1024))
    yield made
    made.close()


def test_lanes_hold_question_and_answer_and_share_no_cache(session: Session) -> None:
    with ExitStack() as stack:
        opened = open_lanes((PLAIN_LANE, AUTO_LANE, DRAFT), session, QUESTION, stack)
        assert [lane.session.ready().target.n_ctx for lane in opened] == [256] * 3
        assert [lane.session.ready().draft is not None for lane in opened] == [False, True, True]
        ends = [
            next(event for event in lane.session.generate(QUESTION, lambda: False) if isinstance(event, Finished))
            for lane in opened
        ]
    assert len({end.token_ids for end in ends}) == 1
    assert [end.stats.prompt_cached_tokens for end in ends] == [0] * 3
    assert session._pair_costs().pacer is not None  # pass costs were measured before any lane


def test_a_question_without_room_for_an_answer_is_refused(session: Session) -> None:
    question = replace(QUESTION, messages=(Message("user", "red green blue " * 600),))
    with ExitStack() as stack, pytest.raises(PromptTooLongError, match="but the context holds 1,024"):
        open_lanes((PLAIN_LANE, AUTO_LANE), session, question, stack)


def test_the_memory_of_all_lanes_is_judged_together(session: Session) -> None:
    one, texts = estimate([builtin_target()], 1024), (PLAIN_LANE, LaneChoice(Mode.SUFFIX))
    two = 2 * (one.cache_bytes + one.compute_bytes)
    opened_lanes._check_memory(texts, session, 1024, available_bytes=two)
    with pytest.raises(NotEnoughMemoryError, match="The 2 lanes need about"):
        opened_lanes._check_memory(texts, session, 1024, available_bytes=two - 1)
    with pytest.raises(NotEnoughMemoryError):  # auto also needs the draft's cache
        opened_lanes._check_memory((PLAIN_LANE, AUTO_LANE), session, 1024, available_bytes=two)
    weights = builtin_draft().stat().st_size // 2  # a lane's own draft is loaded additionally
    own = replace(texts[1], draft=str(builtin_draft()))
    with pytest.raises(NotEnoughMemoryError):
        opened_lanes._check_memory((texts[0], own), session, 1024, two + weights)


def test_a_lane_may_load_a_draft_of_its_own(session: Session) -> None:
    alone = Session()
    alone.load(LoadRequest(str(builtin_target()), n_ctx=512))
    with ExitStack() as stack:
        opened = open_lanes((PLAIN_LANE, replace(DRAFT, draft=str(builtin_draft()))), alone, QUESTION, stack)
        assert opened[1].session.ready().draft is not None
        ends = [
            next(
                event
                for event in lane.session.generate(replace(QUESTION, mode=Mode.DRAFT, depth=3), lambda: False)
                if isinstance(event, Finished)
            )
            for lane in opened[1:]
        ]
        assert ends[0].stats.proposed > 0
    assert alone.ready().draft is None  # models of the lane were unloaded with it
    alone.close()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("off,auto", (PLAIN_LANE, AUTO_LANE)),
        ("plain, draft:3", (PLAIN_LANE, DRAFT)),
        ("suffix", (PLAIN_LANE, LaneChoice(Mode.SUFFIX))),
        ("draft:3,draft:5,auto", (DRAFT, LaneChoice(Mode.DRAFT, 5), AUTO_LANE)),
    ],
)
def test_lanes_are_modes_with_or_without_a_depth(text: str, found: tuple[LaneChoice, ...]) -> None:
    assert read_lanes(text) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("off", "two or three different lanes"),
        ("", "two or three different lanes"),
        ("auto,auto", "two or three different lanes"),
        ("off,ngram,suffix,auto", "two or three different lanes"),
        ("off,fast", "There is no mode fast"),
        ("off,auto:3", "The lane auto:3 has an invalid depth"),
        ("off,draft:x", "The lane draft:x has an invalid depth"),
        ("off,draft:999", "The draft length must be between 0 and"),
    ],
)
def test_other_words_are_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_lanes(text)
