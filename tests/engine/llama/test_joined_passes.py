"""Several sequences of one context: each for itself, and in passes that they share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from engine.errors import DecodeError
from engine.llama.context import ContextParams, LlamaContext, PassPart
from engine.llama.model import LlamaModel
from tests.shared_files import shared_model

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
    other = first.beside(2)
    assert (first.n_ctx, other.n_ctx, first.num_cells) == (256, 256, 768)
    first.forward(ONE, 0)
    assert (first.num_past, other.num_past) == (5, 0)
    for _ in range(256 // 4):
        other.forward(OTHER, 0)
    first.forward(ONE, 1)  # there is room for it still
    other.close()
    assert first.handle


def test_cells_can_be_shared_among_them(model: LlamaModel) -> None:
    with LlamaContext(model, ContextParams(256, 1, num_sequences=2, shares_cells=True)) as first:
        assert (first.n_ctx, first.num_cells) == (256, 256)
        other = first.beside(1)
        for _ in range(256 // 4):
            other.forward(OTHER, 0)
        with pytest.raises(DecodeError, match="full"):
            first.forward(ONE, 1)
        assert first.num_past == 0


def test_sequences_that_take_turns_do_not_see_each_other(model: LlamaModel, first: LlamaContext) -> None:
    other = first.beside(1)
    for one in (ONE[:2], OTHER[:3]):
        (first if one == ONE[:2] else other).forward(one, 0)
    rows = first.forward(ONE[2:], 3).copy()
    np.testing.assert_allclose(rows, rows_alone(model, ONE)[2:], atol=0.02)
    np.testing.assert_allclose(other.forward(OTHER[3:], 1), rows_alone(model, OTHER)[3:], atol=0.02)


def test_a_joined_pass_gives_each_the_rows_that_it_would_have_alone(model: LlamaModel, first: LlamaContext) -> None:
    other, third = first.beside(1), first.beside(2)
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


def test_padding_gives_no_rows(model: LlamaModel, first: LlamaContext) -> None:
    other = first.beside(1)
    rows = first.forward_joined([PassPart(first, [*ONE, 1, 1], 2, num_padding=2), PassPart(other, OTHER, 1)])
    np.testing.assert_allclose(rows[0], rows_alone(model, ONE)[3:], atol=0.02)
    np.testing.assert_allclose(rows[1], rows_alone(model, OTHER)[3:], atol=0.02)
    assert first.rollback(5)


def test_what_one_forgets_the_others_keep(model: LlamaModel, first: LlamaContext) -> None:
    other = first.beside(1)
    first.forward_joined([PassPart(first, ONE, 0), PassPart(other, OTHER, 0)])
    first.clear()
    assert (first.num_past, other.num_past) == (0, 4)
    np.testing.assert_allclose(other.forward([7], 1), rows_alone(model, [*OTHER, 7])[-1:], atol=0.02)


def test_a_prefix_is_shared_and_goes_on_apart(model: LlamaModel, first: LlamaContext) -> None:
    other = first.beside(1)
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
    other = first.beside(1)
    other.forward(OTHER, 0)
    first.forward(ONE, 0)
    state = first.export_state()
    assert state is not None
    assert other.import_state(state, 5)
    np.testing.assert_allclose(other.forward([9], 1), rows_alone(model, [*ONE, 9])[-1:], atol=0.02)


def test_a_pass_that_has_no_room_leaves_every_cache_as_it_was(model: LlamaModel) -> None:
    with LlamaContext(model, ContextParams(256, 1, num_sequences=2, shares_cells=True)) as first:
        other = first.beside(1)
        for _ in range(250 // 5):
            first.forward(ONE, 0)
        with pytest.raises(DecodeError):
            first.forward_joined([PassPart(first, ONE, 1), PassPart(other, OTHER, 1)])
        assert (first.num_past, other.num_past) == (250, 0)
        np.testing.assert_allclose(other.forward(OTHER, 1), rows_alone(model, OTHER)[3:], atol=0.02)


def test_only_as_many_sequences_as_there_are(first: LlamaContext) -> None:
    for number in (0, 3, -1):
        with pytest.raises(ValueError, match="number"):
            first.beside(number)
