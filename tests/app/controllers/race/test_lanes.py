"""Lanes on loaded models: contexts as large as the question asks for, refused where they do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from app.benchmark.race import LaneFailedError
from app.benchmark.runs import AUTO, PLAIN, Variant
from app.controllers.race import lanes
from app.controllers.race.lanes import open_beside
from app.paths import builtin_draft, builtin_target
from engine.errors import ModeUnavailableError, NotEnoughMemoryError, PromptTooLongError
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session

QUESTION = ChatRequest(
    messages=(Message("user", "Repeat: red, green, blue."),), sampling=SamplingParams(temperature=0.0), max_tokens=16
)
DRAFT = Variant(Mode.DRAFT.value, 3)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    made = Session()
    made.load(LoadRequest(str(builtin_target()), str(builtin_draft()), n_ctx=1024))
    yield made
    made.close()


def test_lanes_hold_question_and_answer_and_share_no_cache(session: Session) -> None:
    with ExitStack() as stack:
        opened = open_beside((PLAIN, AUTO, DRAFT), session, QUESTION, stack)
        assert [lane.ready.target.n_ctx for lane in opened] == [256] * 3
        assert [lane.ready.draft is not None for lane in opened] == [False, True, True]
        ends = [
            next(event for event in lane.session.generate(QUESTION) if isinstance(event, Finished)) for lane in opened
        ]
    assert len({end.token_ids for end in ends}) == 1
    assert [end.stats.prompt_cached_tokens for end in ends] == [0] * 3
    assert session._pair_costs().pacer is not None  # what passes cost was looked at before any lane


def test_a_context_is_never_larger_than_that_of_the_model(session: Session) -> None:
    with ExitStack() as stack:
        long = open_beside((PLAIN, AUTO), session, replace(QUESTION, max_tokens=5000), stack)
        assert {lane.ready.target.n_ctx for lane in long} == {1024}


def test_a_question_without_room_for_an_answer_is_refused(session: Session) -> None:
    question = replace(QUESTION, messages=(Message("user", "red green blue " * 600),))
    with ExitStack() as stack, pytest.raises(PromptTooLongError, match="but the context holds 1,024"):
        open_beside((PLAIN, AUTO), session, question, stack)


def test_caches_of_all_lanes_are_judged_together(session: Session) -> None:
    ready = session.ready()
    one = lanes._context_report(ready.target, 1024, 1)
    two = 2 * (one.cache_bytes + one.compute_bytes)
    lanes._check_caches((PLAIN, Variant("suffix")), ready, 1024, two)
    with pytest.raises(NotEnoughMemoryError, match="The caches of 2 lanes need about"):
        lanes._check_caches((PLAIN, Variant("suffix")), ready, 1024, two - 1)
    with pytest.raises(NotEnoughMemoryError):  # auto has a draft's cache, too
        lanes._check_caches((PLAIN, AUTO), ready, 1024, two)


def test_a_lane_that_cannot_run_is_named() -> None:
    alone = Session()
    alone.load(LoadRequest(str(builtin_target()), n_ctx=512))
    with ExitStack() as stack, pytest.raises(LaneFailedError) as failed:
        open_beside((PLAIN, DRAFT), alone, QUESTION, stack)
    assert failed.value.variant == DRAFT
    assert isinstance(failed.value.error, ModeUnavailableError)
    alone.close()


def test_a_lane_may_load_a_draft_of_its_own(session: Session) -> None:
    alone = Session()
    alone.load(LoadRequest(str(builtin_target()), n_ctx=512))
    with ExitStack() as stack:
        opened = open_beside((PLAIN, DRAFT), alone, QUESTION, stack, drafts={DRAFT: str(builtin_draft())})
        assert opened[1].ready.draft is not None
        ends = [
            next(
                event
                for event in lane.session.generate(replace(QUESTION, mode=Mode.DRAFT, depth=3))
                if isinstance(event, Finished)
            )
            for lane in opened[1:]
        ]
        assert ends[0].stats.proposed > 0
    assert alone.ready().draft is None  # what was loaded for the lane is gone with it
    alone.close()


def test_a_draft_that_does_not_fit_is_told_of_its_lane(session: Session) -> None:
    with ExitStack() as stack, pytest.raises(LaneFailedError) as failed:
        open_beside((PLAIN, DRAFT), session, QUESTION, stack, drafts={DRAFT: "nowhere.gguf"})
    assert failed.value.variant == DRAFT
    assert session.ready().draft is not None
