"""Tests the cache with its ids: kept, rolled back and decoded again, for every kind of memory."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import DecodeError
from engine.interfaces import Rows, TokenIds
from engine.sequence import MAX_PENDING, CachedSequence
from tests.fake_model import MarkovModel, RecurrentModel

LOGITS = np.random.default_rng(3).normal(0, 1, (10, 10)).astype(np.float32)


def recurrent(num_snapshots: int = 0) -> tuple[CachedSequence, RecurrentModel]:
    model = RecurrentModel(LOGITS, num_snapshots=num_snapshots)
    return CachedSequence(model), model


def test_what_is_kept_rides_along_with_the_next_pass() -> None:
    sequence, model = recurrent()
    sequence.forward([1, 2, 3], 0)
    sequence.checkpoint(4)
    sequence.forward([4, 5, 6, 7], 4)
    assert sequence.rollback(5)
    assert (sequence.num_past, sequence.num_pending, model.num_past) == (5, 2, 3)
    rows = sequence.forward([8], 1)
    assert model._ids == [1, 2, 3, 4, 5, 8]
    np.testing.assert_array_equal(rows[0], LOGITS[8])
    assert (sequence.num_replayed, sequence.num_pending) == (2, 0)


def test_what_is_kept_rides_along_where_candidates_are_asked_for() -> None:
    sequence, model = recurrent()
    model.num_candidates = 3
    sequence.forward([1, 2, 3], 0)
    sequence.checkpoint(4)
    sequence.forward([4, 5, 6, 7], 4)
    assert sequence.rollback(5)
    found = sequence.forward_candidates([8])
    assert model._ids == [1, 2, 3, 4, 5, 8]
    assert (sequence.num_candidates, sequence.num_past, sequence.num_replayed, sequence.num_pending) == (3, 6, 2, 0)
    assert found.ids.tolist() == sorted((-LOGITS[8]).argsort()[:3].tolist())
    np.testing.assert_array_equal(found.logits, LOGITS[8][found.ids])


def test_many_pending_tokens_are_decoded_at_once() -> None:
    sequence, model = recurrent()
    sequence.forward([1], 0)
    sequence.checkpoint()
    sequence.forward(list(range(10)), 0)
    assert sequence.rollback(MAX_PENDING + 2)
    assert (sequence.num_pending, model.num_past) == (0, MAX_PENDING + 2)


def test_repeated_rejections_go_back_to_the_same_checkpoint() -> None:
    sequence, model = recurrent()
    sequence.forward([1, 2], 0)
    for kept in range(3, 8):
        sequence.checkpoint(3)
        sequence.forward([3, 4, 5, 6], 4)
        assert sequence.rollback(kept)
    assert model.num_saves == 1
    assert sequence.num_past == 7


def test_snapshots_spare_the_checkpoint() -> None:
    sequence, model = recurrent(num_snapshots=3)
    sequence.forward([1, 2], 0)
    sequence.checkpoint(3)
    sequence.forward([3, 4, 5, 6], 4)
    assert sequence.rollback(3)
    assert (model.num_saves, model.num_restores, sequence.num_pending) == (0, 0, 0)
    sequence.checkpoint(4)
    assert model.num_saves == 1


def test_without_a_checkpoint_a_state_cannot_be_taken_back() -> None:
    sequence, model = recurrent()
    sequence.forward([1, 2, 3], 0)
    assert not sequence.rollback(2)
    assert sequence.num_past == model.num_past == 3


def test_an_edited_turn_uses_the_checkpoint_only_where_it_is_shared() -> None:
    sequence, model = recurrent()
    sequence.forward([1, 2, 3], 0)
    sequence.checkpoint()
    sequence.forward([4, 5], 0)
    assert sequence.reuse(np.array([1, 2, 3, 4, 9, 9], dtype=np.int32)) == 3
    assert sequence.num_pending == 0
    sequence.forward([4, 5], 0)
    assert sequence.reuse(np.array([1, 2, 9, 9], dtype=np.int32)) == 0
    assert model._ids == []


def test_after_a_failed_pass_the_count_is_the_memorys(monkeypatch: pytest.MonkeyPatch) -> None:
    sequence, model = recurrent()
    sequence.forward([1, 2, 3], 0)

    def fail(*_: object) -> None:
        model.clear()
        raise DecodeError("The pass failed.")

    monkeypatch.setattr(sequence, "_forward", fail)
    with pytest.raises(DecodeError):
        sequence.forward([4], 1)
    assert sequence.num_past == 0


class Failing(RecurrentModel):
    """Fails in given passes, and then loses everything after its checkpoint."""

    num_candidates = 3
    fails = False

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        if self.fails:
            self.restore()
            raise DecodeError("The pass failed.")
        return super().forward(ids, n_rows)


def failing() -> tuple[CachedSequence, Failing]:
    """A sequence that was restored to a checkpoint: of five tokens the last two must be decoded again."""
    model = Failing(LOGITS)
    sequence = CachedSequence(model)
    sequence.forward([1, 2, 3], 0)
    sequence.checkpoint()
    sequence.forward([4, 5, 6, 7], 4)
    assert sequence.rollback(5)
    assert sequence.num_pending == 2
    return sequence, model


@pytest.mark.parametrize(
    "asked",
    [
        lambda sequence: sequence.forward([8], 1),
        lambda sequence: sequence.forward_candidates([8]),
        lambda sequence: sequence.replay(),
        lambda sequence: sequence.export_state(),
        lambda sequence: sequence.save(),
    ],
)
def test_where_pending_tokens_cannot_be_decoded_they_are_no_longer_held(
    asked: Callable[[CachedSequence], object],
) -> None:
    sequence, model = failing()
    model.fails = True
    with pytest.raises(DecodeError):
        asked(sequence)
    model.fails = False
    assert sequence.ids.tolist() == model._ids == [1, 2, 3]
    assert sequence.num_pending == 0
    sequence.forward([9], 1)
    assert model._ids == [1, 2, 3, 9]


def test_a_long_pass_takes_no_pending_tokens_along() -> None:
    sequence, model = failing()
    passes: list[int] = []
    forward = model.forward
    sequence._forward = lambda ids, *rest: (passes.append(len(ids)), forward(ids, *rest))[1]
    long = [number % 10 for number in range(100)]
    sequence.forward(long, 1)
    assert passes == [2, 100]
    assert sequence.ids.tolist() == model._ids == [1, 2, 3, 4, 5, *long]
    assert sequence.num_replayed == 2


def test_a_checkpoint_that_is_lost_is_no_way_back() -> None:
    sequence, model = recurrent()
    sequence.forward([1, 2, 3], 0)
    sequence.checkpoint()
    sequence.forward([4, 5], 0)
    model._kept = None
    assert not sequence.rollback(4)
    assert sequence.num_past == model.num_past == 0
    assert not sequence.restore()
    assert sequence.reuse(np.array([1, 2, 3, 4, 5, 6], dtype=np.int32)) == 0


@settings(max_examples=150)
@given(
    num_snapshots=st.integers(0, 4),
    rounds=st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6), st.booleans()), max_size=25),
)
def test_any_sequence_of_passes_leaves_the_tokens_that_a_cache_would_hold(
    num_snapshots: int, rounds: list[tuple[int, int, bool]]
) -> None:
    one, other = recurrent(num_snapshots)[0], CachedSequence(MarkovModel(LOGITS))
    for number, (count, kept, reads_on) in enumerate(rounds):
        ids = [(number * 7 + i) % 10 for i in range(count)]
        begin = one.num_past
        one.checkpoint(count - 1)
        np.testing.assert_array_equal(one.forward(ids, count), other.forward(ids, count))
        assert one.rollback(begin + min(count, max(1, kept)))
        assert other.rollback(begin + min(count, max(1, kept)))
        if reads_on:
            prompt = np.append(other._ids[: other.num_past], 5).astype(np.int32)
            done = one.reuse(prompt)
            for _ in one.prefill(prompt[done:-1]):
                pass
            assert one.num_past == other.num_past
    one.replay()
    assert one._model._ids == other._model._ids  # type: ignore[attr-defined]
