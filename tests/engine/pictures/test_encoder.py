"""Rows after pictures equal those of libmtmd's helper, whatever was cached, rolled back or edited before."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DecodeError, PictureError
from engine.llama.context import N_BATCH
from engine.picture import Picture
from engine.pictures import encoder
from engine.pictures import encoder as module
from engine.pictures.side_file import row_end
from tests.engine.pictures.seeing import Seeing, opened
from tests.engine.vision_factory import FAMILIES, picture

ONE, TWO = picture(0), picture(1, 60, 100)


@pytest.fixture(scope="module", params=FAMILIES)
def seeing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seeing]:
    """A model of each family."""
    with opened(tmp_path_factory.mktemp(request.param), request.param) as found:
        yield found


@pytest.fixture(autouse=True)
def empty(request: pytest.FixtureRequest) -> None:
    """Start each test with an empty cache."""
    if "seeing" in request.fixturenames:
        request.getfixturevalue("seeing").sequence.clear()


@pytest.mark.parametrize(
    "parts",
    [
        (ONE, "hello there"),
        ("abc ", ONE, " def and then some more"),
        ("abc ", ONE, " x ", TWO, " ab"),
        (ONE, TWO, "ab"),
        (ONE, ONE, "ab"),
    ],
    ids=["at the start", "in the middle", "two", "side by side", "the same twice"],
)
def test_rows_behind_pictures_are_those_of_llama_cpps_own_helper(
    seeing: Seeing, parts: tuple[str | Picture, ...]
) -> None:
    """Bit-identical: the passes have the same shapes."""
    row = seeing.row(seeing.ids(*parts))
    assert np.array_equal(row, seeing.reference(*parts))
    others = [picture(9, one.width, one.height) if isinstance(one, Picture) else one for one in parts]
    assert not np.array_equal(row, seeing.row(seeing.ids(*others)))


def test_rows_behind_long_texts_are_nearly_the_same(seeing: Seeing) -> None:
    """The helper reads text in larger batches: only the last bits may differ."""
    parts = ("a" * 140, ONE, "ba" * 10, TWO, "c")
    assert np.abs(seeing.row(seeing.ids(*parts)) - seeing.reference(*parts)).max() < 0.05


@pytest.mark.parametrize("family", ["pixtral", "qwen2vl", "llava"])
def test_a_picture_that_is_computed_in_several_pieces(tmp_path: Path, family: str) -> None:
    """With a small batch, large pictures are split."""
    large = picture(3, 260, 170)
    with opened(tmp_path, family, at_once=0) as split:
        ids = split.ids("ab", large, "cd")
        assert (len(ids) > split.context.num_at_once) == (family != "llava")
        assert np.array_equal(split.row(ids), split.reference("ab", large, "cd", at_once=0))


def test_a_picture_whose_places_see_each_other_needs_room_for_all(tmp_path: Path) -> None:
    """llama.cpp would end the process."""
    with opened(tmp_path, "gemma3", at_once=0) as narrow:
        with pytest.raises(PictureError, match=r"144 positions.*at most 128"):
            narrow.row(narrow.ids("xy", ONE, "cd"))
        assert narrow.context.num_past == narrow.sequence.num_past == 4
        assert np.isfinite(narrow.row(narrow.ids("abcd"))).all()


def test_a_context_may_compute_more_at_once_than_a_pass_of_tokens(tmp_path: Path) -> None:
    with opened(tmp_path, "gemma3", at_once=640) as wide:
        assert (wide.context.num_at_once, wide.context.n_ubatch) == (640, 128)
        ids = wide.ids("ab", ONE, "cd")
        assert np.array_equal(wide.row(ids), wide.reference("ab", ONE, "cd"))
        with pytest.raises(ValueError, match="outside the batch"):
            wide.context.forward([5] * (N_BATCH + 1), 0)


def test_what_is_shared_is_kept_and_never_half_a_picture(seeing: Seeing) -> None:
    """Edits after, before and of the picture, and another picture of the same size."""
    base = seeing.ids("abc ", ONE, " def")
    expected = seeing.row(base)
    places = np.flatnonzero(base < 0)
    num_encoded = seeing.encoder.num_encoded

    behind = seeing.ids("abc ", ONE, " xyz")
    assert seeing.sequence.num_reusable(behind) > places[-1]
    assert np.array_equal(seeing.row(behind), seeing.reference("abc ", ONE, " xyz"))

    before = seeing.ids("abd ", ONE, " def")
    assert seeing.sequence.num_reusable(before) < places[0]
    assert np.array_equal(seeing.row(before), seeing.reference("abd ", ONE, " def"))
    assert seeing.encoder.num_encoded == num_encoded, "its rows are kept"

    other = picture(4, ONE.width, ONE.height)
    changed = seeing.ids("abd ", other, " def")
    assert seeing.sequence.num_reusable(changed) <= places[0]
    assert np.array_equal(seeing.row(changed), seeing.reference("abd ", other, " def"))
    assert np.array_equal(seeing.row(base), expected)


def test_a_rollback_to_every_place_of_the_text_behind(seeing: Seeing) -> None:
    """Text decoded again gives the same rows; with M-RoPE positions differ from cells."""
    ids = seeing.ids("abc ", ONE, " x", TWO, " some more text")
    expected = seeing.row(ids)
    for num_past in (len(ids) - 1, len(ids) - 5, int(np.flatnonzero(ids < 0)[-1]) + 1):
        assert seeing.sequence.rollback(num_past)
        assert np.allclose(seeing.row(ids), expected, atol=0.02)
    assert seeing.sequence.rollback(3)
    assert np.array_equal(seeing.row(ids), expected)


def test_a_prompt_that_ends_inside_a_picture_keeps_nothing_of_it(seeing: Seeing) -> None:
    """The limit of a head may require this."""
    ids = seeing.ids("abc ", ONE, " def")
    expected = seeing.row(ids)
    first = int(np.flatnonzero(ids < 0)[0])
    seeing.sequence.limit_reuse = lambda _shared: first + 3
    try:
        assert seeing.sequence.reuse(ids) == first
    finally:
        seeing.sequence.limit_reuse = None
    assert np.array_equal(seeing.row(ids), expected)


def test_a_kept_state_has_its_pictures(seeing: Seeing) -> None:
    ids = seeing.ids("abc ", ONE, " x ", TWO, " ab")
    expected = seeing.row(ids)
    state = seeing.sequence.export_state()
    assert state is not None
    seeing.row(seeing.ids("something else"))
    assert seeing.sequence.import_state(state)
    more = np.append(ids, seeing.model.vocab.tokenize("b", special=False)).astype(np.int32)
    assert seeing.sequence.num_reusable(more) == len(ids)
    behind = seeing.row(more)
    assert seeing.sequence.rollback(len(ids) - 1)
    assert np.allclose(seeing.row(ids), expected, atol=1e-6)
    seeing.sequence.clear()
    assert np.allclose(seeing.row(more), behind, atol=0.02)


def test_pictures_in_a_state_of_another_encoder_are_not_taken_for_its_own(seeing: Seeing, tmp_path: Path) -> None:
    seeing.row(seeing.ids("abc ", ONE, " x"))
    state = seeing.sequence.export_state()
    assert state is not None
    with opened(tmp_path, "llava") as other:
        other.sequence.import_state(state)
        ids = other.ids("abc ", ONE, " x")
        assert other.sequence.reuse(ids) <= int((ids < 0).argmax())
        assert set(other.ids(ONE)[1:].tolist()).isdisjoint(seeing.ids(ONE)[1:].tolist())


def test_pictures_are_encoded_once_and_again_when_their_rows_had_no_room(
    seeing: Seeing, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = picture(11)
    ids = seeing.ids("abc ", fresh, " def")
    expected = seeing.row(ids)
    done = seeing.encoder.num_encoded
    seeing.sequence.clear()
    assert np.array_equal(seeing.row(ids), expected)
    assert seeing.encoder.num_encoded == done
    monkeypatch.setattr(module, "_MAX_CACHED_ROW_BYTES", 1)
    seeing.row(seeing.ids(picture(12), "x"))
    seeing.sequence.clear()
    assert np.array_equal(seeing.row(ids), expected)
    assert seeing.encoder.num_encoded > done
    seeing.encoder.release()
    seeing.sequence.clear()
    seeing.row(seeing.ids(picture(13), "x"))
    with pytest.raises(PictureError, match="no longer available"):
        seeing.row(ids)


def test_pictures_that_were_forgotten_are_told(seeing: Seeing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_CACHED_PICTURES", 2)
    ids = seeing.ids("abc ", picture(20), " def")
    for seed in (21, 22):
        seeing.ids(picture(seed))
    with pytest.raises(PictureError, match="no longer available"):
        seeing.row(ids)
    assert np.isfinite(seeing.row(seeing.ids("abc ", picture(22), " def"))).all()


def test_a_full_context_leaves_the_cache_as_it_was(seeing: Seeing) -> None:
    ids = seeing.ids("a" * 600, *(picture(seed, 96, 96) for seed in range(30, 36)), "x")
    if len(ids) <= seeing.context.n_ctx:
        pytest.skip("these pictures fit")
    with pytest.raises(DecodeError, match="full"):
        seeing.row(ids)
    past = seeing.sequence.num_past
    assert past == seeing.context.num_past
    assert ids[past] < 0
    assert ids[past] == seeing.encoder.runs.run_at(int(ids[past])).first_id  # type: ignore[union-attr]


@pytest.mark.parametrize("size", [(1, 1), (100, 1), (1, 100), (3, 200), (640, 480)])
def test_sizes_of_all_kinds_are_read_or_refused(seeing: Seeing, size: tuple[int, int]) -> None:
    try:
        ids = seeing.ids("a", picture(7, *size), "b")
    except PictureError as error:
        assert f"{size[0]} x {size[1]}" in error.message  # noqa: PT017  (some families refuse some sizes)
        return
    if len(ids) < seeing.context.n_ctx:
        assert np.isfinite(seeing.row(ids)).all()


def test_the_ends_of_rows_are_numbers(tmp_path: Path) -> None:
    """llama.cpp may return NaN if it multiplies uninitialized memory by 0."""
    with opened(tmp_path, "pixtral") as seeing:
        end = row_end(seeing.encoder.path)
        assert end is not None
        assert end.shape == (64,)
        whole = seeing.encoder._mtmd.tokenize(picture(1, 64, 40))
        rows = seeing.encoder._mtmd.encode(whole.chunks[0])
        whole.close()
        assert np.array_equal(rows[8::9], np.tile(end, (4, 1)))
        assert np.isfinite(rows).all()
        assert not np.isclose(rows[:8], end).all(axis=1).any()


def test_ids_run_out_with_a_sentence(seeing: Seeing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "_next_id", -(2**31) + 4)
    with pytest.raises(PictureError, match="Too many pictures"):
        seeing.ids(picture(99))


def test_a_context_that_computes_more_at_once_reads_text_as_before(seeing: Seeing) -> None:
    """So a projector file changes nothing in conversations without pictures."""
    assert (seeing.context.num_at_once, seeing.context.n_ubatch) == (N_BATCH, 128)
