"""Speculation with recurrent memory gives the same greedy tokens as plain decoding, in every mode."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DecodeError
from engine.fit.cache_size import MAX_SNAPSHOTS, UNKNOWN_SNAPSHOTS
from engine.llama import library
from engine.llama.context import LlamaContext
from engine.loading.loading import LoadedModel, LoadOptions, num_snapshots, open_model
from engine.records import LoadRequest, Mode, Source
from engine.sequence import CachedSequence
from engine.session.session import Session
from tests.engine.answers import answer
from tests.engine.gguf_factory import GgufFile
from tests.engine.hybrid_factory import tiny_lfm2, tiny_qwen35
from tests.long_form import rounds
from tests.shared_files import shared_model

SPECULATING = [mode for mode in Mode if mode not in (Mode.OFF, Mode.HEAD)]  # neither model has a head
MAKERS: dict[str, Callable[..., GgufFile]] = {"lfm2": tiny_lfm2, "qwen35": tiny_qwen35}


@pytest.fixture(scope="module", params=MAKERS)
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A target, and a draft nearly like it."""
    folder, make = tmp_path_factory.mktemp("hybrid"), MAKERS[request.param]
    return make().write(folder / "target.gguf"), make(noise=0.15).write(folder / "draft.gguf")


def without_snapshots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.loading.loading.num_snapshots", lambda _model: 0)


@pytest.fixture(params=["snapshots", "replay"])
def pair(
    request: pytest.FixtureRequest, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Session, bool]]:
    """A session of a hybrid pair, and whether its memory has snapshots."""
    if request.param == "replay":
        without_snapshots(monkeypatch)
    session = Session()
    session.load(LoadRequest(str(files[0]), str(files[1]), n_ctx=1024))
    yield session, request.param == "snapshots"
    session.close()


def open_hybrid(path: Path) -> LoadedModel:
    return open_model(path, LoadOptions(n_ctx=256))


def test_snapshots_are_asked_for_and_confirmed(files: tuple[Path, Path]) -> None:
    loaded = open_hybrid(files[0])
    assert num_snapshots(loaded.model) == MAX_SNAPSHOTS
    assert (loaded.sequence.num_snapshots, loaded.can_rollback) == (MAX_SNAPSHOTS, True)
    loaded.close()


def test_snapshots_beyond_the_last_pass_are_never_trusted(files: tuple[Path, Path]) -> None:
    loaded = open_hybrid(files[0])
    context = loaded.context
    context.forward([1, 70, 71, 72, 73], 0)
    context.forward([74, 75], 0)
    assert not context.rollback(4)
    assert context.rollback(6)
    assert not context.rollback(5)
    loaded.close()


def test_a_large_state_gets_fewer_snapshots() -> None:
    class Header:
        architecture, n_layer = "mamba", 48

        def __init__(self, **values: int) -> None:
            self._values = values

        def metadata(self, key: str) -> str | None:
            value = self._values.get(key.removeprefix("mamba.ssm."))
            return None if value is None else str(value)

    assert num_snapshots(Header(inner_size=4096, state_size=128)) == 2  # type: ignore[arg-type]
    assert num_snapshots(Header(inner_size=64, state_size=16)) == MAX_SNAPSHOTS  # type: ignore[arg-type]
    assert num_snapshots(Header()) == UNKNOWN_SNAPSHOTS  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["²", "9" * 5000, "-1", ""])
def test_a_size_that_is_no_number_counts_as_unknown(text: str) -> None:
    class Header:
        architecture, n_layer = "llama", 4

        def metadata(self, key: str) -> str | None:
            return text if ".ssm." in key else None

    assert num_snapshots(Header()) == UNKNOWN_SNAPSHOTS  # type: ignore[arg-type]


def test_every_mode_and_depth_gives_the_plain_tokens(pair: tuple[Session, bool]) -> None:
    session, keeps_snapshots = pair
    rejected, replayed, length = 0, 0, rounds(64, 96)
    for prompt in ("abababab", "Once upon a time"):
        plain = answer(session, Mode.OFF, prompt, max_tokens=length).token_ids
        assert len(plain) == length
        for mode in SPECULATING:
            for depth in (None, 1, 3, 24):
                end = answer(session, mode, prompt, depth=depth, max_tokens=length)
                assert end.token_ids == plain, (mode, depth, prompt)
                rejected += end.stats.rolled_back
                replayed += end.stats.replayed
    assert rejected > 200
    assert replayed > (0 if keeps_snapshots else 200)


def test_a_draft_that_is_recurrent_is_taken_back(pair: tuple[Session, bool]) -> None:
    stats = answer(pair[0], Mode.DRAFT, "Once upon a time", depth=4, max_tokens=160).stats
    assert stats.provenance[Source.DRAFT] > 15
    assert stats.rolled_back > 30


