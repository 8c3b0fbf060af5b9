"""Tests a head as a language model: reading with the target's rows, drafting ahead, and missing rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DecodeError, DraftRefusedError
from engine.heads.loading import LoadedHead, open_head_file, open_own_heads
from engine.heads.model import MAX_LOST_ROWS
from engine.heads.tap import CAPACITY, READ_AT_ROWS
from engine.interfaces import PictureRun
from engine.llama.head_context import BlockContext, HeadContext, RowContext
from engine.loading.loading import LoadedModel, LoadOptions, open_model
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.heads.head_factory import dflash_for, eagle3_for, head_only, qwen35_with_mtp, tiny_hy_v3
from tests.engine.hybrid_factory import tiny_qwen35

LONG = 1024
Opened = tuple[LoadedModel, LoadedHead]
KINDS: dict[str, tuple[Callable[[], GgufFile], Callable[[], GgufFile] | None]] = {
    "mtp": (qwen35_with_mtp, None),
    "mtp file": (tiny_qwen35, lambda: head_only(qwen35_with_mtp())),
    "three layers": (tiny_hy_v3, None),
    "eagle3": (lambda: tiny_llama().with_metadata(llama__context_length=(Kind.UINT32, LONG)), eagle3_for),
    "dflash": (lambda: tiny_llama().with_metadata(llama__context_length=(Kind.UINT32, LONG)), dflash_for),
}


@pytest.fixture(scope="module", params=KINDS)
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path | None]:
    target, head = KINDS[request.param]
    folder = tmp_path_factory.mktemp("heads")
    return target().write(folder / "target.gguf"), head().write(folder / "head.gguf") if head is not None else None


def open_head(files: tuple[Path, Path | None], target: LoadedModel) -> LoadedHead:
    options = LoadOptions(threads=1)
    return open_own_heads(target, options) if files[1] is None else open_head_file(str(files[1]), target, options)


@contextmanager
def opened(files: tuple[Path, Path | None]) -> Iterator[Opened]:
    """A target and the head that follows it."""
    target = open_model(files[0], LoadOptions(n_ctx=LONG, threads=1, heads=files[1] is None))
    head = open_head(files, target)
    head.record_rows(on=True)
    try:
        yield target, head
    finally:
        head.close()
        target.close()


def text(count: int, seed: int = 1) -> list[int]:
    return [1, *np.random.default_rng(seed).integers(3, 263, count - 1).tolist()]


def row_after(files: tuple[Path, Path | None], ids: list[int]) -> np.ndarray:
    """The head's row after ``ids``; the target has read all but the last, and the head reads them at once."""
    with opened(files) as (target, head):
        target.sequence.forward(ids[:-1], 0)
        return head.sequence.forward(ids, 1)[0].copy()


def assert_same(one: np.ndarray, other: np.ndarray) -> None:
    assert int(one.argmax()) == int(other.argmax())
    np.testing.assert_allclose(one, other, atol=5e-2)


def draft(head: LoadedHead, ids: list[int], count: int) -> list[int]:
    """Let the head read the new part of ``ids``, and draft."""
    drawn = []
    row = head.sequence.forward(ids[head.sequence.num_past :], 1)[0]
    for _ in range(count):
        drawn.append(int(row.argmax()))
        row = head.sequence.forward(drawn[-1:], 1)[0]
    return drawn


@pytest.mark.parametrize("num_kept", [0, 1, 3])
def test_what_was_drafted_is_read_again_with_the_targets_rows(files: tuple[Path, Path | None], num_kept: int) -> None:
    ids = text(20)
    with opened(files) as (target, head):
        target.sequence.forward(ids[:-1], 0)
        drawn = draft(head, ids, 3)
        target.sequence.forward([ids[-1], *drawn], 4)
        kept = [*ids, *drawn[:num_kept], 77]
        target.sequence.rollback(len(kept) - 1)
        head.sequence.rollback(len(kept) - 1)
        row = head.sequence.forward(kept[head.sequence.num_past :], 1)[0].copy()
    assert_same(row, row_after(files, kept))


