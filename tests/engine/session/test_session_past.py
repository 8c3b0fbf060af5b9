"""Tests past conversations in the session: used if enabled, kept after a restart, deleted completely."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.paths import builtin_target
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams, Source
from engine.session.session import Session
from tests.engine.answers import GREEDY, end_of

LONG_S = 60.0
REQUEST = ChatRequest(
    messages=(Message("user", "Write a short story about a fox."),),
    mode=Mode.SUFFIX,
    depth=3,
    sampling=GREEDY,
    max_tokens=60,
    use_past=True,
)


def opened(folder: Path | None) -> Session:
    session = Session(past_folder=folder)
    session.load(LoadRequest(str(builtin_target()), n_ctx=512))
    rest(session)
    return session


def rest(session: Session) -> None:
    while session.has_idle_work:
        session.use_idle_time(LONG_S)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    session = opened(tmp_path)
    yield session
    session.close()


def from_text(session: Session, request: ChatRequest = REQUEST) -> int:
    stats = end_of(session, request).stats
    rest(session)
    return stats.provenance.get(Source.NGRAM, 0)


def test_what_was_said_before_is_drafted_again_and_survives_a_restart(session: Session, tmp_path: Path) -> None:
    first = from_text(session)
    assert from_text(session) > first + 20
    session.close()
    again = opened(tmp_path)
    assert from_text(again) > first + 20
    again.close()


def test_where_it_is_not_asked_for_it_is_neither_used_nor_kept(session: Session, tmp_path: Path) -> None:
    alone = replace(REQUEST, use_past=False)
    first = from_text(session, alone)
    assert from_text(session, alone) == first
    assert list(tmp_path.iterdir()) == []


def test_a_seed_repeats_an_answer_whatever_was_said_before(session: Session) -> None:
    seeded = replace(REQUEST, sampling=SamplingParams(temperature=0.8, seed=5))

    def answered() -> Finished:
        end = end_of(session, seeded)
        rest(session)
        return end

    answers = [answered() for _ in range(3)]
    assert len({one.token_ids for one in answers}) == 1
    assert answers[-1].stats.provenance[Source.NGRAM] > answers[0].stats.provenance.get(Source.NGRAM, 0)


def test_it_is_forgotten_on_request_from_memory_and_disk(session: Session, tmp_path: Path) -> None:
    first = from_text(session)
    session.forget_past()
    assert list(tmp_path.iterdir()) == []
    assert from_text(session) == first
    session.close()
    session.forget_past()
    assert list(tmp_path.iterdir()) == []
