"""A second session shares the weights, but neither text nor cache, and does not close the first one's resources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.errors import ContextError
from engine.llama.context import LlamaContext
from engine.loading.loading import LoadedModel, open_another
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, RunStats, SamplingParams
from engine.session.session import Session
from tests.engine.heads.head_sessions import KINDS, agrees, load
from tests.engine.heads.head_sessions import answer as head_answer
from tests.shared_files import shared_model

QUESTION = ChatRequest(
    messages=(Message("user", "Repeat: red, green, blue, red, green, blue."),),
    sampling=SamplingParams(temperature=0.0),
    max_tokens=24,
    ignore_eos=True,
)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    made = Session()
    made.load(LoadRequest(str(builtin_target()), str(builtin_draft()), n_ctx=1024))
    yield made
    made.close()


def answer(session: Session, request: ChatRequest = QUESTION) -> Finished:
    return next(event for event in session.generate(request) if isinstance(event, Finished))


def test_it_answers_as_the_other_with_a_context_of_its_own(session: Session) -> None:
    beside = session.another_session(512)
    assert beside.ready().target.n_ctx == 512
    assert beside.ready().target.path == session.ready().target.path
    mine, other = answer(session), answer(beside)
    assert other.token_ids == mine.token_ids
    assert other.stats.prompt_cached_tokens == 0  # the other's cache was not used
    assert answer(session).stats.prompt_cached_tokens > 0
    beside.close()


def test_closing_it_leaves_the_other_usable_and_nothing_is_freed_twice(session: Session) -> None:
    first = answer(session).token_ids
    for _ in range(3):
        beside = session.another_session(512)
        answer(beside, replace(QUESTION, mode=Mode.DRAFT, depth=3))
        beside.close()
    assert answer(session).token_ids == first
    assert answer(session, replace(QUESTION, mode=Mode.DRAFT, depth=3)).stats.proposed > 0


def test_without_the_draft_its_modes_cannot_run(session: Session) -> None:
    beside = session.another_session(512, with_draft=False)
    assert set(beside.ready().unavailable) == {Mode.DRAFT, Mode.HEAD}
    assert beside.ready().draft is None
    assert session.ready().draft is not None
    beside.close()


def test_two_answers_that_alternate_are_each_their_own(session: Session) -> None:
    one, two = session.another_session(512), session.another_session(512)
    requests = [QUESTION, replace(QUESTION, mode=Mode.SUFFIX, depth=4)]
    streams = [one.generate(requests[0]), two.generate(requests[1])]
    ends: dict[int, Finished] = {}
    while len(ends) < 2:
        for number, stream in enumerate(streams):
            event = next(stream, None)
            if isinstance(event, Finished):
                ends[number] = event
    assert ends[0].token_ids == answer(session).token_ids
    assert ends[1].stats.proposed > 0
    one.close()
    two.close()


def test_it_is_stopped_by_the_same_interrupt(session: Session) -> None:
    beside = session.another_session(512)
    session.interrupt.set()
    stopped = next(event for event in beside.generate(QUESTION, lambda: True) if isinstance(event, Finished))
    session.interrupt.clear()
    assert stopped.stats.tokens == RunStats().tokens
    assert answer(beside).stats.tokens == 24
    beside.close()


def test_heads_draft_beside_as_well(tmp_path: Path) -> None:
    for name in ("mtp that agrees", "eagle3"):
        target, head = KINDS[name]
        folder = tmp_path / name
        folder.mkdir()
        session, ready = load(folder, target(), head() if head is not None else None)
        beside = session.another_session(256)
        head_info = beside.ready().draft or beside.ready().own_head
        assert head_info is not None
        assert head_info.head_method == (ready.draft or ready.own_head).head_method  # type: ignore[union-attr]
        mine, other = (head_answer(each, Mode.HEAD, depth=2) for each in (session, beside))
        assert agrees(session, mine, other)
        assert other.stats.proposed > 20
        beside.close()
        assert agrees(session, mine, head_answer(session, Mode.HEAD, depth=2))
        session.close()


def test_a_draft_of_another_vocabulary_is_translated_beside_as_well() -> None:
    session = Session()
    target, draft = shared_model("aidreams260K-f32.gguf"), shared_model("stories260K-f16.gguf")
    session.load(LoadRequest(target, draft, threads=1))
    beside = session.another_session(256)
    asked = replace(QUESTION, messages=(), raw_prompt="Once upon a time, there was", mode=Mode.DRAFT, depth=3)
    mine, other = answer(session, asked), answer(beside, asked)
    assert other.token_ids == mine.token_ids
    assert other.stats.accepted == mine.stats.accepted > 0
    coverage = [each.ready().draft.coverage for each in (session, beside)]  # type: ignore[union-attr]
    assert coverage[0] == coverage[1] is not None
    beside.close()
    session.close()


def test_where_there_is_no_memory_for_the_draft_nothing_is_left_beside(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[LoadedModel] = []
    closed: list[LlamaContext] = []
    close = LlamaContext.close

    def only_the_target(loaded: LoadedModel, n_ctx: int, **more: bool) -> LoadedModel:
        if opened:
            raise ContextError("There is no memory for it.")
        opened.append(open_another(loaded, n_ctx, **more))
        return opened[0]

    with monkeypatch.context() as patch:
        patch.setattr("engine.session.session.open_another", only_the_target)
        patch.setattr(LlamaContext, "close", lambda self: (closed.append(self), close(self))[1])
        with pytest.raises(ContextError, match="no memory"):
            session.another_session(512)
    assert closed == [opened[0].context]
    assert answer(session, replace(QUESTION, mode=Mode.DRAFT, depth=3)).stats.proposed > 0