def test_turns_that_continue_and_turns_that_were_edited(pair: tuple[Session, bool]) -> None:
    session, _ = pair
    prompts = ("a b a b", "a b a b ab ba", "a b a b ab bb", "a a", "a b a b ab ba")
    expected = [answer(session, Mode.OFF, prompt, max_tokens=40).token_ids for prompt in prompts]
    for depth in (1, 20):
        for prompt, ids in zip(prompts, expected, strict=True):
            for mode in (Mode.NGRAM, Mode.DRAFT):
                assert answer(session, mode, prompt, depth=depth, max_tokens=40).token_ids == ids


def test_snapshots_decode_nothing_again(files: tuple[Path, Path]) -> None:
    session = Session()
    session.load(LoadRequest(str(files[0]), str(files[1]), n_ctx=1024))
    stats = answer(session, Mode.DRAFT, "Once upon a time", depth=7, max_tokens=96).stats
    assert stats.rolled_back > 50
    assert stats.replayed == 0
    session.close()


def test_a_purely_recurrent_model_gives_its_plain_tokens_in_every_mode() -> None:
    model = shared_model("tiny-rwkv7-834K-f32.gguf")
    session = Session()
    ready = session.load(LoadRequest(model, model, n_ctx=1024))
    assert ready.unavailable.keys() == {Mode.HEAD}
    for prompt in ("the cat and the dog and the", "x"):
        plain = answer(session, Mode.OFF, prompt, max_tokens=80).token_ids
        for mode in SPECULATING:
            for depth in (None, 1, 3, 16):
                assert answer(session, mode, prompt, depth=depth, max_tokens=80).token_ids == plain, (mode, depth)
    session.close()


@contextmanager
def passes_aborted(context: LlamaContext) -> Iterator[None]:
    """Abort every pass half-way, like a failing device."""
    lib = library.start()
    abort = lib.ggml_abort_callback(lambda _data: True)
    lib.llama_set_abort_callback(context.handle, abort, None)
    yield
    lib.llama_set_abort_callback(context.handle, lib.ggml_abort_callback(), None)


def row_after(sequence: CachedSequence, ids: Sequence[int]) -> np.ndarray:
    """The row after ``ids``, continuing from the cached part."""
    return sequence.forward(ids[sequence.num_past :], 1)[0].copy()


@pytest.mark.parametrize("num_failed", [1, 3, 40])
def test_a_pass_that_failed_leaves_no_state_that_never_was(files: tuple[Path, Path], num_failed: int) -> None:
    ids = [1, *range(70, 90)]
    loaded, fresh = open_hybrid(files[0]), open_hybrid(files[0])
    loaded.sequence.forward(ids[:10], 0)
    loaded.sequence.forward(ids[10:18], 0)
    with passes_aborted(loaded.context), pytest.raises(DecodeError):
        loaded.sequence.forward([100] * num_failed, 1)
    row = row_after(loaded.sequence, ids)
    np.testing.assert_allclose(row, row_after(fresh.sequence, ids), atol=1e-3)
    loaded.close()
    fresh.close()


@pytest.mark.parametrize("num_tokens", [12, 129, 130, 140, 258])
def test_snapshots_of_a_pass_that_is_computed_in_parts(files: tuple[Path, Path], num_tokens: int) -> None:
    ids = [1 + place * 7 % 250 for place in range(num_tokens)]
    loaded = open_model(files[0], LoadOptions(n_ctx=512))
    fresh = open_model(files[0], LoadOptions(n_ctx=512))
    loaded.sequence.forward(ids, 0)
    loaded.sequence.reuse(np.array([*ids[:-5], 99, 98], dtype=np.int32))
    others = [*ids[:-5], 99, 98]
    np.testing.assert_allclose(row_after(loaded.sequence, others), row_after(fresh.sequence, others), atol=1e-3)
    loaded.close()
    fresh.close()


def test_a_state_is_kept_as_it_is_after_a_snapshot_was_taken(files: tuple[Path, Path]) -> None:
    ids = [1, *range(70, 86)]
    loaded, fresh = open_hybrid(files[0]), open_hybrid(files[0])
    expected = row_after(fresh.sequence, [*ids[:12], 99])
    for keep in ("checkpoint", "export"):
        sequence = loaded.sequence
        sequence.clear()
        sequence.forward(ids[:8], 0)
        sequence.forward(ids[8:], 0)
        assert sequence.rollback(12)
        if keep == "checkpoint":
            sequence.checkpoint()
            sequence.forward([3] * 30, 0)
            sequence.forward([4] * 30, 0)
            assert sequence.rollback(12)
        else:
            state = sequence.export_state()
            assert state is not None
            sequence.clear()
            sequence.forward([5] * 9, 0)
            assert sequence.import_state(state)
        np.testing.assert_allclose(row_after(sequence, [*ids[:12], 99]), expected, atol=1e-3)
    loaded.close()
    fresh.close()
