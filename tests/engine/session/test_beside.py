"""A second session shares the weights, but neither text nor cache, and does not close the first one's resources."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.errors import ContextError
from engine.llama.context import LlamaContext
from engine.loading.loading import LoadedModel, open_another
from engine.records import ChatRequest, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session
from tests.engine.answers import answer, end_of
from tests.engine.heads.head_sessions import KINDS, agrees, load

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


def test_it_answers_as_the_other_with_a_context_of_its_own(session: Session) -> None:
    beside = session.another_session(512)
    assert beside.ready().target.n_ctx == 512
    assert beside.ready().target.path == session.ready().target.path
    mine, other = end_of(session, QUESTION), end_of(beside, QUESTION)
    assert other.token_ids == mine.token_ids
    assert other.stats.prompt_cached_tokens == 0  # the other's cache was not used
    assert end_of(session, QUESTION).stats.prompt_cached_tokens > 0
    beside.close()


def test_closing_it_leaves_the_other_usable_and_nothing_is_freed_twice(session: Session) -> None:
    first = end_of(session, QUESTION).token_ids
    for _ in range(3):
        beside = session.another_session(512)
        end_of(beside, replace(QUESTION, mode=Mode.DRAFT, depth=3))
        beside.close()
    assert end_of(session, QUESTION).token_ids == first
    assert end_of(session, replace(QUESTION, mode=Mode.DRAFT, depth=3)).stats.proposed > 0


def test_without_the_draft_its_modes_cannot_run(session: Session) -> None:
    beside = session.another_session(512, with_draft=False)
    assert set(beside.ready().unavailable) == {Mode.DRAFT, Mode.HEAD}
    assert beside.ready().draft is None
    assert session.ready().draft is not None
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
        mine, other = (answer(each, Mode.HEAD, depth=2) for each in (session, beside))
        assert agrees(session, mine, other)
        assert other.stats.proposed > 20
        beside.close()
        assert agrees(session, mine, answer(session, Mode.HEAD, depth=2))
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
    assert end_of(session, replace(QUESTION, mode=Mode.DRAFT, depth=3)).stats.proposed > 0