def test_the_rows_of_the_target_change_what_it_says(files: tuple[Path, Path | None]) -> None:
    ids = text(20)
    with opened(files) as (target, head):
        target.sequence.forward(ids[:-1], 0)
        told = head.sequence.forward(ids, 1)[0].copy()
        head.sequence.clear()
        target.sequence.clear()
        target.sequence.forward([1, *range(40, 58)], 0)
        other = head.sequence.forward(ids, 1)[0].copy()
    assert np.abs(told - other).max() > 0.1


def test_it_reads_along_where_rows_wait_and_never_more_are_kept(files: tuple[Path, Path | None]) -> None:
    ids, waiting = text(900), []
    sizes = [*[96] * 8, *[1] * 131]
    with opened(files) as (target, head):
        for size in sizes:
            target.sequence.forward(ids[target.sequence.num_past :][:size], 0)
            waiting.append(head.tap.end - head.tap.first)
        assert max(waiting) <= READ_AT_ROWS < CAPACITY
        assert head.sequence.num_past >= len(ids) - READ_AT_ROWS
        row = head.sequence.forward(ids[head.sequence.num_past :], 1)[0].copy()
    with opened(files) as (target, head):
        for size in sizes:
            target.sequence.forward(ids[target.sequence.num_past :][:size], 0)
            head.sequence.forward(ids[head.sequence.num_past : target.sequence.num_past], 0)
        assert_same(row, head.sequence.forward(ids[head.sequence.num_past :], 1)[0])


