"""Tests several sequences of one context: separately, and in shared passes."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DecodeError
from engine.llama.context import ContextParams, LlamaContext, PassPart
from engine.llama.model import LlamaModel
from engine.records import FlashAttention
from tests.engine.gguf_factory import tiny_windowed
from tests.shared_files import real_model, shared_model

ONE, OTHER = [1, 403, 407, 261, 378], [1, 317, 432, 410]


@pytest.fixture(scope="module")
def model() -> Iterator[LlamaModel]:
    with LlamaModel(shared_model("stories260K-f16.gguf")) as model:
        yield model


@pytest.fixture
def first(model: LlamaModel) -> Iterator[LlamaContext]:
    with LlamaContext(model, ContextParams(n_ctx=256, threads=1, num_sequences=3)) as context:
        yield context


def rows_alone(model: LlamaModel, ids: list[int]) -> np.ndarray:
    with LlamaContext(model, ContextParams(n_ctx=256, threads=1)) as context:
        return context.forward(ids, len(ids)).copy()


def test_each_sequence_has_the_context_for_itself(first: LlamaContext) -> None:
    other = first.other_sequence(2)
    assert (first.n_ctx, other.n_ctx) == (256, 256)
    first.forward(ONE, 0)
    assert (first.num_past, other.num_past) == (5, 0)
    for _ in range(256 // 4):
        other.forward(OTHER, 0)
    first.forward(ONE, 1)  # it still fits
    other.close()
    assert first.handle


def test_a_joined_pass_gives_each_the_rows_that_it_would_have_alone(model: LlamaModel, first: LlamaContext) -> None:
    other, third = first.other_sequence(1), first.other_sequence(2)
    first.forward(ONE[:2], 0)
    parts = [PassPart(first, ONE[2:], 3), PassPart(other, OTHER, 2), PassPart(third, np.array(ONE), 0)]
    rows = [given.copy() for given in first.forward_joined(parts)]
    assert [len(given) for given in rows] == [3, 2, 0]
    np.testing.assert_allclose(rows[0], rows_alone(model, ONE)[2:], atol=0.02)
    np.testing.assert_allclose(rows[1], rows_alone(model, OTHER)[2:], atol=0.02)
    assert [one.num_past for one in (first, other, third)] == [5, 4, 5]
    assert other.rollback(2)
    np.testing.assert_allclose(other.forward(OTHER[2:], 2), rows_alone(model, OTHER)[2:], atol=0.02)
    np.testing.assert_allclose(third.forward([7], 1), rows_alone(model, [*ONE, 7])[-1:], atol=0.02)


def test_a_prefix_is_shared_and_goes_on_apart(model: LlamaModel, first: LlamaContext) -> None:
    other = first.other_sequence(1)
    first.forward(ONE, 0)
    other.forward(OTHER, 0)
    other.copy_prefix(first, 3)
    assert other.num_past == 3
    parts = [PassPart(first, [9], 1), PassPart(other, [11], 1)]
    rows = first.forward_joined(parts)
    np.testing.assert_allclose(rows[0], rows_alone(model, [*ONE, 9])[-1:], atol=0.02)
    np.testing.assert_allclose(rows[1], rows_alone(model, [*ONE[:3], 11])[-1:], atol=0.02)
    first.clear()
    np.testing.assert_allclose(other.forward([12], 1), rows_alone(model, [*ONE[:3], 11, 12])[-1:], atol=0.02)


def test_the_state_of_one_can_be_copied_out_and_into_another(model: LlamaModel, first: LlamaContext) -> None:
    other = first.other_sequence(1)
    other.forward(OTHER, 0)
    first.forward(ONE, 0)
    state = first.export_state()
    assert state is not None
    assert other.import_state(state, 5)
    np.testing.assert_allclose(other.forward([9], 1), rows_alone(model, [*ONE, 9])[-1:], atol=0.02)


def test_a_pass_that_has_no_room_leaves_every_cache_as_it_was(model: LlamaModel) -> None:
    with LlamaContext(model, ContextParams(256, 1, num_sequences=2)) as first:
        other = first.other_sequence(1)
        for _ in range(505 // 5):
            first.forward(ONE, 0)
        with pytest.raises(DecodeError):
            first.forward_joined([PassPart(first, ONE, 1), PassPart(other, OTHER, 1)])
        assert (first.num_past, other.num_past) == (505, 0)
        np.testing.assert_allclose(other.forward(OTHER, 1), rows_alone(model, OTHER)[3:], atol=0.02)


def test_only_as_many_sequences_as_there_are(first: LlamaContext) -> None:
    for number in (0, 3, -1):
        with pytest.raises(ValueError, match="number"):
            first.other_sequence(number)


# ---- sliding windows: llama.cpp gives away cells of one cache of several sequences that lie behind their window ------

WINDOW = 32


@pytest.fixture(scope="module", params=["made", "gemma-3-270m-q4_k_m.gguf"])
def windowed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaModel]:
    made: Path = tmp_path_factory.mktemp("windowed") / "windowed.gguf"
    with LlamaModel(
        str(tiny_windowed(WINDOW).write(made) if request.param == "made" else real_model(request.param))
    ) as model:
        yield model


def text_of(model: LlamaModel, seed: int) -> np.ndarray:
    """Tokens for more than five windows."""
    least, most = (3, model.vocab.n_vocab) if model.sliding_window == WINDOW else (1000, 20000)
    return np.random.default_rng(seed).integers(least, most, 5 * model.sliding_window + 64).astype(np.int32)


def read(context: LlamaContext, ids: np.ndarray, end: int) -> None:
    """Read up to the position ``end``."""
    while context.num_past < end:
        context.forward(ids[context.num_past : min(context.num_past + 16, end)], 0)


def crowded(model: LlamaModel) -> tuple[LlamaContext, LlamaContext, np.ndarray, np.ndarray]:
    """Two sequences that were read in parallel over three windows."""
    n_ctx = -(-(10 * model.sliding_window + 256) // 256) * 256
    params = ContextParams(n_ctx, 1, flash_attention=FlashAttention.ON, num_sequences=2)
    first = LlamaContext(model, params)
    other, ids, others = first.other_sequence(1), text_of(model, 1), text_of(model, 2)
    for place in range(0, 3 * model.sliding_window, 16):
        first.forward_joined(
            [PassPart(one, text[place : place + 16], 0) for one, text in ((first, ids), (other, others))]
        )
    return first, other, ids, others


def assert_as_fresh(context: LlamaContext, model: LlamaModel, ids: np.ndarray, place: int) -> None:
    """Compare rows: missing cells change a row like another text would; another order of sums changes it far less."""
    row = context.forward(ids[place : place + 8], 1).copy()
    with LlamaContext(model, ContextParams(context.n_ctx, 1, flash_attention=FlashAttention.ON)) as fresh:
        read(fresh, ids, place)
        expected = fresh.forward(ids[place : place + 8], 1)
        assert (row - expected).std() < 0.25 * expected.std()


def test_a_sequence_can_roll_back_beyond_its_window_beside_another(windowed: LlamaModel) -> None:
    assert windowed.sliding_window > 0
    first, other, ids, _ = crowded(windowed)
    with first:
        other.clear()
        read(first, ids, 5 * windowed.sliding_window)
        assert first.rollback(windowed.sliding_window + 5)
        assert_as_fresh(first, windowed, ids, windowed.sliding_window + 5)


def test_copies_keep_what_lies_behind_the_window(windowed: LlamaModel) -> None:
    first, other, ids, others = crowded(windowed)
    with first:
        state = other.export_state()
        assert state is not None
        assert other.copy_prefix(first, 2 * windowed.sliding_window)
        first.clear()
        read(other, ids, 5 * windowed.sliding_window)
        assert first.import_state(state, 3 * windowed.sliding_window)
        read(first, others, 4 * windowed.sliding_window)
        for context, text in ((other, ids), (first, others)):
            assert context.rollback(windowed.sliding_window - 1)
            assert_as_fresh(context, windowed, text, windowed.sliding_window - 1)


def test_a_full_cache_loses_nothing_of_the_other(windowed: LlamaModel) -> None:
    first, other, ids, others = crowded(windowed)
    with first:
        place = other.num_past
        with pytest.raises(DecodeError, match="full"):
            read(first, np.resize(ids, 2 * first.n_ctx + 64), 2 * first.n_ctx + 64)
        assert other.num_past == place
        first.clear()
        assert_as_fresh(other, windowed, others, place)


def test_what_llama_cpp_has_lost_is_not_believed_to_be_there(windowed: LlamaModel) -> None:
    """If llama.cpp's cache loses cells, rollback and copying are rejected, and everything is read again."""
    first, other, ids, _ = crowded(windowed)
    with first:
        for owner in (0, 2):
            first._lib.llama_memory_seq_rm(first._memory, owner, 0, windowed.sliding_window)
        assert not other.copy_prefix(first, windowed.sliding_window + 5)
        assert other.num_past == 0
        assert first.export_state() is None, "it would not be whole"
        assert not first.rollback(windowed.sliding_window + 5)
        assert first.num_past == 3 * windowed.sliding_window, "refused, nothing changed"
        assert first.rollback(3 * windowed.sliding_window - 4)
        first.forward(ids[3 * windowed.sliding_window - 4 : 3 * windowed.sliding_window], 1)
