"""A draft model fails during an answer: the target continues without it, and reports it."""

from collections.abc import Iterator

import pytest

from engine.drafters.draft_model import DraftModelDrafter
from engine.errors import DecodeError
from engine.interfaces import Candidates, TokenIds
from engine.llama.context import LlamaContext
from engine.pacing import measuring
from engine.pacing.measuring import ForeignCpuLoad
from engine.records import FinishReason, LoadRequest, Mode, SamplingParams
from engine.sampling.top_k import Row
from engine.session.session import Session
from tests.engine.answers import answer
from tests.shared_files import shared_model

REASON = "llama.cpp could not compute a pass (code -3): no room."


@pytest.fixture(scope="module")
def pair() -> Iterator[Session]:
    session = Session()
    session.load(LoadRequest(shared_model("babyllama-tok105-f16.gguf"), shared_model("babyllamaB-tok105-f16.gguf")))
    with pytest.MonkeyPatch.context() as patch:  # otherwise the draft would be measured before each answer
        patch.setattr(ForeignCpuLoad, "is_low", True)
        patch.setattr(measuring, "STEADY_RATIO", 1000.0)
        session.measure(0.3)
    yield session
    session.close()


@pytest.fixture
def unmeasured() -> Iterator[Session]:
    session = Session()
    session.load(LoadRequest(shared_model("babyllama-tok105-f16.gguf"), shared_model("babyllamaB-tok105-f16.gguf")))
    yield session
    session.close()


def failing_after(monkeypatch: pytest.MonkeyPatch, session: Session, num_passes: int) -> None:
    """Let the draft model's passes fail after this number."""
    assert session._draft is not None
    of_draft, decode, passes = session._draft.context, LlamaContext._decode, [0]

    def decode_or_fail(self: LlamaContext, ids: TokenIds, n_rows: int) -> None:
        if self is of_draft:
            passes[0] += 1
            if passes[0] > num_passes:
                raise DecodeError(REASON)
        decode(self, ids, n_rows)

    monkeypatch.setattr(LlamaContext, "_decode", decode_or_fail)


@pytest.mark.parametrize("num_passes", [0, 1, 2, 3, 4, 7])
@pytest.mark.parametrize(("mode", "depth"), [(Mode.DRAFT, 3), (Mode.DRAFT, None), (Mode.AUTO, 5), (Mode.AUTO, None)])
def test_the_answer_goes_on_and_is_the_plain_one(
    pair: Session, monkeypatch: pytest.MonkeyPatch, mode: Mode, depth: int | None, num_passes: int
) -> None:
    plain = answer(pair)
    failing_after(monkeypatch, pair, num_passes)
    found = answer(pair, mode, depth=depth)
    assert found.token_ids == plain.token_ids
    assert found.reason is FinishReason.LENGTH
    told = [decision for decision in found.stats.decisions if "draft left out" in decision]
    if mode is not Mode.AUTO or depth is not None:  # auto may find that it does not pay
        assert len(told) == 1
    assert all(REASON in decision for decision in told)
    monkeypatch.undo()
    assert answer(pair, Mode.DRAFT, depth=3).stats.accepted > 0, "the next answer tries it again"


@pytest.mark.parametrize("num_passes", [0, 2, 5, 8])
@pytest.mark.parametrize(("mode", "depth"), [(Mode.DRAFT, 3), (Mode.DRAFT, None), (Mode.AUTO, None)])
def test_what_was_drawn_by_then_is_proposed(
    pair: Session, monkeypatch: pytest.MonkeyPatch, mode: Mode, depth: int | None, num_passes: int
) -> None:
    failing_after(monkeypatch, pair, num_passes)
    rows, run = [0], DraftModelDrafter._pass

    def counted(self: DraftModelDrafter, ids: TokenIds) -> Row | Candidates:
        row = run(self, ids)
        rows[0] += 1
        return row

    monkeypatch.setattr(DraftModelDrafter, "_pass", counted)
    found = answer(pair, mode, depth=depth, sampling=SamplingParams(temperature=0.8))
    assert len(found.token_ids) == 64
    if mode is Mode.DRAFT and depth is not None and num_passes > 0:
        assert found.stats.proposed == rows[0] > 0  # each row gave one token
    if depth is not None:
        assert rows[0] == num_passes  # no row of a pass is unused


@pytest.mark.parametrize("num_passes", [0, 3])
def test_a_failing_measurement_of_a_draft_ends_no_answer(
    unmeasured: Session, monkeypatch: pytest.MonkeyPatch, num_passes: int
) -> None:
    plain = answer(unmeasured)
    failing_after(monkeypatch, unmeasured, num_passes)
    assert answer(unmeasured, Mode.AUTO).token_ids == plain.token_ids