def test_reading_along_that_fails_ends_no_pass_of_the_target(
    files: tuple[Path, Path | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, failures, rows = text(700), list[int](), list[np.ndarray]()

    def failing_once(read: Callable[..., object]) -> Callable[..., object]:
        def fail_once(self: RowContext, *rest: object) -> object:
            if not failures:
                failures.append(len(ids))
                raise DecodeError("The pass failed.")
            return read(self, *rest)

        return fail_once

    for fails in (False, True):
        with opened(files) as (target, head), monkeypatch.context() as patch:
            if fails:
                patch.setattr(HeadContext, "read", failing_once(HeadContext.read))
                patch.setattr(BlockContext, "add_rows", failing_once(BlockContext.add_rows))
            target.sequence.forward(ids[:400], 0)
            assert target.sequence.num_past == 400
            assert (head.sequence.num_past > 1) is not fails
            target.sequence.forward(ids[400:699], 0)
            assert head.sequence.num_past > 400
            rows.append(head.sequence.forward(ids[head.sequence.num_past :], 1)[0].copy())
    assert failures
    assert_same(*rows)


def test_rows_that_llama_cpp_does_not_give_are_done_without(
    files: tuple[Path, Path | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = text(30)
    with opened(files) as (target, head):
        monkeypatch.setattr("engine.llama.hidden_rows.RowPart.address", lambda *_: None)
        row = target.sequence.forward(ids[:29], 1)[0].copy()
        assert (head.tap.first, head.tap.end) == (0, 0)
        assert np.isfinite(head.sequence.forward(ids, 1)[0]).any()
        monkeypatch.undo()
        target.sequence.clear()
        np.testing.assert_array_equal(target.sequence.forward(ids[:29], 1)[0], row)
        assert head.tap.end == 29


def test_drafted_text_that_may_be_refused_is_not_read_along(files: tuple[Path, Path | None]) -> None:
    ids = text(READ_AT_ROWS + 60)
    with opened(files) as (target, head):
        target.sequence.forward(ids[: READ_AT_ROWS - 20], 0)
        target.sequence.forward(ids[READ_AT_ROWS - 20 :][:40], 1)
        assert 0 < head.sequence.num_past <= READ_AT_ROWS - 20


def test_where_rows_are_lost_it_begins_behind_them(files: tuple[Path, Path | None]) -> None:
    ids = text(60)
    with opened(files) as (target, head):
        head.record_rows(on=False)
        target.sequence.forward(ids[:40], 0)
        head.record_rows(on=True)
        target.sequence.forward(ids[40:59], 0)
        row = head.sequence.forward(ids, 1)[0]
        assert np.isfinite(row).any()
        assert head.sequence.num_past == len(ids)
        cells = head.context._lib.llama_memory_seq_pos_min(head.context._memory, 0)
        assert cells == 41  # the token after the first available row
        assert head.sequence.rollback(50)
        assert np.isfinite(head.sequence.forward(ids[50:], 1)[0]).any()
        assert head.sequence.rollback(10)
        assert head.sequence.num_past == 10
        assert np.isfinite(head.sequence.forward(ids[10:], 1)[0]).any()


def test_a_few_lost_rows_in_the_middle_do_not_make_it_begin_anew(files: tuple[Path, Path | None]) -> None:
    ids = text(80)
    for num_lost, begins_anew in ((MAX_LOST_ROWS - 8, False), (MAX_LOST_ROWS + 8, True)):
        with opened(files) as (target, head):
            target.sequence.forward(ids[:30], 0)
            head.sequence.forward(ids[:30], 0)
            head.record_rows(on=False)
            target.sequence.forward(ids[30 : 30 + num_lost], 0)
            head.record_rows(on=True)
            target.sequence.forward(ids[30 + num_lost : 79], 0)
            head.sequence.forward(ids[30:], 1)
            first = head.context._lib.llama_memory_seq_pos_min(head.context._memory, 0)
            assert (first > 1) is begins_anew


class _Places:
    """A run (`engine.interfaces.PictureRuns`) of positions that the target also skips."""

    def __init__(self, target: LoadedModel, run: PictureRun) -> None:
        self._target, self._run = target, run

    def run_of(self, place_id: int) -> PictureRun | None:
        return self._run if place_id in self._run.ids else None

    def name_of(self, _run: PictureRun) -> str:
        return "places"

    def named(self, _name: str, _num_tokens: int, _num_positions: int) -> PictureRun:
        return self._run

    def append(self, run: PictureRun) -> None:
        self._target.context.append_run(run.num_tokens, 0, lambda _handle, _position: 0)


def test_places_of_a_picture_are_passed_over_and_what_is_before_stays(files: tuple[Path, Path | None]) -> None:
    """After the skipped positions it predicts as without them; the first token after them has no row."""
    before, behind, run = text(40), text(13, 2)[1:], PictureRun(-5, 10, 0)
    with opened(files) as (target, head):
        target.sequence.forward([*before, *behind[:-1]], 0)
        tap = head.tap  # type: ignore[attr-defined]
        tap._rows[:, tap._offset + 39 - tap._first] = 0.0
        expected = head.sequence.forward([*before, *behind], 1)[0].copy()
    with opened(files) as (target, head):
        target.sequence.runs = _Places(target, run)
        ids = np.array([*before, *run.ids, *behind], dtype=np.int32)
        for _ in target.sequence.prefill(ids[:-1]):
            pass
        num_read = head.sequence.num_past
        assert num_read == 40, "what was before the picture was read while its rows were there"
        assert_same(head.sequence.forward(ids[num_read:].tolist(), 1)[0], expected)
        for place in (52, 50, 47, 41, 40):
            assert head.sequence.rollback(place)
            assert head.sequence.num_past == place
            assert_same(head.sequence.forward(ids[place:].tolist(), 1)[0], expected)
        assert len(draft(head, [*ids.tolist(), 7], 3)) == 3


def test_a_picture_at_the_beginning_is_passed_over(files: tuple[Path, Path | None]) -> None:
    """The text after it is read again after a rollback as usual."""
    run, behind = PictureRun(-5, 30, 0), text(13, 2)
    ids = np.array([*run.ids, *behind], dtype=np.int32)
    with opened(files) as (target, head):
        target.sequence.runs = _Places(target, run)
        for _ in target.sequence.prefill(ids[:-1]):
            pass
        row = head.sequence.forward(ids.tolist(), 1)[0].copy()
        assert np.isfinite(row).all()
        for place in (35, 31, 30, 12, 0):
            assert head.sequence.rollback(place)
            assert_same(head.sequence.forward(ids[place:].tolist(), 1)[0], row)


def test_its_cache_can_be_kept_and_brought_back(files: tuple[Path, Path | None]) -> None:
    ids = text(50)
    with opened(files) as (target, head):
        target.sequence.forward(ids[:49], 0)
        head.sequence.forward(ids[:49], 0)
        state = head.sequence.export_state()
        assert state is not None
        told = head.sequence.forward(ids[49:], 1)[0].copy()
        target.sequence.clear()
        head.sequence.clear()
        target.sequence.forward([1, 5, 6, 7], 0)
        assert head.sequence.import_state(state)
        assert head.sequence.num_past == 49
        target.sequence.clear()
        target.sequence.forward(ids[:49], 0)
        assert_same(told, head.sequence.forward(ids[49:], 1)[0])


def test_a_cache_that_is_damaged_is_refused_and_the_head_stays_usable(files: tuple[Path, Path | None]) -> None:
    ids = text(30)
    with opened(files) as (target, head):
        target.sequence.forward(ids[:29], 0)
        told = head.sequence.forward(ids, 1)[0].copy()
        state = head.sequence.export_state()
        assert state is not None
        assert not head.sequence.import_state(replace(state, data=state.data[: len(state.data) // 2].copy()))
        assert head.sequence.num_past == 0
        target.sequence.clear()
        target.sequence.forward(ids[:29], 0)
        assert_same(told, head.sequence.forward(ids, 1)[0])


def test_what_it_read_needs_no_checkpoint(files: tuple[Path, Path | None]) -> None:
    ids = text(20)
    with opened(files) as (target, head):
        target.sequence.forward(ids[:19], 0)
        head.sequence.forward(ids[:10], 0)
        assert not head.sequence.save()  # any tail can be dropped
        told = head.sequence.forward(ids[10:], 1)[0].copy()
        assert head.sequence.rollback(10)
        found = head.head_model.forward_candidates(ids[10:])
        assert found.ids.tolist() == list(range(head.head_model.n_vocab))
        assert_same(told, found.logits)


def test_a_head_that_cannot_forget_is_refused_and_freed(
    files: tuple[Path, Path | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[RowContext] = []
    close = RowContext.close
    monkeypatch.setattr(RowContext, "rollback", lambda *_: False)
    monkeypatch.setattr(RowContext, "close", lambda self: (closed.append(self), close(self))[1])
    target = open_model(files[0], LoadOptions(n_ctx=LONG, threads=1, heads=files[1] is None))
    with pytest.raises(DraftRefusedError, match="cannot discard its rejected drafts"):
        open_head(files, target)
    assert len(closed) == 1
    assert np.isfinite(target.sequence.forward(text(5), 1)).any()
    target.close()


def test_several_rows_are_those_of_single_passes(files: tuple[Path, Path | None]) -> None:
    ids = text(24)
    with opened(files) as (target, head):
        target.sequence.forward(ids[:20], 0)
        head.sequence.forward(ids[:18], 0)
        rows = head.sequence.forward(ids[18:22], 4).copy()
        assert head.sequence.rollback(18)
        single = np.concatenate([head.sequence.forward([one], 1).copy() for one in ids[18:22]])
        for one, other in zip(rows, single, strict=True):
            assert_same(one, other)


def test_a_full_context_is_a_sentence_and_the_head_stays_usable(files: tuple[Path, Path | None]) -> None:
    with opened(files) as (target, head):
        size = head.sequence.n_ctx
        target.sequence.forward(text(10), 0)
        head.sequence.forward(text(10), 1)
        for _ in range(0, size - 110, 100):
            head.sequence.forward(text(100), 0)
        with pytest.raises(DecodeError, match="full"):
            head.sequence.forward(text(200), 0)
        assert head.sequence.rollback(10)
        assert np.isfinite(head.sequence.forward([9], 1)[0]).any()


@pytest.mark.parametrize("num_rows", [0, 1, 5])
def test_rows_leave_the_logits_of_the_target_as_they_are(files: tuple[Path, Path | None], num_rows: int) -> None:
    ids = text(64)
    told = []
    for on in (True, False):
        with opened(files) as (target, head):
            head.record_rows(on=on)
            rows = [target.sequence.forward(ids[:32], num_rows).copy()]
            rows += [target.sequence.forward(ids[i : i + size], 1).copy() for i, size in ((32, 1), (33, 8), (41, 3))]
            told.append(np.concatenate(rows))
    assert told[0].tobytes() == told[1].tobytes()
